import json
from datetime import UTC, datetime

import pytest

from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_bytes
from muisti.core.model.times import to_us
from muisti.core.query.filters import (
    DEPTH_MAX,
    PROBLEMS_MAX,
    SIZE_MAX,
    And,
    Leaf,
    Not,
    Or,
    fields_of,
    parse,
    parse_params,
)

ID = "0197a3c0-5f4e-7000-8000-0123456789ab"
TIME = to_us(datetime(2026, 1, 1, tzinfo=UTC))


def problems(call, *args) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        call(*args)
    return {problem.path: problem.message for problem in refused.value.problems}


@pytest.mark.parametrize(("short", "long"), [
    ({"category": "x"}, {"category": {"eq": "x"}}),
    ({"category": ["x", "y"]}, {"category": {"in": ["x", "y"]}}),
    ({"tags": ["x", "y"]}, {"tags": {"any": ["x", "y"]}}),
    ({"tags": {"in": ["x", "y"]}}, {"tags": {"any": ["x", "y"]}}),
    ({"key": "x", "source": "y"}, {"and": [{"key": "x"}, {"source": "y"}]}),
    ({"created_at": {"gte": "2026-01-01", "lt": "2026-02-01"}},
     {"and": [{"created_at": {"gte": "2026-01-01"}}, {"created_at": {"lt": "2026-02-01"}}]}),
    ({"key": "x", "or": [{"key": "y"}, {"key": "z"}]},
     {"and": [{"key": "x"}, {"or": [{"key": "y"}, {"key": "z"}]}]}),
    ({"or": [{"key": "x"}]}, {"key": "x"}),
    ({"tags": {"all": ["x", "y"]}}, {"and": [{"tags": "x"}, {"tags": "y"}]}),
    ({"key": {"ne": "x"}}, {"not": {"key": "x"}}),
    ({"valid_at": "2026-01-01"},
     {"and": [{"or": [{"valid_from": {"exists": False}}, {"valid_from": {"lte": "2026-01-01"}}]},
              {"or": [{"valid_to": {"exists": False}}, {"valid_to": {"gt": "2026-01-01"}}]}]}),
])  # fmt: skip
def test_short_forms_mean_what_the_long_forms_say(short, long):
    assert parse(short) == parse(long)


@pytest.mark.parametrize(("json", "value"), [
    ({"category": "CAFE\u0301"}, "café"),
    ({"author": "Straẞe"}, "strasse"),
    ({"tags": "ΣΑΣ"}, "σασ"),
    ({"key": "CAFE\u0301"}, "CAFE\u0301"),
    ({"importance": "critical"}, 3),
    ({"parent_id": ID.upper()}, id_bytes(ID)),
    ({"created_at": "2026-01-01"}, TIME),
    ({"created_at": "2026-01-01T00:00:00Z"}, TIME),
    ({"created_at": "2026-01-01t00:00:00"}, TIME),
    ({"created_at": "2026-01-01T02:00:00.000001+02:00"}, TIME + 1),
    ({"event_at": "0001-01-01T00:00:00+14:00"}, -62135596800_000000 - 14 * 3600_000000),
    ({"metadata.a.b": 1.5}, 1.5),
    ({"metadata.a.b": True}, True),
    ({"metadata.a.b": "X"}, "X"),
])  # fmt: skip
def test_a_value_is_typed_as_the_store_has_it(json, value):
    ((field, _),) = json.items()
    assert parse(json) == Leaf(field, "eq", value)


def test_what_an_object_states_together_is_one_and():
    got = parse(
        {"key": "x", "not": {"key": "y", "source": "z"}, "and": [{"key": "a"}, {"or": [{"key": "b"}, {"key": "c"}]}]}
    )
    x, y, a, b, c = (Leaf("key", "eq", value) for value in "xyabc")
    assert got == And((x, Not(And((y, Leaf("source", "eq", "z")))), a, Or((b, c))))
    assert fields_of(got) == {"key", "source"}


@pytest.mark.parametrize(("json", "path", "says"), [
    ({}, "$.filter", "object with a condition"),
    ([], "$.filter", "object with a condition"),
    ("x", "$.filter", "object with a condition"),
    ({"catgory": "x"}, "$.filter.catgory", "did you mean 'category'"),
    ({"metadata": {"team": "core"}}, "$.filter.metadata", "did you mean 'metadata.<path>'"),
    ({"mood": "x"}, "$.filter.mood", "no field 'mood'"),
    ({"turn": "3"}, "$.filter.turn", "must be a whole number"),
    ({"turn": True}, "$.filter.turn", "must be a whole number"),
    ({"created_at": {"gtt": "2026-01-01"}}, "$.filter.created_at.gtt", "did you mean 'gt'"),
    ({"category": {"any": ["x"]}}, "$.filter.category.any", "it has eq, ne, in"),
    ({"valid_at": {"lt": "2026-01-01"}}, "$.filter.valid_at.lt", "it has eq"),
    ({"valid_at": ["2026-01-01"]}, "$.filter.valid_at", "it has eq"),
    ({"valid_at": "now"}, "$.filter.valid_at", "RFC 3339"),
    ({"status": {"prefix": "act"}}, "$.filter.status.prefix", "it has eq, ne, in, exists"),
    ({"tags": {"gt": "a"}}, "$.filter.tags.gt", "has no 'gt'"),
    ({"category": {}}, "$.filter.category", "needs an operator"),
    ({"category": []}, "$.filter.category", "at least one"),
    ({"category": {"in": "x"}}, "$.filter.category.in", "list of values"),
    ({"category": {"eq": ["x"]}}, "$.filter.category.eq", "must be a string, not a list"),
    ({"category": ["x", 1]}, "$.filter.category[1]", "must be a string, not a number"),
    ({"category": None}, "$.filter.category", '{"exists": false}'),
    ({"metadata.a": None}, "$.filter[\"metadata.a\"]", '{"exists": false}'),
    ({"category": {"exists": 1}}, "$.filter.category.exists", "true or false, not a number"),
    ({"category": "a\0b"}, "$.filter.category", "NUL"),
    ({"metadata.a": "\ud800"}, "$.filter[\"metadata.a\"]", "surrogate"),
    ({"status": "activ"}, "$.filter.status", "did you mean 'active'"),
    ({"importance": "height"}, "$.filter.importance", "did you mean 'high'"),
    ({"importance": 3}, "$.filter.importance", "must be a string, not a number"),
    ({"parent_id": "42"}, "$.filter.parent_id", "must be an id"),
    ({"created_at": 5}, "$.filter.created_at", "must be a string, not a number"),
    ({"created_at": "yesterday"}, "$.filter.created_at", "RFC 3339"),
    ({"created_at": "2026-02-30"}, "$.filter.created_at", "RFC 3339"),
    ({"created_at": "20260101"}, "$.filter.created_at", "RFC 3339"),
    ({"metadata.a": float("inf")}, "$.filter[\"metadata.a\"]", "finite"),
    ({"metadata.a": 2**63}, "$.filter[\"metadata.a\"]", "64 bits"),
    ({"metadata.a": {"eq": {}}}, "$.filter[\"metadata.a\"].eq", "string, number or boolean, not an object"),
    ({"metadata.a": {"prefix": 1}}, "$.filter[\"metadata.a\"].prefix", "must be a string"),
    ({"source": {"glob": "*" * 1_001}}, "$.filter.source.glob", "at most 1,000"),
    ({"metadata.": 1}, "$.filter[\"metadata.\"]", "metadata path"),
    ({"metadata.a..b": 1}, "$.filter[\"metadata.a..b\"]", "metadata path"),
    ({"and": {}}, "$.filter.and", "list of filters"),
    ({"or": []}, "$.filter.or", "list of filters"),
    ({"not": []}, "$.filter.not", "object with a condition"),
    ({"and": [{"key": "x"}, {"not": {"kye": "x"}}]}, "$.filter.and[1].not.kye", "did you mean 'key'"),
])  # fmt: skip
def test_a_bad_filter_is_refused_at_its_path_with_a_way_out(json, path, says):
    found = problems(parse, json)
    assert list(found) == [path]
    assert says in found[path]


def test_all_problems_are_reported_together():
    parse({"metadata." + "a" * 200: 1})
    (message,) = problems(parse, {"metadata." + "a" * 201: 1}).values()
    assert "at most 200" in message
    found = problems(parse, {"kye": 1, "status": ["x", "y"], "not": {"tags": {"gt": 1}}}, "$.f")
    assert list(found) == ["$.f.kye", "$.f.status[0]", "$.f.status[1]", "$.f.not.tags.gt"]
    assert len(problems(parse, {f"name{i}": 1 for i in range(1000)})) == PROBLEMS_MAX


def test_a_filter_nests_as_deep_as_the_limit_says_and_no_deeper():
    def nested(depth):
        return {"key": "x"} if depth == 1 else {"not": nested(depth - 1)}

    parse(nested(DEPTH_MAX))
    (message,) = problems(parse, nested(DEPTH_MAX + 1)).values()
    assert f"at most {DEPTH_MAX}" in message


@pytest.mark.parametrize("wide", [
    lambda n: {"tags": ["x"] * n},
    lambda n: {"and": [{"key": "x"}] * (n - 1)},
    lambda n: {f"metadata.{i}": 1 for i in range(n)},
], ids=["values", "group", "fields"])  # fmt: skip
def test_a_filter_is_as_large_as_the_limit_says_and_no_larger(wide):
    parse(wide(SIZE_MAX))
    (message,) = problems(parse, wide(SIZE_MAX + 1)).values()
    assert f"at most {SIZE_MAX}" in message


@pytest.mark.parametrize(("params", "json"), [
    ({"tags": ["a,b"]}, {"tags": ["a", "b", "a,b"]}),
    ({"tags": ["a", "b"]}, {"and": [{"tags": "a"}, {"tags": "b"}]}),
    ({"tags.all": ["a,b"]}, {"tags": {"all": ["a", "b"]}}),
    ({"category": ["x"]}, {"category": "x"}),
    ({"category": ["x,y"]}, {"category": ["x", "y", "x,y"]}),
    ({"category.eq": ["x,y"]}, {"category": "x,y"}),
    ({"category": ["1"]}, {"category": "1"}),
    ({"category.exists": ["false"]}, {"category": {"exists": False}}),
    ({"created_at.gte": ["2026-01-01"]}, {"created_at": {"gte": "2026-01-01"}}),
    ({"importance.gte": ["high"]}, {"importance": {"gte": "high"}}),
    ({"metadata.team": ["core"]}, {"metadata.team": "core"}),
    ({"metadata.size.gt": ["5"]}, {"metadata.size": {"gt": 5}}),
    ({"metadata.size": ["5,5.5,-1e3"]}, {"metadata.size": [5, 5.5, -1000.0]}),
    ({"metadata.on": ["true"]}, {"metadata.on": True}),
    ({"metadata.on": ['"true"']}, {"metadata.on": "true"}),
    ({"metadata.a": ["null"]}, {"metadata.a": "null"}),
    ({"metadata.a": ["NaN"]}, {"metadata.a": "NaN"}),
    ({"metadata.a": ["1."]}, {"metadata.a": "1."}),
    ({"metadata.a": ["["]}, {"metadata.a": "["}),
    ({"metadata.a": ["[1]"]}, {"metadata.a": "[1]"}),
    ({"metadata.a.prefix": ["12"]}, {"metadata.a": {"prefix": "12"}}),
    ({"metadata.a.glob": ["1*,2"]}, {"metadata.a": {"glob": "1*,2"}}),
    ({"metadata.a.exists": ["true"]}, {"metadata.a": {"exists": True}}),
    ({"metadata.a.b": ["1"]}, {"metadata.a.b": 1}),
    ({"filter": ['{"category": "x"}'], "key": ["k"]}, {"category": "x", "key": "k"}),
    ({"filter": ['{"metadata.a.gt": 1}']}, {"metadata.a.gt": 1}),
])  # fmt: skip
def test_parameters_say_the_same_as_json(params, json):
    assert parse_params({}) is None
    got, want = parse_params(params), parse(json)
    assert got == want
    assert repr(got) == repr(want)  # repr tells 1 from 1.0 and True


@pytest.mark.parametrize(("params", "path", "says"), [
    ({"categry": ["x"]}, "$.categry", "did you mean 'category'"),
    ({"category.gtt": ["x"]}, "$.category.gtt", "did you mean 'gt'"),
    ({"metadata.gt": ["1"]}, "$.metadata", "did you mean 'metadata.<path>'"),
    ({"created_at.gte": ["now"]}, "$.created_at.gte", "RFC 3339"),
    ({"key.exists": ["yes"]}, "$.key.exists", "true or false, not a string"),
    ({"metadata.size.gt": ["99999999999999999999"]}, '$["metadata.size"].gt', "64 bits"),
    ({"metadata.size.gt": ["1e999"]}, '$["metadata.size"].gt', "finite"),
    ({"filter": ["{"]}, "$.filter", "not JSON"),
    ({"filter": ["[" * 100_000]}, "$.filter", "not JSON"),
    ({"filter": ["{}"]}, "$.filter", "object with a condition"),
    ({"filter": ['{"kye": 1}']}, "$.filter.kye", "did you mean 'key'"),
    ({"x" * 10_000: ["1"]}, "$." + "x" * 49 + "…", "no field"),
])  # fmt: skip
def test_a_bad_parameter_is_refused_at_its_name(params, path, says):
    found = problems(parse_params, params)
    assert list(found) == [path]
    assert says in found[path]


def test_messages_and_paths_can_be_sent_as_json():
    for path, message in problems(parse, {"\ud800": 1, "key": {"\ud800": 1}, "status": "x" * 10**6}).items():
        assert len(json.dumps([path, message], ensure_ascii=False).encode()) < 500

"""Names and values come back from memories exactly."""

from typing import Any

import pytest

from muisti.integrations.calls import run
from muisti.integrations.entries import category, find, names, pack, pack_text, put, unpack, unpack_text
from muisti.integrations.filters import passes

NAMES = ("store", "Ann", "ann", "a/b", "ä", "%41", "日本", "a b", "\ud800")
VALUES: list[Any] = [
    {"b": 1, "a": [1.0, True, None, {"deep": "ä\u2028"}]}, {"text": "x" * 20_000}, {"bad": "nul \0 and half \ud800"},
    {"n": 2**80, "f": 1e300}, [],
]  # fmt: skip


def test_names_are_kept_apart_although_categories_compare_without_case():
    assert names(category(NAMES)) == NAMES
    assert len({category([name]).casefold() for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_was(memory: Any, value: Any):
    stored = run(put(memory, "c", "k", pack(value, "a text to find")))
    assert unpack(stored) == unpack(run(find(memory, "c", "k"))) == value


@pytest.mark.parametrize("text", ["", " \n", "nul \0", "half \ud800", "line\r\nline\r\n", "e\u0301 é"])
def test_a_text_comes_back_as_it_was(memory: Any, text: str):
    run(put(memory, "c", "k", pack_text(text)))
    assert unpack_text(run(find(memory, "c", "k"))) == text


def test_a_second_put_is_a_version(memory: Any):
    first = run(put(memory, "c", "k", pack_text("one")))
    assert run(put(memory, "c", "k", pack_text("two"))).id == first.id
    assert [version.memory.content for version in memory.history(first.id)] == ["two", "one"]


def test_a_filter_reads_fields_paths_and_operators():
    value = {"n": 3, "user": {"name": "ann"}, "tags": ["a", "b"]}
    assert passes(value, {"n": {"$gt": 2, "$lte": 3}, "user.name": "ann", "user": {"name": {"$ne": "bob"}}})
    assert passes(value, {"tags": ["a", "b"]}) and not passes(value, {"tags": ["a"]})
    assert not passes(value, {"missing": {"$gt": 1}})
    with pytest.raises(ValueError, match="Unsupported operator"):
        passes(value, {"n": {"$near": 1}})

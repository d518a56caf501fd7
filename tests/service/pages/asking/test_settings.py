"""The parameters of a URL become the body of a request, and what cannot be read is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from muisti.service.pages.asking.settings import (
    FUSIONS,
    KINDS,
    LEVELS,
    MATCHES,
    MODES,
    PRESETS,
    SHOWN,
    TYPES,
    Wrong,
    asked_of,
)

SCHEMAS = json.loads(Path("docs/openapi.json").read_text())["components"]["schemas"]


def choices(schema: Any) -> set[str]:
    """Return the values that a schema of the API allows, but null."""
    found = schema.get("enum") or [value for one in schema["anyOf"] for value in one.get("enum", ())]
    return set(found)


def body(**params: str) -> dict[str, Any]:
    return asked_of({name.replace("b_", "b."): value for name, value in params.items()}).body()


@pytest.mark.parametrize(
    ("field", "offered"),
    [("mode", MODES), ("match", MATCHES), ("fusion", FUSIONS), ("min_evidence", LEVELS), ("preset", PRESETS)],
)
def test_the_form_offers_every_choice_of_the_api(field: str, offered: Any):
    assert choices(SCHEMAS["SearchBody"]["properties"][field]) == set(offered)


def test_the_form_offers_every_type_and_kind_of_the_api():
    of_memory = SCHEMAS["AddBody"]["properties"]
    assert choices(of_memory["type"]) == set(TYPES) and choices(of_memory["kind"]) == set(KINDS)


def test_settings_have_the_place_that_the_api_gives_them():
    named = {"recency": "0.5", "half_life": "7", "trust": "0.1", "graph": "1", "facts": "first"}
    assert body(q="tea", mode="keyword", limit="3", alpha="0.25", **named) == {
        "query": "tea", "mode": "keyword", "limit": 3, "alpha": 0.25, "recency": {"weight": 0.5, "half_life_days": 7.0},
        "trust_weight": 0.1, "rankings": {"graph": 1.0}, "facts": True, "applies": True, **SHOWN,
    }  # fmt: skip


def test_the_second_setting_shares_question_and_filter_with_the_first():
    asked = asked_of({"q": "tea", "mode": "keyword", "b.mode": "semantic", "b.limit": "2", "author": "Ann"})
    shared = {"query": "tea", "filter": {"author": "Ann"}, "applies": True, **SHOWN}
    assert asked.body("b.") == {"mode": "semantic", "limit": 2, **shared}


def test_hits_that_probably_do_not_answer_are_shown_when_asked_for():
    assert body(q="tea")["applies"] and not body(q="tea", applies="all")["applies"]


def test_friendly_filters_and_json_hold_together():
    friendly = {"category": "rules", "tags": "a, b,", "since": "2026-01-01", "until": "2026-02-01"}
    fields = {"category": "rules", "tags": {"all": ["a", "b"]}, "created_at": {"gte": "2026-01-01", "lt": "2026-02-01"}}
    assert body(q="tea", **friendly)["filter"] == fields
    assert body(q="tea", filter='{"key": "x"}', **friendly)["filter"] == {"and": [{"key": "x"}, fields]}
    assert "filter" not in body(q="tea", tags=" , ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", "x"), ("alpha", "much"), ("mode", "magic"), ("filter", "{"), ("filter", "[1]"), ("half_life", "1 day")],
)
def test_what_cannot_be_read_is_named(name: str, value: str):
    with pytest.raises(Wrong) as wrong:
        asked_of({"q": "tea", name: value}).body()
    assert wrong.value.name == name and str(wrong.value)


def test_only_lists_are_asked_without_a_question():
    assert [asked_of({"q": " ", "mode": mode}).ready() for mode in MODES] == [
        mode in ("metadata", "recent") for mode in MODES
    ]
    assert asked_of({"q": "tea"}).ready()


def test_changes_of_parameters_leave_the_others():
    assert asked_of({"q": "tea", "tags": "a", "b.mode": "keyword"}).changed(tags=None, q="milk") == {
        "q": "milk",
        "b.mode": "keyword",
    }

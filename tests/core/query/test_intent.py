"""Queries are read as they say, every filter that a reading names is valid, and any text at all is read."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.times import from_us
from muisti.core.query.filters import parse
from muisti.core.query.intent import narrowed, read
from tests.core.fakes import NOON

ID = "0197a3c0-5f4e-7000-8000-0123456789ab"


@pytest.mark.parametrize(("query", "kind", "mode", "text", "filter"), [
    ("documents tagged auth", "tags", "metadata", "", {"tags": {"any": ["auth"]}}),
    ("notes tagged auth and billing", "tags", "metadata", "", {"tags": {"all": ["auth", "billing"]}}),
    ('show notes labelled "release notes" or urgent', "tags", "metadata", "",
     {"tags": {"any": ["release notes", "urgent"]}}),
    ("#auth", "tags", "metadata", "", {"tags": {"any": ["auth"]}}),
    ("tag:auth,db why do tokens expire", "hybrid", "hybrid", "why do tokens expire",
     {"tags": {"any": ["auth", "db"]}}),
    ("everything in category rules", "metadata", "metadata", "", {"category": "rules"}),
    ("memories written by Ann", "metadata", "metadata", "", {"author": "Ann"}),
    ("mime:application/pdf", "metadata", "metadata", "", {"metadata.mime": "application/pdf"}),
    ("list all preferences", "metadata", "metadata", "", {"type": "preference"}),
    ("latest notes", "metadata", "recent", "", None),
    ("latest notes tagged auth", "tags", "recent", "", {"tags": {"any": ["auth"]}}),
    (f"similar to {ID}", "similar-to", "hybrid", "", None),
    (f"notes tagged x like {ID}", "similar-to", "hybrid", "", {"tags": {"any": ["x"]}}),
    ("QX-991", "keyword", "keyword", "QX-991", None),
    ("core/search/ranking.py", "keyword", "keyword", "core/search/ranking.py", None),
    ('"hello world"', "keyword", "keyword", '"hello world"', None),
    ("exact match for connection reset", "keyword", "keyword", "connection reset", None),
    ("conceptually close to retrying", "semantic", "semantic", "close to retrying", None),
    ("why do we deploy on Fridays?", "hybrid", "hybrid", "why do we deploy on Fridays?", None),
    ('who said "hello world"', "hybrid", "hybrid", 'who said "hello world"', None),
    ("she tagged along", "hybrid", "hybrid", "she tagged along", None),
    ("the town built by Ann", "hybrid", "hybrid", "the town built by Ann", None),
    ("status:nonsense deploy", "hybrid", "hybrid", "status:nonsense deploy", None),
    ("like the sea", "hybrid", "hybrid", "like the sea", None),
    ("fix #123", "hybrid", "hybrid", "fix #123", None),
])  # fmt: skip
def test_a_query_is_read_as_it_says(query: str, kind: str, mode: str, text: str, filter: Any):
    found = read(query, NOON)
    assert (found.kind, found.mode, found.text, found.filter) == (kind, mode, text, filter)
    assert found.sentence.startswith("Asks for memories") and found.sentence.endswith(".")
    assert (found.similar_to == ID) == (kind == "similar-to")


def test_times_are_a_filter_only_where_nothing_is_left_to_rank_by():
    listed, ranked = read("documents tagged auth from last week", NOON), read("what about auth last week?", NOON)
    assert listed.filter is not None and narrowed(listed) == parse({**listed.filter})
    (_, times) = listed.filter["and"]  # pyright: ignore[reportGeneralTypeIssues]  # two conditions
    start, stop = times["or"][0]["event_at"].values()  # pyright: ignore
    assert start < stop <= from_us(NOON).isoformat() and "from last week" in listed.sentence
    assert ranked.filter is None and ranked.text == "what about auth last week?"


PARTS = """notes tagged tag: # and or , " with the category by written like similar to latest last week type:fact QX-1
is auth exactly conceptually source:a*b metadata.x:1 status:active é 日本 (("""
WORDS = st.sampled_from([*re.split(r"\s", PARTS), "\0"])


@given(st.lists(WORDS | st.text(max_size=4), max_size=12).map(" ".join))
def test_any_text_is_read_and_its_filter_is_valid(query: str):
    found = read(query, NOON)
    assert found == read(query, NOON)
    if found.filter is not None:
        assert narrowed(found) is not None
    if found.mode in ("metadata", "recent") or found.similar_to:
        assert found.text == ""

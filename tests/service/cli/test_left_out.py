"""Hits that probably don't answer: left out for people and in text, counted, and shown when asked for."""

import json

import pytest
from click.testing import Result

from tests.service.conftest import Run

pytestmark = pytest.mark.one_store

QUERY = ("search", "deploy production database migration")
MORE = "found that probably don't answer this; --all shows"


@pytest.fixture
def stored(run: Run) -> list[str]:
    """The ids of the hits of a search, of which only the first answers."""
    run("add", "Deploy the production database migration on Tuesdays")
    for text in ("The production line stops at noon", "Ann writes the migration guide", "Tea is in the kitchen"):
        run("add", text)
    found = json.loads(run(*QUERY, "--json").stdout)["hits"]
    assert len(found) > 1 and found[0]["applies"] > 0.5 > found[-1]["applies"]
    return [hit["memory"]["id"] for hit in found]


def shown(done: Result, ids: list[str]) -> int:
    return sum(id_[-8:] in done.stdout for id_ in ids)


@pytest.mark.parametrize("form", ["--table", "--plain", "--csv"])
def test_they_are_left_out_and_counted(run: Run, stored: list[str], form: str):
    done = run(*QUERY, form)
    hidden = len(stored) - shown(done, stored)
    assert hidden > 0 and stored[0][-8:] in done.stdout
    assert done.stderr.startswith(f"{hidden} more") or f"\n{hidden} more" in done.stderr
    assert MORE in done.stderr


@pytest.mark.parametrize("words", [("--all",), ("--applies", "0"), ("--json",), ("--all", "--table")], ids=" ".join)
def test_all_are_shown_where_they_are_asked_for(run: Run, stored: list[str], words: tuple[str, ...]):
    done = run(*QUERY, *words)
    assert shown(done, stored) == len(stored) and MORE not in done.stderr


def test_an_empty_answer_names_the_nearest_memory(run: Run, stored: list[str]):
    done = run("search", "who cleans the kitchen in the evening of a rainy day")
    assert not done.stdout and "answers this" in done.stderr and "Tea is in the kitchen" in done.stderr
    cut = json.loads(run("search", "deploy cheese", "--json", "--applies", "1").stdout)
    assert not cut["hits"] and cut["left_out"] == 1 and cut["nearest"]["memory"]["id"] == stored[0]

"""Last hits far below the best: left out on a terminal where the evidence is strong, and nowhere else."""

import json

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.cli.commands.search import SHARE, split
from tests.service.conftest import Run

pytestmark = pytest.mark.one_store

QUERY = ("search", "deploy production database migration")
MORE = "with less than a third of the best score: --all shows"

scores = st.lists(st.floats(0, 2), max_size=12)


@given(scores)
def test_what_is_left_out_is_far_below_the_best_and_at_the_end(found: list[float]):
    hits = [{"score": score} for score in found]
    kept, far = split(hits, {"evidence": "strong"})
    assert [*kept, *far] == hits and (bool(kept) or not hits)
    assert all(hit["score"] < SHARE * max(found) for hit in far)
    assert not kept or kept[-1]["score"] >= SHARE * max(found)


@given(scores, st.sampled_from(["weak", "none"]))
def test_any_hit_may_be_the_answer_where_the_evidence_is_not_strong(found: list[float], evidence: str):
    hits = [{"score": score} for score in found]
    assert split(hits, {"evidence": evidence}) == (hits, ())


@pytest.fixture
def stored(run: Run) -> list[str]:
    """The ids of the hits of a search with strong evidence, of which only the first is near."""
    run("add", "Deploy the production database migration on Tuesdays")
    for text in ("The production line stops at noon", "Ann writes the migration guide", "Tea is in the kitchen"):
        run("add", text)
    reply = json.loads(run(*QUERY, "--json").stdout)
    found = [hit["score"] for hit in reply["hits"]]
    assert reply["evidence"] == "strong" and len(found) > 1 and found[-1] < SHARE * found[0]
    return [hit["memory"]["id"] for hit in reply["hits"]]


def shown(done: Result, ids: list[str]) -> int:
    return sum(id_[-8:] in done.stdout for id_ in ids)


def test_a_terminal_leaves_them_out_and_says_how_many(run: Run, stored: list[str]):
    done = run(*QUERY, "--table")
    hidden = len(stored) - shown(done, stored)
    assert hidden > 0 and stored[0][-8:] in done.stdout
    assert f"{hidden} more {MORE}" in done.stderr


@pytest.mark.parametrize(
    "words", [("--all",), ("--limit", "9"), ("--explain",), ("--mode", "hybrid"), ("--diversity", "0.1")], ids=" ".join
)
def test_all_are_shown_where_they_are_asked_for(run: Run, stored: list[str], words: tuple[str, ...]):
    done = run(*QUERY, "--table", *words)
    assert shown(done, stored) == len(stored) and MORE not in done.stderr


@pytest.mark.parametrize("form", ["--plain", "--csv", "--json"])
def test_programs_get_all_of_them(run: Run, stored: list[str], form: str):
    done = run(*QUERY, form)
    assert shown(done, stored) == len(stored) and MORE not in done.stderr


def test_weak_evidence_shows_all(run: Run, stored: list[str]):
    asked = ("search", "who cleans the kitchen")
    reply = json.loads(run(*asked, "--json").stdout)
    assert reply["evidence"] == "weak"
    done = run(*asked, "--table")
    assert shown(done, [hit["memory"]["id"] for hit in reply["hits"]]) == len(reply["hits"])

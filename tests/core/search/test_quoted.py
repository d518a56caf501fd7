"""Quotes in a query prefer: memories with the words in a row come first, and the others fill up the hits."""

from typing import Any

import pytest
from msgspec import UNSET

from muisti.core.engine import Engine
from muisti.core.model.hits import Hit
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, add

RANKED = ("hybrid", "keyword", "semantic")


def hits(engine: Engine, **query: Any) -> tuple[Hit, ...]:
    return engine.owner.read.search(SPACE, Query(**query)).hits


def contents(engine: Engine, **query: Any) -> list[str]:
    return [hit.memory.content for hit in hits(engine, **query)]


@pytest.mark.parametrize("mode", RANKED)
def test_memories_with_the_quoted_words_come_first_and_others_fill_up(engine: Engine, mode: str):
    add(engine, "the house is red and old", "an old red car", "we saw a red house", "old old old house")
    found = contents(engine, text='old "red house"', mode=mode)
    assert found[0] == "we saw a red house" and set(found[1:]) >= {"the house is red and old", "an old red car"}


@pytest.mark.parametrize("mode", RANKED)
def test_a_quote_that_nothing_has_finds_what_the_words_find(engine: Engine, mode: str):
    add(engine, "a fox in the garden", "a dog in the house")
    quoted = contents(engine, text='"the garden of the fox"', mode=mode)
    assert quoted == contents(engine, text="the garden of the fox", mode=mode)
    assert quoted[0] == "a fox in the garden"


@pytest.mark.parametrize("mode", ["recent", "metadata"])
def test_where_no_text_is_ranked_a_quote_is_a_demand(engine: Engine, mode: str):
    add(engine, "red house", "house that is red")
    assert contents(engine, text='"red house"', mode=mode) == ["red house"]


def test_more_memories_with_the_words_than_hits_leave_no_room_for_others(engine: Engine):
    add(engine, *(f"we saw red house number {number}" for number in range(60)), "the house is red")
    answer = engine.owner.read.search(SPACE, Query(text='"red house"', limit=5))
    assert len(answer.hits) == 5 and answer.total == 60
    assert all("red house" in hit.memory.content for hit in answer.hits)


def test_every_quoted_part_counts(engine: Engine):
    add(engine, "red house by the sea", "the sea, a red house, an old tree", "an old tree", "a red house")
    assert contents(engine, text='"red house" "old tree"')[0] == "the sea, a red house, an old tree"


def test_explanations_say_that_the_words_are_there_and_add_up(engine: Engine):
    add(engine, "the house is red", "we saw a red house in passing, long ago, by the sea", "red")
    found = hits(engine, text='red "red house"', explain=True)
    first, others = found[0], found[1:]
    assert first.explain is not None and first.explain.quoted is not UNSET and "quotes" in first.explain.sentence
    assert first.score >= first.explain.quoted.above == pytest.approx(max(hit.score for hit in others))
    for hit in found:
        assert hit.explain is not None and sum(hit.explain.parts.values()) == pytest.approx(hit.score)
    assert all(hit.explain is not None and hit.explain.quoted is UNSET for hit in others)

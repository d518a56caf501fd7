"""Columns of hits: ranks are compared, and an answer without evidence says that nothing was found."""

from typing import Any

import pytest

from muisti.service.pages.asking.hits import Answered, columns

EXPLAIN = {
    **dict.fromkeys(("lexical", "cosine", "fused", "recency", "importance", "trust", "feedback", "age_days"), 1.0),
    "terms": {}, "time": None, "parts": {"lexical": 0.5}, "sentence": "Ranked by words.",
}  # fmt: skip
MEMORY = {
    "category": "rules", "key": None, "content": "We deploy on Tuesdays", "type": "fact", "kind": "memory",
    "status": "active", "importance": "medium", "author": None, "tags": [], "trust": 50, "event_at": None,
    "created_at": "2026-05-01T12:00:00Z",
}  # fmt: skip


def hit(name: str) -> dict[str, Any]:
    passage = {"number": 0, "start": 0, "stop": 21}
    return {
        "memory": {**MEMORY, "id": name}, "score": 0.5, "ranks": {"lexical": 1}, "passage": passage, "explain": EXPLAIN,
    }  # fmt: skip


def found(*names: str, **more: Any) -> dict[str, Any]:
    return {
        "hits": [hit(name) for name in names], "total": len(names), "evidence": "strong", "strength": 1.0,
        "thresholds": None, "strategy": "hybrid", "degraded": [], "applies": None, "left_out": 0, **more,
    }  # fmt: skip


def test_two_columns_say_how_ranks_differ():
    answers = [Answered("A", found("x", "y", "z"), []), Answered("B", found("y", "x", "w"), [])]
    (first, second), _ = columns(answers, filtered=False)
    assert [one["moved"] and one["moved"]["told"] for one in first["hits"]] == [
        "▲ 1 above the other",
        "▼ 1 below the other",
        "only here",
    ]
    assert [one["moved"] and one["moved"]["kind"] for one in second["hits"]] == ["good", "fair", "good"]


def test_one_column_compares_nothing():
    (only,), told = columns([Answered("", found("x"), [])], filtered=False)
    assert (
        only["hits"][0]["moved"] is None and only["title"] == "1 hit" and [piece.name for piece in told] == ["lexical"]
    )


@pytest.mark.parametrize(("answer", "filtered", "title", "said"), [
    (found(), True, "No hits", "Nothing matches the filter."), (found(), False, "No hits", "Nothing here matches."),
    (found("x", evidence="none"), False, "1 memory comes nearest", "Nothing about this is stored here."),
    (found(total=3, evidence="weak"), False, "No hits", "The evidence is below your minimum"),
    (found("x", evidence="weak"), False, "1 hit", ""), (found("x", evidence="none", applies=0.9), False, "1 hit", ""),
    (found("x", left_out=2), False, "1 hit; 2 more probably don't answer", ""),
    (found(total=2, applies=0.2, left_out=2, nearest=hit("x")), False, "No hits", "Nothing stored answers this"),
])  # fmt: skip
def test_what_was_not_found_is_said_with_what_to_try(answer: Any, filtered: bool, title: str, said: str):
    (only,), _ = columns([Answered("", answer, [])], filtered=filtered)
    assert only["title"] == title and said in only["nothing"] and bool(only["nothing"]) == bool(said)
    assert bool(only["advice"]) == bool(said) and (not filtered or "filter" in only["advice"][0])

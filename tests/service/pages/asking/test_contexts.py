"""A context is drawn as it came: no character of the text is lost, and the bar has all tokens."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.context import Reason
from muisti.service.pages.asking.settings import REASONS, Wrong, context_view, wanted_of

TEXT = "Notice.\nMemories\nOne fact.\nAnother fact.\n"


def answer(**more: Any) -> dict[str, Any]:
    citations = [
        {"n": 1, "id": "a", "space": "s", "version": 1, "section": "memories", "start": 17, "stop": 26, "cut": False},
        {"n": 2, "id": "b", "space": "s", "version": 1, "section": "memories", "start": 27, "stop": 40, "cut": True},
    ]
    return {
        "text": TEXT, "tokens": 30, "token_budget": 100, "encoding": "cl100k_base", "evidence": "strong",
        "sections": [{"name": "memories", "tokens": 20, "memories": 2}], "citations": citations, "left_out": [],
        "left_out_total": 0, "next_budget": None, "degraded": [], **more,
    }  # fmt: skip


def test_each_reason_to_leave_a_memory_out_has_words():
    assert set(REASONS) == {*get_args(Reason)}


def test_the_text_is_whole_and_each_citation_is_its_own_stretch():
    made = context_view(answer())
    assert "".join(one["text"] for one in made["text"]) == TEXT
    assert [(one["n"], one["text"], one["cut"]) for one in made["citations"]] == [
        (1, "One fact.", False),
        (2, "Another fact.", True),
    ]


@given(st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)), max_size=5))
def test_no_character_is_lost_or_shown_twice_wherever_citations_are(places: list[tuple[int, int]]):
    cited = [
        {
            "n": n, "id": str(n), "space": "s", "section": "memories", "start": min(place), "stop": max(place),
            "cut": False,
        }
        for n, place in enumerate(places)
    ]  # fmt: skip
    made = context_view(answer(citations=cited))
    assert "".join(one["text"] for one in made["text"]) == TEXT


def test_the_bar_shows_all_tokens_also_those_around_the_sections():
    made = context_view(answer())
    assert [(one["name"], one["tokens"]) for one in made["shares"]] == [("memories", 20), ("around them", 10)]
    assert sum(float(one["width"]) for one in made["shares"]) == pytest.approx(300) and made["free"] == 70


def test_a_context_of_a_url():
    wanted = wanted_of({"q": "tea", "budget": "200", "each": "50", "s.profile": "on", "s.memories": "on", "x": "y"})
    assert wanted.body() == {
        "query": "tea",
        "no_touch": True,
        "token_budget": 200,
        "sections": {"profile": {"max_tokens": 50}, "memories": {}},
    }
    with pytest.raises(Wrong):
        wanted_of({"q": "tea", "budget": "many"}).body()

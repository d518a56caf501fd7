"""Standing instructions are recognised by a mark and an order, with the clause that says to what they apply."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.standing_instructions import MARKS, READ, has_mark, recognised, scope_of, standing

SCOPED = {
    "Always use SI units when I ask about physics.": "physics",
    "Hello there. Please never quote prices if I ask for hotels!": "hotels",
    "When I ask about code, libraries or tools, always cite versions.": "code, libraries or tools",
    "Whenever I ask for a recipe, please keep it vegetarian.": "a recipe",
    "Every time I ask about travel, remind me of my visa.": "travel",
    "If I ask how to deploy, show the staging steps first.": "deploy",
    "Keep answers short when I ask about news; thanks": "news",
    "Note: when I mention Bob, assume Bob Smith.": "Bob",
    "From now on, use tabs when writing Makefiles.": "writing Makefiles",
}
GENERAL = (
    "From now on, answer in German.", "Going forward, call me Max.", "Please always answer in short sentences.",
    "I'd like you to always cite sources.", "Remember to always use metric units.", "Never recommend seafood.",
    "- Never use emojis", "Answer in French from now on.",
)  # fmt: skip
NONE = (
    "Always look on the bright side of life.",
    "Always happy to help when I ask about it.",
    "Never give up!",
    "I always ask about the weather when I ask about travel.",
    "When I ask him, he says no.",
    "He never answers when I ask about dinner.",
    "She said: always be kind when I ask for help.",
    "Could you always use metric units when I ask about cooking?",
    "You should always check the tyres.",
    "From now on I am vegetarian.",
    "I have never used emojis, and I always use tabs.",
    "Use SI units.",
    "```\nAlways use SI units when I ask about physics.\n```",
    "",
)


@pytest.mark.parametrize(("text", "scope"), SCOPED.items())
def test_the_scope_clause_says_to_what_an_instruction_applies(text: str, scope: str):
    found = standing(text)
    assert found is not None and found.scope is not None
    assert text[found.scope.start : found.scope.stop] == scope
    assert found.sentence.start <= found.scope.start < found.scope.stop <= found.sentence.stop


@pytest.mark.parametrize("text", [*GENERAL, *NONE])
def test_an_instruction_without_a_scope_applies_to_everything_and_other_sentences_are_none(text: str):
    found = standing(text)
    assert (found is not None) == (text in GENERAL) and (found is None or found.scope is None)


@pytest.mark.parametrize("text", [*SCOPED, *GENERAL])
def test_an_assistant_a_document_and_a_web_page_give_no_instructions(text: str):
    assert standing(text, author="Assistant") is None and standing(text, author="Ann") is not None
    assert recognised(text, kind="memory", trust=50, author=None) is not None
    assert recognised(text, kind="chunk", trust=100, author=None) is None
    assert recognised(text, kind="memory", trust=20, author=None) is None


def test_a_text_that_is_known_to_be_an_instruction_has_wider_clauses():
    text = "Run the linter before you push to main, please."
    scope = scope_of(text)
    assert standing(text) is None and scope is not None and text[scope.start : scope.stop] == "push to main"
    assert scope_of("No pushes on Fridays") is None
    assert standing("Never recommend seafood. It was a long day.") is None  # in a longer text the first word is no mark
    assert standing("x. " * READ + "Always use SI units when I ask about physics.") is None


WORDS = [
    "always", "never", "whenever", "when", "if", "I", "ask", "about", "please", "from now on,", "use", "tea", ".", ",",
    "?", "each time", "going forward", "you", "want", "to", "remember", "-", "mention", "\n", "he", "only",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_every_recognised_text_has_a_mark_and_spans_within_it(words: list[str]):
    text = " ".join(words)
    found = standing(text)
    if found is None:
        return
    assert has_mark(text) and any(mark in text.lower() for mark in MARKS)
    sentence = text[found.sentence.start : found.sentence.stop]
    assert sentence == sentence.strip() and not re.search(r"[?？]$", sentence)
    if found.scope is not None:
        assert found.sentence.start <= found.scope.start < found.scope.stop <= found.sentence.stop

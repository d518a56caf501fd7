"""Rules: what each finds, and what it leaves alone."""

from pathlib import PurePath

import pytest

from tests.language.prose import Block
from tests.language.rules import LIMIT, LONG, OPENING, TERMS, findings

PATH = PurePath("docs/a.md")


def found(text: str, *, opens_docstring: bool = False) -> list[tuple[int, str]]:
    return [(one.line, one.rule) for one in findings("docs", PATH, Block(7, text), opens_docstring=opens_docstring)]


def test_a_sentence_may_have_as_many_words_as_the_limit():
    assert found(" ".join(["word"] * LIMIT) + ". And more.") == []
    assert found("Short.\n" + " ".join(["word"] * (LIMIT + 1)) + ".") == [(8, LONG)]


@pytest.mark.parametrize("text", ["What it says.", "The same for spaces."])
def test_openings_are_of_docstrings_alone(text: str):
    assert found(text, opens_docstring=True) == [(7, OPENING)]
    assert found(text) == []
    assert found("Return what it says, the same for all.", opens_docstring=True) == []


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_each_term_is_found_in_prose_and_not_in_code_or_quotations(term):
    word = {"he, him, his": "him", "short way, plain way": "plain way", "births, bury, died": "died"}.get(term.name)
    word = word or term.name.split(", ")[-1]
    assert found(f"A line\nwith {word} there.") == [(8, term.name)]
    assert found(f'A line with `{word}` and "{word}" there.') == []


@pytest.mark.parametrize(
    "text",
    ["A bearer token.", "Standing instructions apply.", "The gateway stands for all.", "She aggregates.", "A tool."],
)
def test_words_that_only_look_like_terms_are_left_alone(text: str):
    assert found(text) == []

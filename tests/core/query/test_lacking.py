"""Checks what a statement lacks of a question: its most telling word less what is near to it, and a name."""

import pytest

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.query.lacking import EXCLUDES, NOTHING, is_question, lacking

STATEMENT = "The kitchen of the Aurora is painted yellow"


@pytest.fixture(scope="module")
def model() -> StaticEncoder:
    return StaticEncoder()


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What colour is the kitchen of the Borealis?", True),
        ("What colour is the kitchen of deck 7?", True),
        ("What colour is the captain of the Aurora?", False),
        ("what colour is the kitchen of the borealis?", False),
        ("What Colour Is The Kitchen Of Borealis", False),  # capitals of a title are no names
    ],
)
def test_a_name_is_lacking_where_capitals_or_digits_distinguish_it(model: StaticEncoder, question: str, name: bool):
    found = lacking(question, STATEMENT, model)
    assert (found.name > 0) == name and found.word > 0


def test_words_that_ask_weigh_less_than_those_that_name(model: StaticEncoder):
    few, telling = (
        lacking(f"{asked} the kitchen?", STATEMENT, model).word for asked in ("How many use", "Who insured")
    )
    assert few < telling


def test_a_near_word_makes_up_for_a_missing_one(model: StaticEncoder):
    near, far = (lacking(f"Who paints the {room}?", STATEMENT, model).word for room in ("kitchens", "harbour"))
    assert near < far


@pytest.mark.parametrize(
    ("question", "statement", "excluded"),
    [
        ("Who guards the third floor?", "Otto guards the second floor", True),
        ("Who guards the second floor?", "Otto guards the second floor", False),
        ("Who guards the floor on Saturdays?", "Otto guards the floor on Thursday evenings", True),
        ("Who guards the floor on Saturdays?", "Otto guards the floor", False),
        ("What grows in the north?", "Leeks grow in the south", True),
        ("Who guards the north on Mondays?", "Otto guards the north", False),
    ],
)
def test_a_word_is_excluded_by_another_of_its_kind(model: StaticEncoder, question: str, statement: str, excluded: bool):
    found = lacking(question, statement, model)
    assert (found.name >= EXCLUDES and found.instead) == excluded


def test_another_name_is_told_from_none(model: StaticEncoder):
    question = "How do I dim the lamps of the Borealis?"
    assert lacking(question, "The lamps of the Aurora have a dimmer", model).instead
    assert not lacking(question, "The lamps have a dimmer", model).instead


@pytest.mark.parametrize("question", ["What is painted yellow?", "Where is it?", "?", ""])
def test_nothing_is_lacking_where_every_word_is_there(model: StaticEncoder, question: str):
    assert lacking(question, STATEMENT, model) == NOTHING


@pytest.mark.parametrize("statement", ["She painted the kitchen", "The kitchen was painted by him"])
def test_a_pronoun_may_be_the_name(model: StaticEncoder, statement: str):
    assert lacking("When did Ann paint the kitchen?", statement, model).name == 0


@pytest.mark.parametrize("statement", ["", "…", "\0", "🙂", "a" * 100_000])
def test_any_statement_is_read(model: StaticEncoder, statement: str):
    found = lacking("Who insured the Aurora?", statement, model)
    assert found.word >= 0 and found.name >= 0


@pytest.mark.parametrize("text", ["kitchen yellow", "Welche Farbe?", "Paint it", "", "who " + "x" * 1_000])
def test_other_texts_are_no_questions(text: str):
    assert not is_question(text)

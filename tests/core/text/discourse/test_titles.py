from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.discourse.titles import WORDS, title

FLAT = ["The rent of the flat in Turku", "A flat near the river, Turku is nice"]
CAT = ["Your cat is ill", "The cat must see a vet", "A vet in Turku"]


def test_a_title_has_the_words_that_set_a_topic_apart() -> None:
    words = title(FLAT, CAT).lower().split(", ")
    assert words[0] == "flat"
    assert "cat" not in words


def test_a_word_of_the_rest_counts_less() -> None:
    assert "Turku" in title(FLAT, ["Your cat is ill"])
    assert "Turku" not in title(FLAT, ["Turku", "To Turku", "From Turku"])


def test_rarity_decides_where_there_is_no_rest() -> None:
    rare = {"flat": 5.0, "river": 4.0}
    assert title(FLAT, rarity=lambda term: rare.get(term, 0.1)).startswith("Flat")


def test_nothing_telling_gives_no_title() -> None:
    assert title(["ok", "yes", "thank you!", "```code```"]) == ""
    assert title([]) == ""


def test_names_keep_their_form() -> None:
    assert title(["We use PostgreSQL", "why PostgreSQL"]) == "PostgreSQL"


@given(st.lists(st.text(max_size=40), max_size=5), st.lists(st.text(max_size=40), max_size=5))
def test_any_text_gives_a_short_title(topic: list[str], rest: list[str]) -> None:
    found = title(topic, rest)
    assert found == title(topic, rest)
    assert "\n" not in found
    assert found.count(", ") < WORDS

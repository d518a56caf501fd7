"""The words of each speaker stay its own: a reply of an assistant gives no instruction and is nobody's preference."""

import pytest

from muisti.core.conversations.model import Turn
from muisti.core.engine import Engine
from muisti.core.model.values import Memory
from muisti.core.query.query import Query
from muisti.core.text.discourse.signals import suggested
from muisti.core.text.terms import count_tokens
from tests.conversations.talking import stream
from tests.core.fakes import SPACE

ORDER = "Always use metric units when I ask about physics."
TASTE = "I prefer rock and I decided to buy a guitar."
ASKED = "How fast is light in physics?"


def say(engine: Engine, first: str, reply: str | None, author: str | None, replier: str | None = None) -> Memory:
    turn = Turn(content=first, author=author, reply=reply, replier=replier)
    return stream(engine, "c", [turn]).items[0].memory


@pytest.mark.parametrize("author", ["user", "Ann", None])
def test_a_reply_gives_no_instruction(engine: Engine, author: str | None):
    memory = say(engine, ASKED, ORDER, author)
    assert not engine.owner.read.search(SPACE, Query(text="physics")).instructions
    assert not [*suggested([memory])]


@pytest.mark.parametrize(
    ("first", "reply", "author", "replier"), [(ORDER, "Fine.", "user", None), ("Hi!", ORDER, "assistant", "user")]
)
def test_what_the_user_says_gives_one_with_its_place_in_the_text(
    engine: Engine, first: str, reply: str, author: str, replier: str | None
):
    memory = say(engine, first, reply, author, replier)
    (lane,) = engine.owner.read.search(SPACE, Query(text="physics")).instructions
    (hint,) = suggested([memory])
    for scope in (lane.scope, hint.scope):
        assert scope is not None and memory.content[scope.start : scope.stop] == "physics"


def test_working_memory_gives_each_speaker_its_own_words(engine: Engine):
    say(engine, "Which music is good?", TASTE, "Ann")
    (held,) = engine.owner.discourse.working(SPACE, "c", "words", count_tokens, 500).held
    assert held.text == f"Ann: Which music is good?\nassistant: {TASTE}"
    assert not {"preference", "decision"} & set(held.acts)

"""Preferences that an exchange states, and false alarms."""

from typing import Any

import pytest
from msgspec.structs import replace

from muisti.core.conversations.reading import suggestions
from muisti.core.engine import Engine
from muisti.core.model.values import Draft, Memory
from tests.core.fakes import SPACE


@pytest.fixture
def turn(engine: Engine) -> Memory:
    """A memory to make turns from."""
    return engine.owner.write.add(SPACE, [Draft(content="x")], on_conflict="keep").memories[0]


def found(turn: Memory, content: str, author: str | None, **structure: Any) -> list[tuple[str | None, str]]:
    said = replace(turn, kind="exchange", content=content, author=author, turn=4, structure=structure)
    return [(one.draft.author, one.draft.content) for one in suggestions(said)]


@pytest.mark.parametrize("content", [
    "Do you like tea?", "Which seats do I prefer?", "Would you say that I love jazz?",
    "I'd like to know the price.", "The meeting is on Monday.", "```\nI prefer tabs.\n```", "",
])  # fmt: skip
def test_what_states_no_preference_suggests_none(turn: Memory, content: str):
    assert found(turn, content, "user") == []


@pytest.mark.parametrize("author", ["assistant", "AI", "Bot", None])
def test_only_a_user_has_preferences(turn: Memory, author: str | None):
    assert found(turn, "I love jazz.", author) == []


def test_each_message_of_an_exchange_has_its_own_speaker(turn: Memory):
    said = "Hi! I love jazz. I hate queues, too.\n\nI prefer rock."
    both = {"reply_at": said.index("I prefer")}
    assert found(turn, said, "Ann", **both) == [("Ann", "I love jazz. I hate queues, too.")]
    assert found(turn, said, "Ann", **both, replier="Bob")[1] == ("Bob", "I prefer rock.")


def test_a_suggestion_is_a_candidate_derived_from_its_turn(turn: Memory):
    said = replace(turn, kind="exchange", content="I love jazz.", author="Ann", turn=4, category="music")
    (one,) = suggestions(said)
    assert (one.turn, one.draft.type, one.draft.status, one.draft.kind) == (4, "preference", "candidate", "memory")
    assert (one.draft.derived_from, one.draft.category) == ((turn.id,), "music")

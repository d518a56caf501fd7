"""Shorthand of tests about conversations."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from muisti.core.conversations.model import Streamed, Turn
from muisti.core.conversations.view import Conversations, Stream
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.places import Level, ObjectName
from muisti.core.model.times import from_us
from tests.core.fakes import NOON, SPACE


def talks(engine: Engine, caller: Caller = OWNER, *, dry_run: bool = False) -> Conversations:
    return engine.seen_by(caller, dry_run=dry_run).conversations


def at(minute: int) -> datetime:
    return from_us(NOON) - timedelta(days=1) + timedelta(minutes=minute)


def said(*texts: str, first: int | None = 1, author: str | None = "Ann") -> list[Turn]:
    """Turns of one speaker, numbered from `first`; None leaves the numbers to the service."""
    return [
        Turn(content=text, turn=None if first is None else first + place, author=author, at=at(place))
        for place, text in enumerate(texts)
    ]


def stream(
    engine: Engine,
    conversation: str,
    turns: Sequence[Turn],
    *,
    session: str | None = None,
    category: str | None = None,
    caller: Caller = OWNER,
    space: str = SPACE,
    dry_run: bool = False,
) -> Streamed:
    what = Stream(conversation=conversation, turns=turns, session=session, category=category)
    return talks(engine, caller, dry_run=dry_run).add_exchanges(space, what)


def named(
    name: str, level: Level = "conversation", conversation: str | None = None, category: str | None = None
) -> ObjectName:
    return ObjectName(level=level, name=name, conversation=conversation, category=category)


def texts(engine: Engine, conversation: str, caller: Caller = OWNER) -> list[tuple[int | None, str]]:
    page = talks(engine, caller).exchanges(SPACE, named(conversation), limit=100)
    return [(one.turn, one.content) for one in page.items]

"""A conversation as people read it: who says what, under which topic. Pure functions."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

Item = Mapping[str, Any]
DRAWN = 200_000  # characters of a page that are read as Markdown


class Said(NamedTuple):
    """Message of one speaker in a turn."""

    who: str
    text: str


class Turn(NamedTuple):
    """A turn: its memory, and its messages. `begins` are the topics that begin with it.

    `superseded` is the id of the memory that is recalled in its place, None for none.
    One that is `plain` is not read as Markdown, since its page is long.
    """

    number: int
    id: str
    at: str
    said: Sequence[Said]
    begins: Sequence[str] = ()
    superseded: str | None = None
    plain: bool = False


class Topic(NamedTuple):
    """A topic in the outline. `first` is its first turn, None while it has none. A `stale` summary is older than it."""

    name: str
    title: str
    state: str
    spans: Sequence[str]
    first: int | None
    turns: int
    summary: str | None
    stale: bool


def said(memory: Item) -> list[Said]:
    """Return the messages of a turn: one, or that of a user with the reply to it.

    >>> said({"author": "user", "content": "Who?\\n\\nAnn.", "structure": {"reply_at": 6, "replier": "assistant"}})
    [Said(who='user', text='Who?'), Said(who='assistant', text='Ann.')]
    """
    content, at = memory["content"], memory["structure"].get("reply_at")
    who = memory["author"] or "somebody"
    if at is None:
        return [Said(who, content)]
    return [Said(who, content[:at].rstrip()), Said(memory["structure"].get("replier") or "assistant", content[at:])]


def turns(items: Sequence[Item], topics: Sequence[Item]) -> list[Turn]:
    """Return the turns of a page, each with the titles of topics of which it is the first on the page."""
    begins: dict[int, list[str]] = {}
    for topic in topics:
        for first, last in topic["spans"]:
            here = next((one["turn"] for one in items if first <= one["turn"] <= last), None)
            if here is not None:
                begins.setdefault(here, []).append(topic["title"])
    lengths = accumulate(len(one["content"]) for one in items)
    return [
        Turn(
            number=one["turn"],
            id=one["id"],
            at=one["event_at"] or one["created_at"],
            said=said(one),
            begins=begins.get(one["turn"], ()),
            superseded=one.get("superseded_by"),
            plain=length > DRAWN,
        )
        for one, length in zip(items, lengths, strict=True)
    ]


def outline(topics: Sequence[Item], summaries: Sequence[Item]) -> list[Topic]:
    """Return the topics in the order of their turns, with their summaries."""
    known = {one["topic"]: one for one in summaries if one["of"] == "topic"}
    return sorted(
        (_topic(one, known.get(one["name"])) for one in topics), key=lambda one: (one.first is None, one.first)
    )


def _topic(topic: Item, summary: Item | None) -> Topic:
    spans = topic["spans"]
    return Topic(
        name=topic["name"],
        title=topic["title"],
        state=topic["state"],
        spans=[str(first) if first == last else f"{first} to {last}" for first, last in spans],
        first=min((first for first, _ in spans), default=None),
        turns=topic["turns"],
        summary=None if summary is None else summary["text"],
        stale=summary is not None and summary["stale"],
    )


def summary_of(level: str, summaries: Sequence[Item]) -> Item | None:
    """Return the summary of the whole conversation, if there is one."""
    return next((one for one in summaries if one["of"] == level), None)

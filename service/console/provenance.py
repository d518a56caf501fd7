"""Sentences about a memory: where it comes from, how far it is trusted, and what it is now; links to others."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from muisti.client import MuistiError
from muisti.service.console.visit import Visit

State = Literal["current", "superseded", "expired", "deleted"]
Memory = Mapping[str, Any]

SAID: Mapping[str, str] = {
    "user": "A person said it.",
    "tool": "A tool reported it.",
    "model": "A model wrote it.",
    "web": "It was read on the web.",
    "unknown": "Source type not set.",
}
TRUST = ((80, "high", "good"), (45, "medium", "fair"), (0, "low", "bad"))


def trust_of(percent: int) -> dict[str, Any]:
    """Return a trust of 0 to 100 with its word.

    >>> trust_of(50)
    {'percent': 50, 'word': 'medium', 'kind': 'fair'}
    """
    word, kind = next((word, kind) for least, word, kind in TRUST if percent >= least)
    return {"percent": percent, "word": word, "kind": kind}


def sentences(memory: Memory) -> list[str]:
    """Return what is known about the origin of a memory, each as one sentence."""
    found = [SAID[memory["source_class"]]]
    if memory["author"]:
        found.append(f"Its author is {memory['author']}.")
    if memory["source"]:
        found.append(f"Its source is {memory['source']}.")
    if memory["reason"]:
        found.append(f"It is remembered because: {memory['reason']}")
    if memory["derived_from"]:
        count = len(memory["derived_from"])
        found.append(
            f"It was derived from {count} other {'memory' if count == 1 else 'memories'} and has at most their trust."
        )
    return found


def state_of(memory: Memory, died_at: str | None, now: datetime) -> State:
    """Return what became of a memory, by its last version and the time at which that ended."""
    if memory["superseded_by"]:
        return "superseded"
    expires = memory["expires_at"]
    if expires and datetime.fromisoformat(expires) <= now:
        return "expired"
    return "current" if died_at is None else "deleted"


def is_valid(memory: Memory, now: datetime | None = None) -> bool:
    """Tell whether what a memory says holds now, by `valid_from` and `valid_to`."""
    at = now or datetime.now(UTC)
    begin, end = memory["valid_from"], memory["valid_to"]
    return (not begin or datetime.fromisoformat(begin) <= at) and (not end or at < datetime.fromisoformat(end))


def title_of(memory: Memory) -> str:
    """Return the first words of a memory, without the signs of Markdown at its beginning.

    >>> title_of({"content": "## Storms\\n\\nAbove 18 m/s …", "kind": "chunk"})
    'Storms'
    """
    lines: Sequence[str] = [line.strip().strip("#>*-_` ") for line in str(memory["content"]).splitlines()]
    line = next((line for line in lines if line), "")
    return line.replace("**", "").replace("`", "") or str(memory["kind"])


PEEKED = 12  # memories whose text is read; others are links with their ids


class Peek(NamedTuple):
    """A memory that is linked. `text` is None when it is not there, is another's, or was not read."""

    id: str
    text: str | None = None
    ended: bool = False
    kind: str | None = None


async def peek(visit: Visit, ids: Iterable[str]) -> list[Peek]:
    """Return a link for each id, the first ones with their text."""
    every = list(dict.fromkeys(ids))
    read = await asyncio.gather(*(_peek(visit, one) for one in every[:PEEKED]))
    return [*read, *(Peek(one) for one in every[PEEKED:])]


async def _peek(visit: Visit, memory_id: str) -> Peek:
    assert visit.space is not None
    try:
        found: Any = await visit.api.get_memory(visit.space, memory_id, no_touch=True, **visit.at)
        return Peek(memory_id, title_of(found), kind=found["kind"])
    except MuistiError as error:
        if error.status != 404:
            raise
    if visit.as_of is not None:  # its last version may be of later
        return Peek(memory_id)
    try:
        last: Any = (await visit.api.get_history(visit.space, memory_id))["items"][0]["memory"]
    except MuistiError as error:
        if error.status != 404:
            raise
        return Peek(memory_id)
    return Peek(memory_id, title_of(last), ended=True, kind=last["kind"])

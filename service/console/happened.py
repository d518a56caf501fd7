"""Changes of a space as a person reads them, those of one request as one. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

SHOWN = 8  # happenings of a page

WORDS: Mapping[str, str] = {
    "created": "stored",
    "updated": "changed",
    "superseded": "superseded",
    "restored": "restored",
    "deleted": "deleted",
    "undone": "undone",
    "expired": "expired",
    "reembedded": "embedded again",
    "rolled_back": "rolled back",
    "merged": "merged",
    "forked": "forked",
}


class Happened(NamedTuple):
    """One change, or several of the same kind by one request. `id` is the first memory."""

    at: str
    actor: str
    word: str
    times: int
    id: str | None


def before(seq: str, count: int) -> str:
    """Return the point that is some changes before another, or the beginning.

    >>> before("5b0f:230", 40), before("5b0f:3", 40)
    ('5b0f:190', '5b0f:0')
    """
    epoch, _, number = seq.rpartition(":")
    return f"{epoch}:{max(0, int(number) - count)}"


def told(changes: Sequence[Mapping[str, Any]], most: int = SHOWN) -> list[Happened]:
    """Return what happened, newest first, of changes that come oldest first."""
    found: list[Happened] = []
    last: tuple[Any, ...] | None = None
    for one in reversed(changes):
        group = (one["request"], one["change"], one["actor"])
        if group == last and one["request"] is not None:
            found[-1] = found[-1]._replace(times=found[-1].times + 1)
            continue
        if len(found) == most:
            break
        last = group
        found.append(
            Happened(
                at=one["at"],
                actor=one["actor"] or "the server",
                word=WORDS.get(one["change"], one["change"]),
                times=1,
                id=one["memory_id"],
            )
        )
    return found

"""Names that look alike, which may be one entity. A person or an agent decides; nothing here merges."""

from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.model.terms import ProposalReason

SHORTEST = 3  # characters of a name that is compared
BUCKET = 60  # names of one bucket that are compared with each other


class Named(NamedTuple):
    """A name with the number of memories that mention it."""

    id: int
    norm: str
    mentions: int


class Pair(NamedTuple):
    """Two names that look alike, the one that is mentioned more first."""

    first: Named
    second: Named
    reason: ProposalReason


def alike(names: Sequence[Named]) -> list[Pair]:
    """Return pairs of names that look alike: those with the same letters first, then those that are mentioned most.

    The names come with the most mentioned first. Case does not count. Names that differ in their digits are never
    alike.
    """
    found: dict[tuple[int, int], Pair] = {}
    buckets: dict[str, list[Named]] = {}
    for one in names:
        if len(one.norm) < SHORTEST or any(part.isdigit() for part in one.norm):
            continue
        norm = one.norm.casefold()
        for key in _keys(norm):
            bucket = buckets.setdefault(key, [])
            for other in bucket:
                reason = _reason(other.norm.casefold(), norm)
                if reason is not None:
                    found.setdefault((other.id, one.id), Pair(other, one, reason))
            if len(bucket) < BUCKET:
                bucket.append(one)
    return sorted(found.values(), key=_order)


def _order(pair: Pair) -> tuple[bool, int, int, str, str]:
    both = pair.first.mentions, pair.second.mentions
    same = pair.first.norm.casefold() == pair.second.norm.casefold()
    return not same, -min(both), -max(both), pair.first.norm, pair.second.norm


def _keys(norm: str) -> set[str]:
    """Return the buckets of a name: its words, their beginnings, and the name without each of its characters."""
    words = norm.split(" ")
    keys = {f"w{word}" for word in words if len(word) >= SHORTEST}
    keys |= {f"p{norm[:SHORTEST]}"} if len(words) == 1 else set()
    if len(norm) > 4:
        keys |= {f"d{norm[:place]}{norm[place + 1 :]}" for place in range(len(norm))} | {f"d{norm}"}
    return keys


def _reason(one: str, other: str) -> ProposalReason | None:
    if one == other:
        return "spelling"
    short, long = sorted((one, other), key=len)
    words = long.split(" ")
    if " " not in short and len(words) > 1 and short in (words[0], words[-1]):
        return "name_part"
    if len(words) == 1 and long.startswith(short) and len(short) >= SHORTEST:
        return "prefix"
    if len(short) > 4 and len(long) - len(short) <= 1 and _one_edit(short, long):
        return "spelling"
    return None


def _one_edit(short: str, long: str) -> bool:
    """Return whether one character was changed, added, or exchanged with the next."""
    place = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[place:] == long[place + 1 :]
    return short[place + 1 :] == long[place + 1 :] or (
        short[place : place + 2] == long[place : place + 2][::-1] and short[place + 2 :] == long[place + 2 :]
    )

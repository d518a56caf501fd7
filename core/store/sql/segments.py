"""The SQL of packed segments: what the index of a space reads at its start, in few large rows instead of many small."""

from collections.abc import Sequence

from muisti.core.store.database import Statement
from muisti.core.store.sql import overwriting, spaces, tables
from muisti.core.store.sql.spaces import SpaceRow

FORMAT = 1  # of the bytes; others are passed over

_OWN = "space_id = ? AND generation_id = ? AND format = ?"
_WITH_ERASED = (
    "FROM segments s WHERE s.space_id = ? AND s.format = ? AND EXISTS (SELECT 1 FROM erased e "
    "WHERE e.space_id = s.space_id AND e.seq > s.seen AND e.born > s.first AND e.born <= s.last)"
)


def chain(space: SpaceRow, generation: int | None) -> Statement:
    """(first, passages, bytes) of each segment, in order."""
    return Statement(
        f"SELECT first, passages, length(data) FROM segments WHERE {_OWN} ORDER BY first", _own(space, generation)
    )


def data(space: SpaceRow, generation: int | None, firsts: Sequence[int]) -> Statement:
    """(first, last, seen, data) of the segments that begin at `firsts`, in order."""
    marks = ",".join("?" * len(firsts))
    return Statement(
        f"SELECT first, last, seen, data FROM segments WHERE {_OWN} AND first IN ({marks}) ORDER BY first",
        (*_own(space, generation), *firsts),
    )


def last(space: SpaceRow, generation: int | None) -> Statement:
    """The birth up to which all is packed; null when nothing is."""
    return Statement(f"SELECT max(last) FROM segments WHERE {_OWN}", _own(space, generation))


def add(
    space: SpaceRow, generation: int | None, span: tuple[int, int], seen: int, passages: int, packed: bytes
) -> list[Statement]:
    """Put a segment behind the last one: `span` is its `first` and `last`.

    Nothing happens when another has come there, when vectors came to older versions after `seen`, or some were
    erased, or when deaths after that may have been.
    """
    own = _own(space, generation)
    return [
        spaces.guard(space),
        Statement(
            "INSERT INTO segments SELECT ?, ?, ?, ?, ?, ?, ?, ? "
            f"WHERE (SELECT coalesce(max(last), 0) FROM segments WHERE {_OWN}) = ? AND NOT EXISTS "
            "(SELECT 1 FROM changes WHERE space_id = ? AND seq > ? AND kind IN ('reembedded', 'erased')) "
            "AND (SELECT kept_from FROM spaces WHERE id = ?) <= ?",
            (*own, *span, seen, passages, packed, *own, span[0], space.id, seen, space.id, seen),
        ),
    ]


def forget(space: SpaceRow) -> Statement:
    """Give up all segments of a space."""
    return Statement("DELETE FROM segments WHERE space_id = ?", (space.id,))


def with_erased(space: SpaceRow) -> Statement:
    """(generation id, first, seen, data) of a segment that holds versions which were erased after it was made."""
    return Statement(f"SELECT s.generation_id, s.first, s.seen, s.data {_WITH_ERASED} LIMIT 1", (space.id, FORMAT))


def count_erased(space: SpaceRow) -> Statement:
    """How many such there are."""
    return Statement(f"SELECT count(*) {_WITH_ERASED}", (space.id, FORMAT))


def overwrite(space: SpaceRow, generation: int, first: int, was_seen: int) -> list[Statement]:
    """Write over a segment that is about to be rewritten, in the same transaction."""
    own = (space.id, generation, FORMAT, first, was_seen)
    return overwriting.over(tables.named("segments"), f"{_OWN} AND first = ? AND seen = ?", own)


def rewrite(
    space: SpaceRow, generation: int, first: int, was_seen: int, seen: int, passages: int, packed: bytes
) -> Statement:
    """Put another content in place of that of a segment, unless somebody else has."""
    return Statement(
        f"UPDATE segments SET seen = ?, passages = ?, data = ? WHERE {_OWN} AND first = ? AND seen = ?",
        (seen, passages, packed, space.id, generation, FORMAT, first, was_seen),
    )


def _own(space: SpaceRow, generation: int | None) -> tuple[int, int, int]:
    return space.id, generation or 0, FORMAT

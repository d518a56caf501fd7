"""The SQL of segments: the rows of an index packed into a few large ones, which load faster than many small ones."""

from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.store.database import Statement
from muisti.core.store.sql import overwriting, spaces, tables
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN

FORMAT = 1  # version of the packed bytes; segments of other formats are ignored
SECOND = 1_001  # format of packed vectors of a second model


class Kept(NamedTuple):
    """Names a segment of a space that is to be rewritten; `seen` is the change that it was packed after."""

    space: int
    generation: int
    format: int
    first: int
    seen: int

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(self)


_OWN = "space_id = ? AND generation_id = ? AND format = ?"
_WITH_ERASED = (
    "FROM segments s WHERE s.space_id = ? AND s.format IN (?, ?) AND EXISTS (SELECT 1 FROM erased e "
    "WHERE e.space_id = s.space_id AND e.seq > s.seen AND e.born > s.first AND e.born <= s.last)"
)


def chain(space: SpaceRow, generation: int | None) -> Statement:
    """Select (first, passages, bytes) of each segment, in order."""
    return Statement(
        f"SELECT first, passages, length(data) FROM segments WHERE {_OWN} ORDER BY first", _own(space, generation)
    )


def data(space: SpaceRow, generation: int | None, firsts: Sequence[int]) -> Statement:
    """Select (first, last, seen, data) of the segments that begin at `firsts`, in order."""
    marks = ",".join("?" * len(firsts))
    return Statement(
        f"SELECT first, last, seen, data FROM segments WHERE {_OWN} AND first IN ({marks}) ORDER BY first",
        (*_own(space, generation), *firsts),
    )


def last(space: SpaceRow, generation: int | None) -> Statement:
    """Select the highest `born` of the packed versions; null when there is no segment."""
    return Statement(f"SELECT max(last) FROM segments WHERE {_OWN}", _own(space, generation))


def add(
    space: SpaceRow, generation: int | None, span: tuple[int, int], seen: int, passages: int, packed: bytes
) -> list[Statement]:
    """Append a segment: `span` is its `first` and `last`.

    Nothing happens when another process has appended one, or the model is no longer that of the space. The same holds
    when a change after `seen` embedded or erased older versions, or when ends of versions after `seen` may have been
    erased.
    """
    own = _own(space, generation)
    return [
        spaces.guard(space),
        Statement(
            "INSERT INTO segments SELECT ?, ?, ?, ?, ?, ?, ?, ? "
            f"WHERE (SELECT coalesce(max(last), 0) FROM segments WHERE {_OWN}) = ? AND NOT EXISTS "
            "(SELECT 1 FROM changes WHERE space_id = ? AND seq > ? AND kind IN ('reembedded', 'erased')) "
            "AND EXISTS (SELECT 1 FROM spaces WHERE id = ? AND kept_from <= ? AND ? IN (generation_id, 0))",
            (*own, *span, seen, passages, packed, *own, span[0], space.id, seen, space.id, seen, own[1]),
        ),
    ]


def forget(space: SpaceRow) -> Statement:
    """Delete all segments of a space."""
    return Statement("DELETE FROM segments WHERE space_id = ?", (space.id,))


def with_erased(space: SpaceRow) -> Statement:
    """Select (generation id, format, first, seen, data) of a segment with versions erased after it was packed."""
    return Statement(
        f"SELECT s.generation_id, s.format, s.first, s.seen, s.data {_WITH_ERASED} LIMIT 1", (space.id, FORMAT, SECOND)
    )


def count_erased(space: SpaceRow) -> Statement:
    """Count the segments with versions that were erased after they were packed."""
    return Statement(f"SELECT count(*) {_WITH_ERASED}", (space.id, FORMAT, SECOND))


def seconds(space: SpaceRow) -> Statement:
    """Select (generation id, first) of each segment with vectors of a second model, of all that the space has had."""
    return Statement(
        "SELECT generation_id, first FROM segments WHERE space_id = ? AND format = ? ORDER BY 1, 2", (space.id, SECOND)
    )


def second_chain(space: SpaceRow) -> Statement:
    """Select (first, bytes) of each segment with vectors of the second model, in order."""
    return Statement(f"SELECT first, length(data) FROM segments WHERE {_OWN} ORDER BY first", _second(space))


def second_data(space: SpaceRow, firsts: Sequence[int]) -> Statement:
    """Select the data of the segments with vectors of the second model that begin at `firsts`."""
    marks = ",".join("?" * len(firsts))
    return Statement(
        f"SELECT data FROM segments WHERE {_OWN} AND first IN ({marks}) ORDER BY first", (*_second(space), *firsts)
    )


def last_second(space: SpaceRow) -> Statement:
    """Select the highest `born` of the versions whose second vectors are packed; null when there is no segment."""
    return Statement(f"SELECT max(last) FROM segments WHERE {_OWN}", _second(space))


def second_vectors(space: SpaceRow, after: int, upto: int, versions: int) -> Statement:
    """Select (born, version id, number, vector) by the second model, of current versions after a change up to another.

    At most `versions` versions are selected, the oldest first. One without vectors has a row of nulls.
    """
    return Statement(
        "SELECT v.born, v.id, e.number, e.vector FROM (SELECT id, born FROM versions v WHERE space_id = ? AND born > ? "
        f"AND born <= ? AND died IS NULL AND status <> 'superseded' AND {PLAIN} ORDER BY born LIMIT ?) v "
        "LEFT JOIN embeddings e ON e.version_id = v.id AND e.generation_id = ? ORDER BY v.born, e.number",
        (space.id, after, upto, versions, space.second),
    )


def add_second(space: SpaceRow, span: tuple[int, int], seen: int, passages: int, packed: bytes) -> list[Statement]:
    """Append a segment of vectors by the second model: `span` is its `first` and `last`.

    Nothing happens when another process has appended one, when the space has another second model, or when a change
    after `seen` erased versions.
    """
    own = _second(space)
    return [
        spaces.guard(space),
        Statement(
            "INSERT INTO segments SELECT ?, ?, ?, ?, ?, ?, ?, ? "
            f"WHERE (SELECT coalesce(max(last), 0) FROM segments WHERE {_OWN}) = ? AND NOT EXISTS "
            "(SELECT 1 FROM changes WHERE space_id = ? AND seq > ? AND kind = 'erased') "
            "AND EXISTS (SELECT 1 FROM spaces WHERE id = ? AND kept_from <= ? AND second_generation_id = ?)",
            (*own, *span, seen, passages, packed, *own, span[0], space.id, seen, space.id, seen, own[1]),
        ),
    ]


def overwrite(one: Kept) -> list[Statement]:
    """Overwrite a segment that the same transaction rewrites."""
    return overwriting.over(tables.named("segments"), f"{_OWN} AND first = ? AND seen = ?", one.key)


def rewrite(one: Kept, seen: int, passages: int, packed: bytes) -> Statement:
    """Replace the content of a segment, unless another process has."""
    return Statement(
        f"UPDATE segments SET seen = ?, passages = ?, data = ? WHERE {_OWN} AND first = ? AND seen = ?",
        (seen, passages, packed, *one.key),
    )


def _own(space: SpaceRow, generation: int | None) -> tuple[int, int, int]:
    return space.id, generation or 0, FORMAT


def _second(space: SpaceRow) -> tuple[int, int, int]:
    return space.id, space.second or 0, SECOND

"""Counts of a space, now or at an earlier point: categories, tags, sizes; and its map."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.embedding.vectors import restored
from muisti.core.model.choices import PLACED_MAX
from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Count, Counts, Quota, Stats
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import IMPORTANCE, Seq
from muisti.core.query.filters import Filter
from muisti.core.query.points import Point
from muisti.core.read.listing import condition_of
from muisti.core.store.database import Rows, Scalar, Statement
from muisti.core.store.sql import quotas
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN, UNEXPIRED, lived
from muisti.core.text.terms import fold

EVERY = 2**63 - 1  # changes
DAYS = 30  # whose changes are counted by day


def categories(space: SpaceRow, point: Point, category: str | None = None) -> Statement:
    here, args = _here(space, point, category)
    return Statement(
        f"SELECT min(v.category), count(*) FROM versions v WHERE {here} AND v.status = 'active' "
        "AND v.category IS NOT NULL GROUP BY v.category_folded ORDER BY count(*) DESC, v.category_folded",
        args,
    )


def tags(space: SpaceRow, point: Point, category: str | None = None) -> Statement:
    here, args = _here(space, point, category)
    return Statement(
        f"SELECT min(t.spelling), count(*) FROM versions v JOIN tags t ON t.version_id = v.id "
        f"WHERE {here} AND v.status = 'active' GROUP BY t.tag ORDER BY count(*) DESC, t.tag",
        args,
    )


def counts(space: SpaceRow, rows: Rows) -> Counts:
    items = tuple(Count(name=cast(str, name), count=cast(int, number)) for name, number in rows)
    return Counts(items=items, seq=space.seq)


def sizes(space: SpaceRow, point: Point, default: Quota, category: str | None = None) -> list[Statement]:
    """Return the statements that `stats` reads, in its order."""
    here, args = _here(space, point, category)
    within, named = _within(category)
    then, numbers = lived(point)
    last = EVERY if point.number is None else point.number
    changed = "" if category is None else "JOIN versions v ON v.memory_id = c.memory_id AND v.version = c.version "
    return [
        Statement(
            f"SELECT count(*), coalesce(sum(v.tokens), 0), coalesce(sum(length(CAST(v.content AS BLOB))), 0) "
            f"FROM versions v WHERE {here}",
            args,
        ),
        Statement(
            f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND v.born <= ?{within}", (space.id, last, *named)
        ),
        Statement(f"SELECT count(*) FROM versions v JOIN passages p ON p.version_id = v.id WHERE {here}", args),
        Statement(
            f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND {then} AND v.status <> 'superseded' "
            f"AND {PLAIN} AND v.expires_at <= ?{within}",
            (space.id, *numbers, point.time, *named),
        ),
        Statement(
            "SELECT count(*), coalesce(sum(c.committed_at > ?), 0), max(c.committed_at) "
            f"FROM changes c {changed}WHERE c.space_id = ? AND c.seq <= ?{within}",
            (point.time - DAY_US, space.id, last, *named),
        ),
        Statement(
            f"SELECT v.kind, v.type, v.status, v.importance, count(*) FROM versions v WHERE {here} GROUP BY 1, 2, 3, 4",
            args,
        ),
        Statement(
            f"SELECT c.committed_at / {DAY_US} AS day, c.kind, count(*) FROM changes c {changed}"
            f"WHERE c.space_id = ? AND c.committed_at >= ? AND c.seq <= ?{within} GROUP BY 1, 2 ORDER BY 1, 2",
            (space.id, (point.time // DAY_US - DAYS + 1) * DAY_US, last, *named),
        ),
        quotas.usage(space, default),
    ]


def _here(space: SpaceRow, point: Point, category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    """Return a condition for memories that were current at a point, optionally of one category.

    Objects of conversations are left out.
    """
    within, named = _within(category)
    then, numbers = lived(point)
    where = f"v.space_id = ? AND {then} AND v.status <> 'superseded' AND {PLAIN} AND {UNEXPIRED}{within}"
    return where, (space.id, *numbers, point.time, *named)


def _within(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    return ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))


def stats(space: SpaceRow, results: Sequence[Rows], *, whole: bool) -> Stats:
    """Return the statistics from the results of `sizes`. `whole`: the caller sees the whole space, and so its quota."""
    living, versions, passages, expired, changes, groups, days, usage = results
    last = cast(int | None, changes[0][2])
    return Stats(
        memories=cast(int, living[0][0]),
        tokens=cast(int, living[0][1]),
        content_bytes=cast(int, living[0][2]),
        versions=cast(int, versions[0][0]),
        passages=cast(int, passages[0][0]),
        expired=cast(int, expired[0][0]),
        changes=cast(int, changes[0][0]),
        changes_last_day=cast(int, changes[0][1]),
        by=_by(groups),
        by_day=_by_day(days),
        last_change_at=None if last is None else from_us(last),
        usage=quotas.used(usage[0]) if whole else None,
        seq=space.seq,
    )


def _by(groups: Rows) -> Mapping[str, Mapping[str, int]]:
    by: dict[str, dict[str, int]] = {"kind": {}, "type": {}, "status": {}, "importance": {}}
    for kind, type_, status, importance, number in groups:
        level = IMPORTANCE[cast(int, importance)]
        for name, value in (("kind", kind), ("type", type_), ("status", status), ("importance", level)):
            counted = by[name]
            counted[str(value)] = counted.get(str(value), 0) + cast(int, number)
    return by


def _by_day(days: Rows) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for day, kind, number in days:
        date = from_us(cast(int, day) * DAY_US).date().isoformat()
        found.setdefault(date, {})[str(kind)] = cast(int, number)
    return found


# A map of a space: its newest memories in two dimensions, close together where their meanings are


TITLE = 120  # characters of a memory's text
Floats = npt.NDArray[np.float32]


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A memory on a map of its space: the beginning of its text, and its place, each coordinate between -1 and 1."""

    id: str
    title: str
    category: str | None
    kind: str
    x: float
    y: float


class Mapped(msgspec.Struct, frozen=True, kw_only=True):
    """Memories of a space in two dimensions, newest first; `kept` is the share of their variance that is seen."""

    points: tuple[Placed, ...]
    kept: float
    seq: Seq


def vectors_of(space: SpaceRow, filter: Filter | None, limit: int, point: Point) -> Statement:
    """Select the newest memories as of a point with the vector of the first passage of each.

    Raises:
        InvalidInput: the limit is out of range.
    """
    if not 1 <= limit <= PLACED_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {PLACED_MAX:,}")
    condition, args = condition_of(filter)
    then, numbers = lived(point)
    return Statement(
        f"SELECT v.memory_id, substr(v.content, 1, {TITLE}), v.category, v.kind, e.vector FROM versions v "
        "JOIN embeddings e ON e.version_id = v.id AND e.number = 0 AND e.generation_id = ? "
        f"WHERE v.space_id = ? AND {then} AND {PLAIN} AND {UNEXPIRED} AND ({condition}) "
        "ORDER BY v.created_at DESC, v.memory_id DESC LIMIT ?",
        (space.generation, space.id, *numbers, point.time, *args, limit),
    )


def mapped(space: SpaceRow, rows: Rows) -> Mapped:
    """Return the map of what `vectors_of` has read."""
    places, kept = flat(restored([cast(bytes, row[4]) for row in rows], space.dimensions))
    points = tuple(
        Placed(
            id=id_text(cast(bytes, id_)),
            title=" ".join(cast(str, text).split()),
            category=cast(str | None, category),
            kind=cast(str, kind),
            x=round(float(x), 4),
            y=round(float(y), 4),
        )
        for (id_, text, category, kind, _), (x, y) in zip(rows, places, strict=True)
    )
    return Mapped(points=points, kept=round(kept, 4), seq=space.seq)


def flat(vectors: Floats) -> tuple[npt.NDArray[np.float64], float]:
    """Return places between -1 and 1, shape (n, 2), and the share of the variance that they keep.

    The axes are the two principal components; each points to where its largest weight is positive, so the same vectors
    have the same places. Pearson, "On lines and planes of closest fit", 1901.
    """
    if len(vectors) < 3:
        return np.zeros((len(vectors), 2)), 1.0
    centred = vectors.astype(np.float64) - vectors.mean(0, dtype=np.float64)
    values, axes = np.linalg.eigh(centred.T @ centred)
    main = axes[:, [-1, -2]]
    main *= np.sign(main[np.abs(main).argmax(0), [0, 1]])
    places = centred @ main
    return places / max(np.abs(places).max(), 1e-9), float(values[-2:].sum() / max(values.sum(), 1e-9))

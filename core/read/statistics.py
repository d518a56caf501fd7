"""Counts of a space, now or at an earlier point: categories, tags, authors, sizes; and its map.

A count of the present is that of an earlier change with what has come and gone since, so it reads no more than that.
Memories that expire are few, and are counted each time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

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

DAYS = 30  # whose changes are counted by day


class Counting(NamedTuple):
    """A count of current memories: the SQL of its keys, and of what is summed up for each."""

    key: str
    sums: str = "count(*)"
    join: str = ""
    where: str = ""


SHAPES = Counting(
    "v.kind || ' ' || v.type || ' ' || v.status || ' ' || v.importance",
    "count(*), sum(v.tokens), sum(octet_length(v.content)), "
    "sum((SELECT count(*) FROM passages p WHERE p.version_id = v.id))",
)
CATEGORIES = Counting("v.category", where=" AND v.status = 'active' AND v.category IS NOT NULL")
TAGS = Counting("t.spelling", join="JOIN tags t ON t.version_id = v.id ", where=" AND v.status = 'active'")
AUTHORS = Counting("v.author", where=" AND v.status = 'active' AND v.author IS NOT NULL")
Sums = Mapping[str, Sequence[int]]  # of each key


def counted(
    space: SpaceRow, what: Counting, point: Point, category: str | None = None, since: int | None = None
) -> list[Statement]:
    """Return the statements that `total` reads, of what was current at a point, optionally of one category.

    `since` is a change that is counted already. Objects of conversations are left out.
    """
    within, named = _within(category)
    mine = f"v.status <> 'superseded' AND {PLAIN}{what.where}{within}"

    def grouped(where: str, *args: Scalar) -> Statement:
        sql = f"SELECT {what.key}, {what.sums} FROM versions v {what.join}WHERE v.space_id = ? AND {where} AND {mine}"
        return Statement(f"{sql} GROUP BY 1", (space.id, *args, *named))

    then, numbers = lived(point)
    if point.number is not None:
        return [grouped(f"{then} AND {UNEXPIRED}", *numbers, point.time)]
    expiring = grouped("v.died IS NULL AND v.expires_at > ?", point.time)
    if since is None:
        return [expiring, grouped("v.died IS NULL AND v.expires_at IS NULL")]
    return [
        expiring,
        grouped("v.died IS NULL AND v.expires_at IS NULL AND v.born > ?", since),
        grouped("v.died > ? AND v.expires_at IS NULL AND v.born <= ?", since, since),
    ]


def added(before: Sums, rows: Iterable[Sequence[Scalar]], sign: int = 1) -> Sums:
    """Return sums with others added to them, without keys of nothing.

    >>> added({"a": (2, 7)}, [("a", 1, 3), ("b", 1, 1)]), added({"a": (1,)}, [("a", 1)], -1)
    ({'a': (3, 10), 'b': (1, 1)}, {})
    """
    found = dict(before)
    for key, *sums in cast(Iterable[tuple[str, int]], rows):
        found[key] = tuple(
            one + sign * other for one, other in zip(found.get(key) or [0] * len(sums), sums, strict=True)
        )
    return {key: sums for key, sums in found.items() if sums[0]}


def names(space: SpaceRow, sums: Sums) -> Counts:
    """Return how many memories have each name, whatever its case, the most frequent first."""
    found: dict[str, tuple[str, int]] = {}
    for name, (number,) in sums.items():
        spelled, more = found.get(folded := fold(name), (name, 0))
        found[folded] = (min(spelled, name), number + more)
    ordered = sorted(found.items(), key=lambda one: (-one[1][1], one[0]))
    return Counts(items=tuple(Count(name=name, count=number) for _, (name, number) in ordered), seq=space.seq)


Days = Mapping[tuple[int, str], int]  # changes of each day and kind


def history(
    space: SpaceRow, point: Point, default: Quota, category: str | None = None, since: int | None = None
) -> list[Statement]:
    """Return the statements that `stats` reads, in its order; days are those of changes after `since`."""
    within, named = _within(category)
    then, numbers = lived(point)
    changed = "" if category is None else "JOIN versions v ON v.memory_id = c.memory_id AND v.version = c.version "
    of_changes = f"{changed}WHERE c.space_id = ?{within}"
    args = (space.id, *named)
    seen, born, upto = "", "", ()
    if point.number is not None:  # +: by time, whose index has all that is read
        seen, born, upto = " AND +c.seq <= ?", " AND v.born <= ?", (point.number,)
    return [
        Statement(f"SELECT count(*) FROM versions v WHERE v.space_id = ?{within}{born}", (*args, *upto)),
        Statement(
            f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND {then} AND v.status <> 'superseded' "
            f"AND {PLAIN} AND v.expires_at <= ?{within}",
            (space.id, *numbers, point.time, *named),
        ),
        Statement(f"SELECT count(*) FROM changes c {of_changes}{seen}", (*args, *upto)),
        Statement(f"SELECT max(c.committed_at) FROM changes c {of_changes}{seen}", (*args, *upto)),
        Statement(
            f"SELECT count(*) FROM changes c {of_changes}{seen} AND c.committed_at > ?",
            (*args, *upto, point.time - DAY_US),
        ),
        Statement(
            f"SELECT c.committed_at / {DAY_US} AS day, c.kind, count(*) FROM changes c {of_changes}{seen} "
            f"AND c.committed_at >= ?{'' if since is None else ' AND c.seq > ?'} GROUP BY 1, 2 ORDER BY 1, 2",
            (*args, *upto, _first_day(point) * DAY_US, *(() if since is None else (since,))),
        ),
        quotas.usage(space, default),
    ]


def _first_day(point: Point) -> int:
    return point.time // DAY_US - DAYS + 1


def _within(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    return ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))


def days(point: Point, before: Days, results: Sequence[Rows]) -> Days:
    """Return the changes of the last days: those counted `before`, and those of `history`."""
    found = Counter({day: number for day, number in before.items() if day[0] >= _first_day(point)})
    found.update({(cast(int, day), str(kind)): cast(int, number) for day, kind, number in results[5]})
    return dict(sorted(found.items()))


def stats(space: SpaceRow, shapes: Sums, by_day: Days, results: Sequence[Rows], *, whole: bool) -> Stats:
    """Return the statistics; `results` are those of `history`. `whole`: of the whole space, and so with its quota."""
    versions, expired, changes, last, last_day, _, usage = results
    last_at = cast(int | None, last[0][0])
    memories, tokens, size, passages = (sum(each) for each in zip(*shapes.values(), strict=True)) if shapes else [0] * 4
    return Stats(
        memories=memories,
        tokens=tokens,
        content_bytes=size,
        versions=cast(int, versions[0][0]),
        passages=passages,
        expired=cast(int, expired[0][0]),
        changes=cast(int, changes[0][0]),
        changes_last_day=cast(int, last_day[0][0]),
        by=_by(shapes),
        by_day=_by_day(by_day),
        last_change_at=None if last_at is None else from_us(last_at),
        usage=quotas.used(usage[0]) if whole else None,
        seq=space.seq,
    )


def _by(shapes: Sums) -> Mapping[str, Mapping[str, int]]:
    by: dict[str, dict[str, int]] = {"kind": {}, "type": {}, "status": {}, "importance": {}}
    for shape, (number, *_) in sorted(shapes.items()):
        *words, level = shape.split()
        for name, value in zip(by, (*words, IMPORTANCE[int(level)]), strict=True):
            by[name][value] = by[name].get(value, 0) + number
    return by


def _by_day(days: Days) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (day, kind), number in days.items():
        found.setdefault(from_us(day * DAY_US).date().isoformat(), {})[kind] = number
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

"""A map of a space: its newest memories in two dimensions, close together where their meanings are."""

from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.embedding.vectors import restored
from muisti.core.model.choices import PLACED_MAX
from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_text
from muisti.core.model.values import Seq
from muisti.core.query.filters import Filter
from muisti.core.query.points import Point
from muisti.core.read.listing import condition_of
from muisti.core.store.database import Rows, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN, UNEXPIRED, lived

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

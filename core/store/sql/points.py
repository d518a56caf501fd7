"""The SQL of points in a space's history."""

from muisti.core.query.points import AsOf, Point
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow


def change(space: SpaceRow, as_of: AsOf) -> Statement:
    """Select (seq, committed_at) of the last change up to a point; no row when there was none."""
    if as_of.time is None:
        where, value, order = "seq <= ?", as_of.number, "seq DESC"
    else:
        where, value, order = "committed_at <= ?", as_of.time, "committed_at DESC, seq DESC"
    return Statement(
        f"SELECT seq, committed_at FROM changes WHERE space_id = ? AND {where} ORDER BY {order} LIMIT 1",
        (space.id, value),
    )


def committed(space: SpaceRow, number: int) -> Statement:
    """Select the time when a change was committed."""
    return Statement("SELECT committed_at FROM changes WHERE space_id = ? AND seq = ?", (space.id, number))


def lived(point: Point) -> tuple[str, tuple[Scalar, ...]]:
    """Return the condition that a version `v` was open at a point, expired or not."""
    if point.number is None:
        return "v.died IS NULL", ()
    return "v.born <= ? AND (v.died IS NULL OR v.died > ?)", (point.number, point.number)


def said(row: str, point: Point) -> str:
    """Return the condition that an exchange is in the transcript of its conversation: superseded or not.

    What is recalled as true changes nothing of what was said. A superseded turn goes only when another has its number.
    """
    then = "t.died IS NULL"
    if point.number is not None:
        then = f"t.born <= {point.number} AND (t.died IS NULL OR t.died > {point.number})"
    return (
        f"({row}.status <> 'superseded' OR NOT EXISTS (SELECT 1 FROM versions t WHERE t.space_id = {row}.space_id "
        f"AND t.conversation = {row}.conversation AND t.kind = 'exchange' AND t.turn = {row}.turn "
        f"AND t.category_folded IS {row}.category_folded AND t.memory_id <> {row}.memory_id "
        f"AND (t.status <> 'superseded' OR t.id > {row}.id) AND {then}))"
    )

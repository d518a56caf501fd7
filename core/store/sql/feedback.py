"""The SQL of feedback: the verdicts of callers on memories, one for each caller and memory."""

from muisti.core.model.terms import Verdict
from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow

VALUE: dict[Verdict | None, int] = {"useful": 1, "not_useful": -1, None: 0}


def give(space: SpaceRow, memory_id: bytes, actor: str, verdict: Verdict | None, now: int) -> list[Statement]:
    """Store a caller's verdict in place of an earlier one; refuse with `no_memory` when the memory is gone.

    Repeating a verdict changes nothing.
    """
    value = VALUE[verdict]
    said = (space.id, memory_id, actor)
    return [
        Statement(
            f"{refuse(Refusal.NO_MEMORY)} WHERE NOT EXISTS "
            "(SELECT 1 FROM versions WHERE memory_id = ? AND space_id = ? AND died IS NULL)",
            (memory_id, space.id),
        ),
        Statement(
            "UPDATE spaces SET feedback = feedback + 1 WHERE id = ? AND ? <> coalesce("
            "(SELECT verdict FROM feedback WHERE space_id = ? AND memory_id = ? AND actor = ?), 0)",
            (space.id, value, *said),
        ),
        Statement(
            "INSERT INTO feedback (space_id, memory_id, actor, verdict, number, given_at) "
            "SELECT id, ?, ?, ?, feedback, ? FROM spaces WHERE id = ? AND ? <> coalesce("
            "(SELECT verdict FROM feedback WHERE space_id = ? AND memory_id = ? AND actor = ?), 0) "
            "ON CONFLICT (space_id, memory_id, actor) DO UPDATE "
            "SET verdict = excluded.verdict, number = excluded.number, given_at = excluded.given_at",
            (memory_id, actor, value, now, space.id, value, *said),
        ),
    ]


def given_after(space: SpaceRow, number: int) -> list[Statement]:
    """Select the number of verdicts of the space; then (memory id, useful, not useful) of memories with a newer one."""
    return [
        Statement("SELECT feedback FROM spaces WHERE id = ?", (space.id,)),
        Statement(
            "SELECT memory_id, sum(verdict = 1), sum(verdict = -1) FROM feedback WHERE space_id = ? AND memory_id IN "
            "(SELECT memory_id FROM feedback WHERE space_id = ? AND number > ?) GROUP BY memory_id",
            (space.id, space.id, number),
        ),
    ]

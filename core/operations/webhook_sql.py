"""The SQL of webhooks: the receivers of a space's changes, their progress, and changes that could not be delivered."""

import json
from typing import Any

from muisti.core.model.operations import Kept
from muisti.core.store.database import Refusal, Row, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow

LETTERS_MAX = 100  # dead letters that are kept of a webhook, the newest

_COLUMNS = (
    "w.id, w.url, w.secret, w.kinds, w.show, w.made_at, w.actor, w.epoch, w.cursor, w.attempts, w.error, w.told_at, "
    "w.stopped"
)
_DUE = "w.stopped IS NULL AND w.next_at <= ? AND (w.cursor < s.seq OR w.epoch <> s.epoch)"


def kept(row: Row) -> Kept:
    """Read a row of `all_of` or `due`."""
    names = ("id", "url", "secret", "kinds", "show", "made_at", "actor", "epoch", "cursor", "attempts", "error",
             "told_at", "stopped")  # fmt: skip
    values: dict[str, Any] = dict(zip(names, row, strict=True))
    values["kinds"] = tuple(json.loads(values["kinds"]))
    return Kept(**values)


def insert(space: SpaceRow, new: Kept, most: int) -> list[Statement]:
    """Add a webhook; refuse with `incomplete` when the space has `most` webhooks."""
    return [
        Statement(
            f"{refuse(Refusal.INCOMPLETE)} WHERE (SELECT count(*) FROM webhooks WHERE space_id = ?) >= ?",
            (space.id, most),
        ),
        Statement(
            "INSERT INTO webhooks (id, space_id, url, secret, kinds, show, made_at, actor, epoch, cursor) "
            "SELECT ?, id, ?, ?, ?, ?, ?, ?, epoch, ? FROM spaces WHERE id = ?",
            (
                new.id,
                new.url,
                new.secret,
                json.dumps(new.kinds),
                new.show,
                new.made_at,
                new.actor,
                new.cursor,
                space.id,
            ),
        ),
    ]


def all_of(space: SpaceRow) -> list[Statement]:
    """Select the webhooks of a space, and (webhook, first, last, attempts, error, at) of dead letters, newest first."""
    return [
        Statement(f"SELECT {_COLUMNS} FROM webhooks w WHERE w.space_id = ? ORDER BY w.id", (space.id,)),
        Statement(
            "SELECT d.webhook_id, d.first, d.last, d.attempts, d.error, d.at FROM dead_letters d "
            "JOIN webhooks w ON w.id = d.webhook_id WHERE w.space_id = ? ORDER BY d.id DESC",
            (space.id,),
        ),
    ]


def by_id(id_: str) -> Statement:
    return Statement(f"SELECT {_COLUMNS} FROM webhooks w WHERE w.id = ?", (id_,))


def due(space: SpaceRow, now: int) -> Statement:
    """Select the webhooks of a space with changes to deliver now."""
    return Statement(
        f"SELECT {_COLUMNS} FROM webhooks w JOIN spaces s ON s.id = w.space_id WHERE s.id = ? AND {_DUE}",
        (space.id, now),
    )


def spaces_with_due(now: int) -> Statement:
    """Select the names of the spaces that have webhooks with changes to deliver now."""
    return Statement(f"SELECT DISTINCT s.name FROM webhooks w JOIN spaces s ON s.id = w.space_id WHERE {_DUE}", (now,))


def delete(space: SpaceRow, id_: str) -> list[Statement]:
    """Delete a webhook; refuse with `no_memory` when it does not exist."""
    return [_refuse_missing(space, id_), Statement("DELETE FROM webhooks WHERE id = ?", (id_,))]


def go_back(space: SpaceRow, id_: str, since: int | None) -> list[Statement]:
    """Deliver changes after `since`, or else the dead letters, again. Refuse with `no_memory` without a webhook."""
    laid_aside = "(SELECT min(first) - 1 FROM dead_letters WHERE webhook_id = webhooks.id)"
    return [
        _refuse_missing(space, id_),
        Statement(
            "UPDATE webhooks SET attempts = 0, next_at = 0, stopped = NULL, error = NULL, "
            f"cursor = min(cursor, coalesce(?, {laid_aside}, cursor)) WHERE id = ?",
            (since, id_),
        ),
        Statement("DELETE FROM dead_letters WHERE webhook_id = ?", (id_,)),
    ]


def reached(one: Kept, cursor: int, now: int) -> Statement:
    """Record that all changes up to `cursor` were delivered."""
    return Statement(
        "UPDATE webhooks SET cursor = ?, attempts = 0, next_at = 0, error = NULL, told_at = ? "
        "WHERE id = ? AND cursor = ? AND epoch = ?",
        (cursor, now, one.id, one.cursor, one.epoch),
    )


def failed(one: Kept, cursor: int, attempts: int, next_at: int, error: str, stopped: str | None) -> Statement:
    """Record a failed delivery, and when to retry or why delivery stops."""
    return Statement(
        "UPDATE webhooks SET cursor = ?, attempts = ?, next_at = ?, error = ?, stopped = ? WHERE id = ? AND cursor = ? "
        "AND epoch = ? AND attempts = ?",
        (cursor, attempts, next_at, error, stopped, one.id, one.cursor, one.epoch, one.attempts),
    )


def give_up(one: Kept, first: int, attempts: int, error: str, now: int) -> list[Statement]:
    """Turn all changes from `first` up to the space's seq into a dead letter, and continue after them."""
    mine = "FROM webhooks w JOIN spaces s ON s.id = w.space_id WHERE w.id = ? AND w.cursor = ? AND w.epoch = ?"
    known = (one.id, one.cursor, one.epoch)
    return [
        Statement(
            "INSERT INTO dead_letters (webhook_id, first, last, attempts, error, at) "
            f"SELECT w.id, ?, s.seq, ?, ?, ? {mine} AND s.epoch = w.epoch",
            (first, attempts, error, now, *known),
        ),
        Statement(
            "UPDATE webhooks SET attempts = 0, next_at = 0, error = ?, "
            "(cursor, epoch) = (SELECT seq, epoch FROM spaces WHERE id = space_id) "
            "WHERE id = ? AND cursor = ? AND epoch = ?",
            (error, *known),
        ),
        Statement(
            "DELETE FROM dead_letters WHERE webhook_id = ? AND id NOT IN "
            "(SELECT id FROM dead_letters WHERE webhook_id = ? ORDER BY id DESC LIMIT ?)",
            (one.id, one.id, LETTERS_MAX),
        ),
    ]


def _refuse_missing(space: SpaceRow, id_: str) -> Statement:
    return Statement(
        f"{refuse(Refusal.NO_MEMORY)} WHERE NOT EXISTS (SELECT 1 FROM webhooks WHERE id = ? AND space_id = ?)",
        (id_, space.id),
    )

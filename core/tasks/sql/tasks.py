"""The SQL of tasks: submitting, claiming, progress and the end. All times are by the clock of the database.

`task_rows` reads them.
"""

import json
from collections.abc import Sequence

import msgspec

from muisti.core.model.choices import TaskState
from muisti.core.model.tasks import ItemOutcome, NewItem
from muisti.core.store.database import Refusal, Statement, refuse, refuse_one_of
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.tasks.sql.task_rows import ITEMS, NOW

KEPT_US = 30 * 86_400_000_000  # microseconds that an ended task is kept
_ACTIVE = "state IN ('queued', 'running')"
_GONE = "EXISTS (SELECT 1 FROM tasks WHERE number = ? AND state = 'cancelled')"
_HELD = "EXISTS (SELECT 1 FROM tasks WHERE number = ? AND owner = ? AND fence = ? AND state = 'running')"
_GUARD = f"{refuse_one_of(_GONE, Refusal.TASK_CANCELLED, Refusal.TASK_LOST)} WHERE NOT {_HELD}"
_FREE = (  # whether a space has few enough tasks in work
    f"(t.state = 'running' OR (SELECT count(*) FROM tasks r WHERE r.space_id = t.space_id AND r.{_ACTIVE} "
    f"AND r.state = 'running' AND r.lease_until >= {NOW}) < ?)"
)
_AMONG = "task = ? AND number IN (SELECT value FROM json_each(?))"


class New(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is about to be inserted. `asked` and `caller` are JSON; `idempotency` identifies the request."""

    id: str
    kind: str
    asked: str
    actor: str
    caller: str
    owner: str
    idempotency: str | None
    body_hash: bytes | None


class ClaimId(msgspec.Struct, frozen=True):
    """A claim on a task: its number, who has it, and how often it was claimed until then."""

    number: int
    owner: str
    fence: int


def insert(space: SpaceRow, new: New, lease: int, queued_max: int) -> list[Statement]:
    """Insert a task that cannot be claimed until `open_up`.

    The `caller` gets the `seq` of the space, which says what the caller did before and what later.
    Refuse with `request_known` when its key has a task, and with `incomplete` when `queued_max` tasks of the space wait
    already; 0 is no limit.
    """
    known = f"{refuse(Refusal.REQUEST_KNOWN)} WHERE EXISTS (SELECT 1 FROM tasks WHERE idempotency = ?)"
    waiting = f"SELECT count(*) FROM tasks WHERE space_id = ? AND {_ACTIVE} AND state = 'queued'"
    full = f"{refuse(Refusal.INCOMPLETE)} WHERE 0 < ? AND ? <= ({waiting})"
    return [
        Statement(known, (new.idempotency,)),
        Statement(full, (queued_max, queued_max, space.id)),
        Statement(
            "INSERT INTO tasks (id, space_id, kind, asked, actor, caller, owner, lease_until, idempotency, body_hash, "
            f"created_at) SELECT ?, id, ?, ?, ?, json_set(?, '$.seq', seq), ?, {NOW} + ?, ?, ?, {NOW} FROM spaces "
            "WHERE id = ?",
            (
                *(new.id, new.kind, new.asked, new.actor, new.caller, new.owner, lease),
                *(new.idempotency, new.body_hash, space.id),
            ),
        ),
    ]


def guard_new(id_: str) -> Statement:
    """Refuse with `task_lost` unless the task still waits for what its request brings."""
    return Statement(
        f"{refuse(Refusal.TASK_LOST)} WHERE NOT EXISTS "
        "(SELECT 1 FROM tasks WHERE id = ? AND NOT ready AND state = 'queued')",
        (id_,),
    )


def keep_new(id_: str, lease: int) -> Statement:
    """Prolong the time in which the request must bring the rest."""
    return Statement(f"UPDATE tasks SET lease_until = {NOW} + ? WHERE id = ? AND NOT ready", (lease, id_))


def add_items(id_: str, items: Sequence[NewItem]) -> list[Statement]:
    """Append items to a task, and count them."""
    rows = json.dumps([
        [one.name, None if one.argument is None else json.dumps(one.argument, ensure_ascii=False)] for one in items
    ])  # fmt: skip
    return [
        Statement(
            "INSERT INTO task_items (task, number, name, argument) SELECT t.number, t.total + j.key + 1, "
            "j.value ->> 0, j.value ->> 1 FROM tasks t, json_each(?) j WHERE t.id = ?",
            (rows, id_),
        ),
        Statement(
            "UPDATE tasks SET total = total + ?, revision = revision + 1 WHERE id = ?",
            (len(items), id_),
        ),
    ]


def add_blob(id_: str, name: str, part: int, data: bytes) -> Statement:
    """Store a piece of a blob, in place of the one of an earlier try."""
    return Statement(
        "INSERT OR REPLACE INTO blobs (task, name, part, data) SELECT number, ?, ?, ? FROM tasks WHERE id = ?",
        (name, part, data, id_),
    )


def blob_part(number: int, name: str, part: int) -> Statement:
    return Statement("SELECT data FROM blobs WHERE task = ? AND name = ? AND part = ?", (number, name, part))


def open_up(id_: str, total: int | None) -> Statement:
    """Let processes claim a task. `total` replaces the number of items where the work has none."""
    return Statement(
        "UPDATE tasks SET ready = 1, owner = '', lease_until = 0, revision = revision + 1, total = coalesce(?, total) "
        "WHERE id = ?",
        (total, id_),
    )


def drop_new(id_: str) -> Statement:
    """Delete a task that no process can claim yet."""
    return Statement("DELETE FROM tasks WHERE id = ? AND NOT ready AND state = 'queued'", (id_,))


def next_due(kinds: Sequence[str], per_space: int) -> Statement:
    """Select the task to claim next, if any: its number, the microseconds until it is due, and whether one has it."""
    return Statement(
        f"SELECT t.number, max(0, t.lease_until - {NOW}), t.owner <> '' FROM tasks t WHERE t.{_ACTIVE} AND t.ready "
        f"AND t.kind IN (SELECT value FROM json_each(?)) AND {_FREE} ORDER BY 2, 1 LIMIT 1",
        (json.dumps(list(kinds)), per_space),
    )


def queued() -> Statement:
    """Count the tasks of all spaces that wait, by kind."""
    return Statement(f"SELECT kind, count(*) FROM tasks WHERE {_ACTIVE} AND state = 'queued' GROUP BY kind")


def failing(most: int, deaths: int) -> list[Statement]:
    """Select tasks of all spaces that go on after more than `deaths` claims without progress; then count them by kind.

    Of each: the id, the kind, the space, and the claims without progress.
    """
    where = f"t.{_ACTIVE} AND t.deaths > ?"
    return [
        Statement(
            f"SELECT t.id, t.kind, s.name, t.deaths FROM tasks t JOIN spaces s ON s.id = t.space_id WHERE {where} "
            "ORDER BY t.number LIMIT ?",
            (deaths, most),
        ),
        Statement(f"SELECT t.kind, count(*) FROM tasks t WHERE {where} GROUP BY t.kind", (deaths,)),
    ]


def claim(number: int, owner: str, lease: int, per_space: int) -> list[Statement]:
    """Claim a task whose lease is over; the last statement selects the fence of the owner's claim, if it has one."""
    return [
        Statement(
            "UPDATE tasks AS t SET owner = ?, fence = fence + 1, attempts = attempts + 1, deaths = deaths + 1, "
            f"state = 'running', lease_until = {NOW} + ?, started_at = coalesce(started_at, {NOW}), "
            f"revision = revision + 1 WHERE number = ? AND ready AND {_ACTIVE} AND lease_until <= {NOW} "
            f"AND {_FREE}",
            (owner, lease, number, per_space),
        ),
        Statement("SELECT fence FROM tasks WHERE number = ? AND owner = ?", (number, owner)),
    ]


def guard(claim_id: ClaimId) -> Statement:
    """Refuse with `task_lost` or `task_cancelled` unless the claim holds."""
    return Statement(_GUARD, (claim_id.number, claim_id.number, claim_id.owner, claim_id.fence))


def guard_position(claim_id: ClaimId, position: str) -> Statement:
    """Refuse with `task_lost` unless the work has come to this position."""
    return Statement(
        f"{refuse(Refusal.TASK_LOST)} WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE number = ? AND position = ?)",
        (claim_id.number, position),
    )


def position(claim_id: ClaimId) -> Statement:
    return Statement("SELECT position FROM tasks WHERE number = ?", (claim_id.number,))


def guard_items(claim_id: ClaimId, numbers: Sequence[int]) -> Statement:
    """Refuse with `task_lost` unless all these items are being worked on."""
    return Statement(
        f"{refuse(Refusal.TASK_LOST)} WHERE "
        f"(SELECT count(*) FROM task_items WHERE {_AMONG} AND state = 'working') <> ?",
        (claim_id.number, json.dumps(list(numbers)), len(numbers)),
    )


def finish_items(claim_id: ClaimId, outcomes: Sequence[ItemOutcome]) -> Statement:
    """Store the outcomes of items."""
    rows = json.dumps([[one.number, one.state, one.error_code, one.error] for one in outcomes])
    return Statement(
        "UPDATE task_items SET state = o.value ->> 1, error_code = o.value ->> 2, error = o.value ->> 3 "
        "FROM json_each(?) o WHERE task = ? AND number = o.value ->> 0",
        (rows, claim_id.number),
    )


def progress(
    claim_id: ClaimId, counts: tuple[int, int, int], position: str | None, total: int | None, lease: int
) -> Statement:
    """Add to `done`, `failed` and `skipped`, store the position, and prolong the lease."""
    return Statement(
        "UPDATE tasks SET done = done + ?, failed = failed + ?, skipped = skipped + ?, deaths = 0, "
        "position = coalesce(?, position), total = coalesce(?, total), revision = revision + 1, "
        f"lease_until = {NOW} + ? WHERE number = ?",
        (*counts, position, total, lease, claim_id.number),
    )


def prolong(claim_id: ClaimId, lease: int) -> Statement:
    """Prolong the lease of a claim that holds."""
    return Statement(
        f"UPDATE tasks SET lease_until = {NOW} + ? WHERE number = ? AND owner = ? AND fence = ? AND state = 'running'",
        (lease, claim_id.number, claim_id.owner, claim_id.fence),
    )


def left(claim_id: ClaimId, most: int) -> Statement:
    """Select unfinished items, those first on which work has begun before."""
    return Statement(
        f"{ITEMS} WHERE task = ? AND state IN ('waiting', 'working') ORDER BY state = 'waiting', number LIMIT ?",
        (claim_id.number, most),
    )


def begin_items(claim_id: ClaimId, numbers: Sequence[int]) -> Statement:
    """Record that work on these items begins."""
    return Statement(
        f"UPDATE task_items SET state = 'working', attempts = attempts + 1 WHERE {_AMONG}",
        (claim_id.number, json.dumps(list(numbers))),
    )


def give_back(claim_id: ClaimId, rest: int) -> list[Statement]:
    """End the claim before the work is done; another process may claim the task in `rest` microseconds."""
    return [
        guard(claim_id),
        Statement(
            "UPDATE task_items SET state = 'waiting', attempts = max(0, attempts - 1) WHERE task = ? "
            "AND state = 'working'",
            (claim_id.number,),
        ),
        Statement(
            "UPDATE tasks SET state = 'queued', owner = '', deaths = max(0, deaths - 1), revision = revision + 1, "
            f"lease_until = {NOW} + ? WHERE number = ?",
            (rest, claim_id.number),
        ),
    ]


def rest(claim_id: ClaimId, microseconds: int) -> list[Statement]:
    """End the claim after an error; items that were worked on stay so, and their attempts count."""
    return [
        guard(claim_id),
        Statement(
            f"UPDATE tasks SET owner = '', lease_until = {NOW} + ?, revision = revision + 1 WHERE number = ?",
            (microseconds, claim_id.number),
        ),
    ]


def end(claim_id: ClaimId, state: TaskState, result: str | None, error: tuple[str, str] | None) -> list[Statement]:
    """End a task that this claim holds, and delete its blobs."""
    code, text = error or (None, None)
    return [
        guard(claim_id),
        Statement(
            f"UPDATE tasks SET state = ?, result = ?, error_code = ?, error = ?, {_ENDED} WHERE number = ?",
            (state, result, code, text, claim_id.number),
        ),
        *_after_end(claim_id.number),
    ]


def cancel(number: int) -> list[Statement]:
    """End an active task. The process that works on it can store nothing from now on."""
    return [
        Statement(f"UPDATE tasks SET state = 'cancelled', {_ENDED} WHERE number = ? AND {_ACTIVE}", (number,)),
        Statement(
            "UPDATE task_items SET state = 'cancelled' WHERE task = ? AND state IN ('waiting', 'working') "
            "AND (SELECT state FROM tasks WHERE number = ?) = 'cancelled'",
            (number, number),
        ),
        Statement(
            "DELETE FROM blobs WHERE task = ? AND (SELECT state FROM tasks WHERE number = ?) = 'cancelled'",
            (number, number),
        ),
    ]


_ENDED = (
    f"owner = '', lease_until = 0, revision = revision + 1, ended_at = {NOW}, expires_at = {NOW} + {KEPT_US}, ready = 1"
)


def _after_end(number: int) -> list[Statement]:
    return [
        Statement(
            "UPDATE task_items SET state = 'cancelled' WHERE task = ? AND state IN ('waiting', 'working')", (number,)
        ),
        Statement("DELETE FROM blobs WHERE task = ?", (number,)),
    ]


def broken_off() -> Statement:
    """Select the numbers of tasks whose request broke off before all of it had come."""
    return Statement(f"SELECT number FROM tasks WHERE {_ACTIVE} AND NOT ready AND lease_until < {NOW} LIMIT 100")


def fail_broken_off(number: int, code: str, text: str) -> list[Statement]:
    return [
        Statement(
            f"UPDATE tasks SET state = 'failed', error_code = ?, error = ?, {_ENDED} WHERE number = ? AND NOT ready "
            f"AND {_ACTIVE}",
            (code, text, number),
        ),
        Statement(
            "DELETE FROM blobs WHERE task = ? AND (SELECT state FROM tasks WHERE number = ?) = 'failed'",
            (number, number),
        ),
    ]


def expired(limit: int) -> Statement:
    """Select the numbers of ended tasks that have been kept long enough."""
    return Statement(f"SELECT number FROM tasks WHERE expires_at <= {NOW} ORDER BY expires_at LIMIT ?", (limit,))


def forget(numbers: Sequence[int]) -> Statement:
    return Statement("DELETE FROM tasks WHERE number IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),))


def claim_state(claim_id: ClaimId) -> Statement:
    """Select (state, is this the claim) of a task."""
    return Statement(
        "SELECT state, owner = ? AND fence = ? FROM tasks WHERE number = ?",
        (claim_id.owner, claim_id.fence, claim_id.number),
    )

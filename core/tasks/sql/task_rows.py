"""The SQL that reads tasks and their items."""

import json
from collections.abc import Sequence
from typing import cast

from muisti.core.model.choices import TaskState
from muisti.core.model.tasks import Item, ItemState, Task
from muisti.core.model.times import from_us
from muisti.core.store.database import Row, Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow

NOW = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
ITEMS = "SELECT number, name, argument, state, attempts, error_code, error FROM task_items"
_SELECT = f"""SELECT t.number, t.id, s.name, t.kind, t.state, t.asked, t.actor, t.owner, t.fence, t.revision, t.total,
t.done, t.failed, t.skipped, t.position, t.attempts, t.deaths, t.result, t.error_code, t.error,
t.created_at, t.started_at, t.ended_at, t.expires_at, coalesce(t.ended_at, {NOW}) - t.started_at
FROM tasks t JOIN spaces s ON s.id = t.space_id"""


def by_number(number: int) -> Statement:
    return Statement(f"{_SELECT} WHERE t.number = ?", (number,))


def by_text_id(id_: str) -> Statement:
    return Statement(f"{_SELECT} WHERE t.id = ?", (id_,))


def by_id(space: SpaceRow, id_: str) -> Statement:
    return Statement(f"{_SELECT} WHERE t.space_id = ? AND t.id = ?", (space.id, id_))


def by_request(idempotency: str) -> list[Statement]:
    """Select the task of a request, and the hash of its body."""
    return [
        Statement(f"{_SELECT} WHERE t.idempotency = ?", (idempotency,)),
        Statement("SELECT body_hash FROM tasks WHERE idempotency = ?", (idempotency,)),
    ]


def caller_of(number: int) -> Statement:
    return Statement("SELECT caller FROM tasks WHERE number = ?", (number,))


def listed(
    space: SpaceRow,
    actor: str | None,
    states: Sequence[TaskState],
    kinds: Sequence[str],
    before: int | None,
    limit: int,
) -> Statement:
    """Select tasks of a space, newest first; of an actor, in some states and of some kinds where these are given."""
    where, args = ["t.space_id = ?"], list[Scalar]([space.id])
    if actor is not None:
        where.append("t.actor = ?")
        args.append(actor)
    for column, among in (("state", states), ("kind", kinds)):
        if among:
            where.append(f"t.{column} IN (SELECT value FROM json_each(?))")
            args.append(json.dumps(list(among)))
    if before is not None:
        where.append("t.number < ?")
        args.append(before)
    return Statement(f"{_SELECT} WHERE {' AND '.join(where)} ORDER BY t.number DESC LIMIT ?", (*args, limit))


def items(number: int, states: Sequence[ItemState], after: int, limit: int) -> Statement:
    """Select items of a task in their order, in some states where these are given."""
    among = "AND state IN (SELECT value FROM json_each(?))" if states else ""
    args: tuple[Scalar, ...] = (json.dumps(list(states)),) if states else ()
    return Statement(
        f"{ITEMS} WHERE task = ? AND number > ? {among} ORDER BY number LIMIT ?", (number, after, *args, limit)
    )


def item(row: Row) -> Item:
    """Read a row of `items` or `left`."""
    number, name, argument, state, attempts, code, error = cast(
        tuple[int, str, str | None, ItemState, int, str | None, str | None], row
    )
    return Item(
        number=number,
        name=name,
        argument=None if argument is None else json.loads(argument),
        state=state,
        attempts=attempts,
        error_code=code,
        error=error,
    )


def task(row: Row) -> Task:
    """Read a row of `by_id`, `by_number` or `listed`."""
    number, id_, space, kind, state, asked, actor, owner, fence, revision, total = cast(
        tuple[int, str, str, str, TaskState, str, str, str, int, int, int], row[:11]
    )
    done, failed, skipped, position, attempts, deaths, result, code, error = cast(
        tuple[int, int, int, str, int, int, str | None, str | None, str | None], row[11:20]
    )
    created, started, ended, expires, took = cast(tuple[int, int | None, int | None, int | None, int | None], row[20:])
    return Task(
        number=number,
        id=id_,
        space=space,
        kind=kind,
        state=state,
        asked=json.loads(asked),
        actor=actor,
        owner=owner,
        fence=fence,
        revision=revision,
        total=total,
        done=done,
        failed=failed,
        skipped=skipped,
        position=position,
        attempts=attempts,
        deaths=deaths,
        result=None if result is None else json.loads(result),
        error_code=code,
        error=error,
        created_at=from_us(created),
        started_at=None if started is None else from_us(started),
        ended_at=None if ended is None else from_us(ended),
        expires_at=None if expires is None else from_us(expires),
        elapsed=max(0, took or 0) / 1e6,
    )

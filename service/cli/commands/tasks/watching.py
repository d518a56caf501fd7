"""List, show, follow and cancel tasks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muisti.client import calls
from muisti.service.cli.base import Globals
from muisti.service.cli.following import exit_code, failures, follow
from muisti.service.cli.output import ago, answer, cell, grid, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

_STYLES = {"succeeded": "green", "partial": "yellow", "failed": "red", "cancelled": "dim"}


def show_all(options: Globals, states: Sequence[str], kinds: Sequence[str], limit: int) -> None:
    """Print the tasks of a space."""
    with session(options, reads=True) as opened:
        request = calls.list_tasks(
            opened.space, state=",".join(states) or None, kind=",".join(kinds) or None, limit=limit
        )
        reply = opened.client.send(request)
        answer(options, reply, table=lambda data: _table(data["items"]), plain=_lines, none="There are no tasks.")


def show(options: Globals, task_id: str) -> None:
    """Print a task and its failed items."""
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.get_task(opened.space, task_id))
        _print(options, reply)
        for line in failures(opened, reply.data):
            talk(line)


def watch(options: Globals, task_id: str) -> int:
    """Follow a task until it ends, print it, and return the exit code."""
    with session(options, reads=True) as opened:
        request = calls.get_task(opened.space, task_id)
        task = follow(options, opened, opened.client.send(request).data)
        _print(options, opened.client.send(request))
        for line in failures(opened, task):
            talk(line)
    return exit_code(task)


def cancel(options: Globals, task_id: str, *, dry_run: bool) -> None:
    """End a task, and print what it has done."""
    with session(options) as opened:
        request = calls.cancel_task(opened.space, task_id, dry_run=dry_run)
        _print(options, opened.client.send(request))


def _print(options: Globals, reply: Any) -> None:
    answer(options, reply, table=lambda data: _table([data]), plain=lambda data: [tabbed(*_line(data))])


def _lines(data: Any) -> list[str]:
    return [tabbed(*_line(one)) for one in data["items"]]


def _line(one: Any) -> list[str]:
    finished = one["done"] + one["failed"] + one["skipped"]
    total = "" if one["total"] is None else str(one["total"])
    return [one["id"], one["kind"], one["state"], str(finished), total, str(one["failed"]), one["created_at"]]


def _table(tasks: Sequence[Any]) -> Table:
    now = datetime.now(UTC)
    table = grid(None, "task", "kind", "state", "finished", "failed", "left", "made", right=("finished", "failed"))
    for one in tasks:
        id_, kind, state, finished, total, failed, made = _line(one)
        table.add_row(
            cell(id_),
            cell(kind),
            cell(_said(one), _STYLES.get(state, "")),
            f"{finished}/{total}" if total else finished,
            failed,
            cell("" if one["seconds_left"] is None or one["ended_at"] else f"{one['seconds_left']:.0f} s"),
            ago(made, now),
        )
    return table


def _said(one: Any) -> str:
    return f"{one['state']}: {one['error']['detail']}" if "error" in one else one["state"]

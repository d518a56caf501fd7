"""Commands about tasks, work that outlives the command or request that asked for it."""

from typing import Any, get_args

import click

from muisti.client import Call, calls
from muisti.core.model.choices import TaskState
from muisti.service.terminal.base import Globals
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.options import JOINED, choice, limit, option
from muisti.service.terminal.output import answer, talk
from muisti.service.terminal.session import Session, exit_code, failed_lines, follow, session
from muisti.service.terminal.views import Text, ago_of, cell, listed

STYLES = {"succeeded": "green", "partial": "yellow", "failed": "red", "cancelled": "dim"}

tasks = Operations(
    "tasks",
    examples=("muisti tasks list --state running", "muisti tasks watch 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11"),
    help="Follow and end work that goes on after its command.\n\nA task of a server is worked on by "
    "the server. A task in a database file is worked on by a command that waits for it, such as `muisti tasks watch`.",
)


def _finished(one: Any) -> int:
    return one["done"] + one["failed"] + one["skipped"]


def _progress(one: Any) -> str:
    return f"{_finished(one)}/{one['total']}" if one["total"] is not None else f"{_finished(one)}"


def _state(one: Any) -> Text:
    words = f"{one['state']}: {one['error']['detail']}" if "error" in one else one["state"]
    return cell(words, STYLES.get(one["state"], ""))


def _left(one: Any) -> str:
    return "" if one["seconds_left"] is None or one["ended_at"] else f"{one['seconds_left']:.0f} s"


TASKS = listed(
    {
        "task": "id",
        "kind": "kind",
        "state": _state,
        "finished": _progress,
        "failed": "failed",
        "left": _left,
        "made": ago_of("created_at"),
    },
    ("id", "kind", "state", _finished, "total", "failed", "created_at"),
    right=("finished", "failed"),
    none="There are no tasks.",
)


def _show(options: Globals, opened: Session, request: Call) -> None:
    reply = opened.client.send(request)
    answer(options, reply, *TASKS)
    for line in failed_lines(opened, reply.data):
        talk(line)


tasks.call(
    "list",
    calls.list_tasks,
    TASKS,
    "muisti tasks list",
    "muisti tasks list --state queued --state running",
    prints="the ID, the kind, the state, the finished and all items, the failed ones, and when the task was made",
    more=(
        choice("--state", "Only this state.", get_args(TaskState), **JOINED),
        option("--kind", "Only this kind of work; repeat it.", metavar="KIND", **JOINED),
        limit("Largest number of tasks.", 20),
    ),
)


@tasks.has("muisti tasks show 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11")
@click.argument("task_id", metavar="ID")
def show(options: Globals, task_id: str) -> None:
    """Show how far a task is, and which items have failed."""
    with session(options, reads=True) as opened:
        _show(options, opened, calls.get_task(opened.space, task_id))


@tasks.has("muisti tasks watch 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11")
@click.argument("task_id", metavar="ID")
def watch(options: Globals, task_id: str) -> int:
    """Follow a task until it ends.

    On a database file, this command does the work that is left. The exit code is 1 when the task fails.
    """
    with session(options, reads=True) as opened:
        request = calls.get_task(opened.space, task_id)
        task = follow(options, opened, opened.client.send(request).data)
        _show(options, opened, request)
    return exit_code(task)


tasks.call(
    "cancel ID=task_id --dry-run",
    calls.cancel_task,
    TASKS,
    "muisti tasks cancel 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11",
    help="""End a task; what it has stored stays.

    Prints the items that were finished. A task that has ended stays as it is.
    """,
)

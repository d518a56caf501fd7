"""Each command finds the task of its own killed forerunner, whatever earlier commands did with the same file."""

import json
from typing import Any

from muisti.service.terminal.client import Reply
from muisti.service.terminal.progress import own_task

OVER: dict[str, Any] = {"ended_at": "2026-05-03T10:00:00Z"}


def command(tasks: dict[str | None, dict[str, Any]], outcome: dict[str, Any] = OVER) -> str:
    """Run a command to its end, and return the id of its task. `tasks` are those that a server knows by their keys."""

    def send(key: str | None) -> Reply:
        task = tasks.setdefault(key, {"id": str(len(tasks)), "ended_at": None})
        return Reply(json.dumps(task).encode(), {})

    def follow(task: dict[str, Any]) -> dict[str, Any]:
        (mine,) = (one for one in tasks.values() if one["id"] == task["id"])
        mine |= outcome if len(tasks) == 1 else OVER
        return mine

    return own_task(send, "file", follow)["id"]


def test_a_task_that_runs_is_followed_and_one_that_is_over_makes_room_for_the_next():
    tasks: dict[str | None, dict[str, Any]] = {"file": {"id": "0", "ended_at": None}}
    assert command(tasks) == "0"  # that of a command which was killed
    tasks["file-0"] = {"id": "1", "ended_at": None}  # a second command was killed, too
    assert command(tasks) == "1"
    assert [command(tasks), command(tasks)] == ["2", "3"]
    assert set(tasks) == {"file", "file-0", "file-1", "file-2"}


def test_a_task_whose_bytes_never_arrived_is_no_task_to_follow():
    tasks: dict[str | None, dict[str, Any]] = {"file": {"id": "0", "ended_at": None}}
    assert command(tasks, {**OVER, "error": {"code": "task.incomplete"}}) == "1"


def test_an_answer_without_a_task_is_the_answer():
    assert own_task(lambda _: Reply(b'{"outcome": "created"}', {}), "file", lambda task: task) == {"outcome": "created"}

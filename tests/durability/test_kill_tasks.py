"""kill -9 while a task runs on two processes. Each of its items is stored once."""

from pathlib import Path

import pytest

from loadtests.task_kills import Outcome, places, run
from loadtests.task_worker import BAD

LONG = {"items": 1_000, "kills": 24, "lease": 3.0}
SHORT = {"items": 120, "kills": 2, "lease": 1.0}


def check(seen: Outcome, items: int) -> None:
    assert seen.task.state == "partial"
    assert (seen.twice, seen.lost, seen.after_cancel) == (0, 0, 0)
    assert seen.items == {"done": items - items // BAD, "failed": items // BAD}
    assert seen.stored.total() == seen.task.done == seen.items["done"]
    assert seen.kills and seen.task.attempts >= len(seen.takeovers)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("store", ["file", "sqld"])
@pytest.mark.parametrize("kind", ["note", "ingest"])
def test_a_task_of_killed_processes_is_done_once(kind: str, store: str, tmp_path: Path, long: bool):
    options = LONG if long else SHORT
    with places(store, tmp_path) as (url, namespace):
        seen = run(url, namespace, tmp_path, kind=kind, **options)  # pyright: ignore[reportArgumentType]  # by name
    check(seen, int(options["items"]))

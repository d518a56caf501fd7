"""kill -9 while a task runs on two processes. Each of its items is stored once."""

from pathlib import Path

import pytest

from loadtests.task_kills import Outcome, places, run
from loadtests.task_worker import BAD

pytestmark = pytest.mark.prove


LONG = {"items": 1_000, "kills": 24, "lease": 3.0}
SHORT = {"items": 98, "kills": 1, "lease": 1.0, "pause": 0.1, "settle": 1.0}


def check(seen: Outcome, items: int) -> None:
    assert seen.task.state == "partial"
    assert (seen.twice, seen.lost, seen.after_cancel) == (0, 0, 0)
    assert seen.items == {"done": items - items // BAD, "failed": items // BAD}
    assert seen.stored.total() == seen.task.done == seen.items["done"]
    assert seen.kills and seen.task.attempts >= len(seen.takeovers)


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(("kind", "briefly"), [("note", "file"), ("ingest", "sqld")])
def test_a_task_of_killed_processes_is_done_once(kind: str, briefly: str, tmp_path: Path, long: bool):
    """With `--long` on both stores."""
    options = LONG if long else SHORT
    for store in ("file", "sqld") if long else (briefly,):
        folder = tmp_path / store
        folder.mkdir()
        with places(store, folder) as (url, namespace):
            seen = run(url, namespace, folder, kind=kind, **options)  # pyright: ignore[reportArgumentType]  # by name
        check(seen, int(options["items"]))

"""kill -9 while tasks run on other processes. Each item is stored once, and nothing is read or embedded twice."""

from pathlib import Path

import pytest

from loadtests import graph_reading, second_kills
from loadtests.task_kills import Outcome, places, run
from loadtests.task_worker import BAD

pytestmark = pytest.mark.prove


GRAPH = {"documents": 1_000, "words": 2_000, "lease": 3.0, "pause": 0.0}
SHORT_GRAPH = {"documents": 32, "words": 2_000, "lease": 1.0, "pause": 0.3}
SECOND = {"texts": 4_000, "kills": 24, "lease": 3.0}
SHORT_SECOND = {"texts": 420, "kills": 3, "lease": 1.0}
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


@pytest.mark.timeout(1_200)
def test_a_graph_of_killed_processes_is_that_of_one_reading(tmp_path: Path, long: bool):
    seen = graph_reading.run(tmp_path, **(GRAPH if long else SHORT_GRAPH))
    assert seen.task.state == "succeeded"
    assert 0 < seen.killed_at < seen.versions == seen.task.finished
    assert seen.task.attempts == 2
    assert [done for _, done in seen.looks] == sorted(done for _, done in seen.looks)
    assert seen.found == seen.again and all(seen.found)


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("store", ["file", "sqld"])
def test_second_vectors_of_killed_processes_are_those_of_one(store: str, tmp_path: Path, long: bool):
    options = SECOND if long else SHORT_SECOND
    with places(store, tmp_path) as (url, namespace):
        seen = second_kills.run(url, namespace, tmp_path, **options)  # pyright: ignore[reportArgumentType]  # by name
    assert seen.passages == options["texts"] == seen.vectors == seen.indexed
    assert seen.wrong == 0 and seen.kills == options["kills"]
    assert all(state == "succeeded" and done == total for state, done, total in seen.tasks)

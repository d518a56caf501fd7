"""kill -9 while processes make the vectors of a second model. Nothing is lost, and nothing is stored twice."""

from pathlib import Path

import pytest

from loadtests.second_kills import run
from loadtests.task_kills import places

pytestmark = pytest.mark.prove


LONG = {"texts": 4_000, "kills": 24, "lease": 3.0}
SHORT = {"texts": 420, "kills": 3, "lease": 1.0}


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("store", ["file", "sqld"])
def test_second_vectors_of_killed_processes_are_those_of_one(store: str, tmp_path: Path, long: bool):
    options = LONG if long else SHORT
    with places(store, tmp_path) as (url, namespace):
        seen = run(url, namespace, tmp_path, **options)  # pyright: ignore[reportArgumentType]  # by name
    assert seen.passages == options["texts"] == seen.vectors == seen.indexed
    assert seen.wrong == 0 and seen.kills == options["kills"]
    assert all(state == "succeeded" and done == total for state, done, total in seen.tasks)

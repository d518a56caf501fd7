"""kill -9 while a task reads a space into its graph. Another process goes on, and reads nothing twice."""

from pathlib import Path

import pytest

from loadtests.graph_reading import run

pytestmark = pytest.mark.prove


LONG = {"documents": 1_000, "words": 2_000, "lease": 3.0, "pause": 0.0}
SHORT = {"documents": 32, "words": 2_000, "lease": 1.0, "pause": 0.3}


@pytest.mark.timeout(1_200)
def test_a_graph_of_killed_processes_is_that_of_one_reading(tmp_path: Path, long: bool):
    options = LONG if long else SHORT
    seen = run(tmp_path, **options)
    assert seen.task.state == "succeeded"
    assert 0 < seen.killed_at < seen.versions == seen.task.finished
    assert seen.task.attempts == 2
    assert [done for _, done in seen.looks] == sorted(done for _, done in seen.looks)
    assert seen.found == seen.again and all(seen.found)

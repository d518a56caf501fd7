"""Tasks: listed, read again while they run, with what has failed."""

from typing import Any, get_args

import httpx
import pytest

from muisti.core.model.choices import TaskState
from muisti.service.pages.tasks import OVER, row
from tests.service.pages.forms import SPACE

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/tasks"
TASK: dict[str, Any] = {
    **{"id": "t", "kind": "import", "actor": "a", "total": 10, "done": 3, "failed": 1, "skipped": 2},
    **{"created_at": "", "started_at": None, "ended_at": None, "seconds_left": 3.4},
}


def test_a_task_that_is_over_is_not_read_again():
    for state in get_args(TaskState):
        assert row({**TASK, "state": state})["running"] == (state in ("queued", "running"))
    assert set(OVER) <= set(get_args(TaskState))


def test_what_is_over_counts_all_that_needs_no_more_work():
    assert row({**TASK, "state": "running"})["over"] == 6


def test_an_import_is_listed_with_its_result(client: httpx.Client):
    client.post(f"/v1/spaces/{SPACE}/memories", json={"content": "We deploy on Tuesdays"})
    lines = client.get(f"/v1/spaces/{SPACE}/export").content
    headers = {"Content-Type": "application/x-ndjson"}
    task = client.post(f"/v1/spaces/{SPACE}/import?task=true", content=lines, headers=headers).json()["id"]
    client.get(f"/v1/spaces/{SPACE}/tasks/{task}", params={"wait": 10, "after": 0})
    assert f"{PAGE}/{task}" in client.get(PAGE).text
    assert "import" in client.get(f"{PAGE}/{task}").text
    part = client.get(f"{PAGE}/{task}", headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="progress"')

"""`muisti documents prune`: shows first, asks, and ends."""

import json

import pytest

from muisti.client import calls
from muisti.service.terminal.base import Globals
from muisti.service.terminal.session import session
from tests.service.conftest import Run

pytestmark = pytest.mark.one_store


@pytest.fixture
def orphan(run: Run) -> str:
    """The id of a chunk whose memory is gone."""
    whole = json.loads(run("add", "The handbook of the harbour", "--json").stdout)["id"]
    with session(Globals()) as opened:
        body = {"content": "Boats land on Tuesdays", "kind": "chunk", "parent_id": whole}
        part = opened.client.send(calls.add_memory(opened.space, body)).data["id"]
    assert run("delete", whole).exit_code == 0
    return part


def test_it_shows_asks_and_ends(run: Run, orphan: str):
    dry = run("documents", "prune", "--dry-run")
    assert dry.exit_code == 0 and orphan in dry.output, dry.output
    refused = run("documents", "prune", input="n\n")
    assert refused.exit_code == 1 and f"orphaned_chunks\t{orphan}" in refused.output
    assert run("get", orphan).exit_code == 0
    done = run("documents", "prune", "--strategy", "orphaned_chunks", "--yes", "--json")
    assert json.loads(done.stdout)["orphaned_chunks"] == [orphan]
    assert run("get", orphan).exit_code == 1

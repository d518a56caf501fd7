"""Anchors of a real repository: from the working tree, through commits and renames, an export, a merge and a purge."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.anchors.test_states import APP, CHANGED, EDITED
from tests.service.conftest import Run
from tests.service.terminal.test_project import git

pytestmark = pytest.mark.file_only


@pytest.fixture
def folder() -> Path:
    """A repository in the folder of the commands, whose name is that of the folder."""
    place = Path.cwd()
    git(place, "init", "-q")
    (place / ".gitignore").write_text("*.db*\n*.ndjson\n")
    (place / "app.py").write_text(APP)
    commit(place)
    return place


@pytest.fixture(autouse=True)
def here(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the folder of `run` before the repository is made, with the database there."""
    monkeypatch.setenv("MUISTI_DATABASE_URL", f"file:{Path.cwd() / 'muisti.db'}")


def commit(place: Path) -> str:
    git(place, "add", "-A")
    git(place, "commit", "-qm", "next")
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=place, capture_output=True, text=True).stdout.strip()


def done(run: Run, *words: str) -> str:
    found = run(*words)
    assert found.exit_code == 0, found.output
    return found.stdout


def anchors(run: Run, memory_id: str, *more: str) -> list[dict[str, Any]]:
    return json.loads(done(run, "get", memory_id, "--json", *more))["anchors"]


def states(run: Run, memory_id: str, *more: str) -> list[tuple[str, str | None]]:
    return [(one["state"], one.get("now")) for one in anchors(run, memory_id, *more)]


def test_an_anchor_follows_the_repository(folder: Path, run: Run):
    done(run, "ingest", ".", "--sync")
    (folder / "app.py").write_text(EDITED)  # the working tree is ahead of the documents
    cited = done(
        run, "add", "Trim the url", "--anchor", "app.py:get", "--anchor", "app.py", "--type", "decided"
    ).strip()
    head = commit(folder)
    found = anchors(run, cited)
    assert [(one["path"], one.get("symbol"), len(one["blob"])) for one in found] == [
        ("notes/app.py", "Client.get", 64), ("notes/app.py", None, 64)
    ]  # fmt: skip
    assert found[0]["commit"] != head and states(run, cited) == [("fresh", None), ("changed", None)]
    done(run, "ingest", ".", "--sync")
    assert states(run, cited) == [("fresh", None)] * 2
    git(folder, "mv", "app.py", "lib.py")
    done(run, "ingest", ".", "--sync")
    assert states(run, cited) == [("moved", "notes/lib.py:Client.get"), ("moved", "notes/lib.py")]
    git(folder, "mv", "lib.py", "net.py")
    (folder / "net.py").write_text(CHANGED)
    commit(folder)
    done(run, "ingest", ".", "--sync")
    assert [state for state, _ in states(run, cited)] == ["changed", "gone"]
    assert "Client.get changed since, now in notes/net.py:Client.get" in done(run, "handoff")
    assert cited in done(run, "list", "--anchor", "notes/app.py")


@pytest.mark.parametrize("place", ["none.py", "app.py:nothing", ".."])
def test_what_is_not_there_is_not_cited(place: str, folder: Path, run: Run):
    found = run("add", "x", "--anchor", place)
    assert found.exit_code == 64 and "--anchor" in found.stderr


def test_an_anchor_goes_through_an_export_a_merge_and_a_purge(folder: Path, run: Run):
    done(run, "ingest", ".", "--sync")
    cited = done(run, "add", "Trim the url", "--anchor", "app.py:get").strip()
    done(run, "export", "all.ndjson")
    done(run, "space", "create", "copy")
    done(run, "import", "all.ndjson", "--space", "copy")
    (copy,) = json.loads(done(run, "list", "--anchor", "notes/app.py", "--space", "copy", "--json"))["items"]
    assert [one["state"] for one in copy["anchors"]] == ["fresh"]
    done(run, "update", cited, "--anchor", "")
    assert anchors(run, cited) == []
    done(run, "restore", cited)
    assert states(run, cited) == [("fresh", None)]
    text = copy["anchors"][0]["text"].encode()
    assert text in (folder / "muisti.db").read_bytes()
    done(run, "purge", cited, "--yes")
    done(run, "purge", copy["id"], "--yes", "--space", "copy")
    assert text not in b"".join(path.read_bytes() for path in folder.glob("muisti.db*"))

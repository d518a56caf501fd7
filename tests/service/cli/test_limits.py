"""Access modes and a fixed category for commands on a database file, by option and by environment."""

import json
import os
from pathlib import Path
from shutil import copyfile

import pytest

from muisti.service.settings.places import users_database
from tests.service.conftest import Run

# The mode that a command needs at least. Those without one want everything.
NEEDS = {
    ("list",): "read-only", ("search", "tea"): "read-only", ("stats",): "read-only", ("export", "-"): "read-only",
    ("import", "--list"): "read-only", ("changes",): "read-only", ("lint",): "read-only",
    ("add", "more"): "append-only", ("add", "more", "--space", "another"): "append-only",
    ("update", "ID", "changed"): "no-delete", ("supersede", "ID", "changed"): "no-delete",
    ("import", "in.ndjson"): "no-delete", ("undo", "--last", "1"): "full", ("delete", "ID"): "full",
    ("purge", "ID", "--yes", "--no-report"): "full", ("import", "--undo", "1"): "full",
}  # fmt: skip
ALL = (
    ("policy", "--secrets", "allow"), ("quota", "--memories", "9"), ("audit",), ("space", "create", "x"), ("reembed",),
    ("keys", "list"), ("keys", "revoke", "x"), ("keys", "rotate", "x"), ("keys", "create", "--admin"),
    ("keys", "clear", "--yes"),
    ("purge", "--author", "Ann", "--yes", "--no-report"), ("backup", "copy.db"), ("doctor", "--repair"),
    ("restore-backup", "copy.db", "--force"), ("webhook", "list"), ("scrub", "--admin-url", "http://localhost:9"),
)  # fmt: skip
ORDER = ("read-only", "append-only", "no-delete", "full")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that each test gets a copy of; the first test makes it."""
    return tmp_path_factory.mktemp("original") / "muisti.db"


@pytest.fixture
def stored(run: Run, original: Path) -> str:
    """Store a memory, write a file to import, and return the memory's id."""
    Path("in.ndjson").write_text(json.dumps({"memories": [{"id": "1", "memory": "from elsewhere"}]}))
    known, here = original.with_suffix(".id"), users_database(os.environ)
    assert here is not None
    if known.exists():
        here.parent.mkdir()
        copyfile(original, here)
    else:
        known.write_text(run("add", "Ann likes tea", "--category", "people", "--author", "Ann").stdout.strip())
        assert [file.name for file in here.parent.iterdir()] == [here.name], "all is in one file"
        copyfile(here, original)
    return known.read_text()


@pytest.mark.file_only
@pytest.mark.parametrize("mode", ORDER)
@pytest.mark.parametrize("words", [*NEEDS, *ALL], ids=" ".join)
def test_a_mode_lets_through_what_it_is_for_and_nothing_else(
    words: tuple[str, ...], mode: str, run: Run, stored: str, monkeypatch: pytest.MonkeyPatch
):
    needed = NEEDS.get(words)
    may = needed is not None and ORDER.index(mode) >= ORDER.index(needed)
    monkeypatch.setenv("MUISTI_ACCESS", mode)
    result = run(*(stored if word == "ID" else word for word in words))
    forbidden = f"access mode {mode}" in result.stderr
    assert forbidden == (not may and mode != "full"), result.output
    if forbidden:
        assert result.exit_code == 1 and result.stdout == ""
        monkeypatch.delenv("MUISTI_ACCESS")
        assert [line.split("\t")[-1] for line in run("list").stdout.splitlines()] == ["Ann likes tea"]


@pytest.mark.parametrize("words", [("list", "--url", "http://127.0.0.1:1"), ("serve",)], ids=" ".join)
@pytest.mark.parametrize("name", ["MUISTI_ACCESS", "MUISTI_ONLY_CATEGORY"])
def test_a_server_goes_by_keys_and_the_limit_is_not_passed_over(
    words: tuple[str, ...], name: str, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(name, "read-only")
    refused = run(*words)
    assert refused.exit_code == 64 and "muisti keys create" in refused.stderr

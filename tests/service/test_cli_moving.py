"""Export and import on the command line, on the file of this folder and on a server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durability.server import Server
from tests.service.importers.fixtures import FIXTURES
from tests.service.test_cli import Run, added


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server") / "muisti.db") as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    return server.url


def test_a_space_moves_from_the_file_to_a_server_and_back(run: Run, url: str):
    name = "out.ndjson.zst"
    memory = added(run, "We deploy on Tuesdays", "--category", "rules", "--key", "deploy")
    run("update", memory["id"], "We deploy on Mondays")
    assert run("export", name).exit_code == 0
    assert run("export", name).exit_code == 1 and run("export", name, "--force").exit_code == 0
    tried = run("import", name, "--url", url, "--space", "new", "--dry-run")
    assert (tried.exit_code, tried.stdout.splitlines()[0]) == (0, "created\t1"), tried.output
    assert "new" not in run("spaces", "--url", url, "--plain").stdout
    done = run("import", name, "--url", url, "--space", "new")
    assert (done.exit_code, done.stdout) == (0, "created\t1\nfailed\t0\n"), done.output
    assert "import --undo" in done.stderr
    again = run("import", name, "--url", url, "--space", "new")
    assert again.stdout == "created\t0\nskipped\texists\t1\nfailed\t0\n"
    history = json.loads(run("history", memory["id"], "--url", url, "--space", "new", "--json").stdout)["items"]
    assert [one["memory"]["content"] for one in history] == ["We deploy on Mondays", "We deploy on Tuesdays"]
    back = run("export", "-", "--url", url, "--space", "new")
    assert [json.loads(line)["type"] for line in back.stdout.splitlines()][0::4] == ["muisti", "version"]
    listed = run("import", "--list", "--url", url, "--space", "new").stdout.split("\t")
    assert listed[2:4] == ["muisti", "1"]
    assert run("import", "--undo", listed[0], "--url", url, "--space", "new").exit_code == 0
    assert run("list", "--url", url, "--space", "new", "--plain").stdout == ""


def test_a_file_of_another_system_comes_in(run: Run, url: str, tmp_path: Path):
    fixture = next(one for one in FIXTURES if not one.failed)
    path = tmp_path / fixture.name
    fixture.make(path)
    for where in ((), ("--url", url)):
        done = run("import", str(path), *where)
        assert (done.exit_code, done.stdout.splitlines()[0]) == (0, f"created\t{len(fixture.texts)}"), done.output
        again = run("import", str(path), "--from", fixture.system, *where, "--json")
        assert json.loads(again.stdout)["created"] == 0


def test_what_cannot_come_in_is_named(run: Run, url: str, tmp_path: Path):
    bad = next(one for one in FIXTURES if one.failed)
    path = tmp_path / bad.name
    bad.make(path)
    for where in ((), ("--url", url)):
        refused = run("import", str(path), *where)
        assert refused.exit_code == 64 and "row 3" in refused.stderr and refused.stdout == "", refused.output
        each = run("import", str(path), "--each", *where)
        assert each.exit_code == 1 and each.stdout.startswith("created\t2\n") and "row 3" in each.stderr
    (tmp_path / "noise").write_bytes(b"\x00\x01 noise")
    assert "--from NAME says" in run("import", str(tmp_path / "noise")).stderr
    assert run("import", str(tmp_path / "missing")).exit_code == 1
    assert run("import").exit_code == 64 and run("import", "--list", "--undo", "1").exit_code == 64
    assert run("import", "--undo", "9").exit_code == 1

"""Export and import on the command line, on the file of this folder and on a server."""

import json
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.durability.server import Server
from tests.local_server import Handler, running
from tests.service.cli.test_cli import Run, added
from tests.service.formats.importers.fixtures import FIXTURES


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


def test_progress_counts_memories_until_all_is_in_place(run: Run, tmp_path: Path):
    fixture = next(one for one in FIXTURES if one.id == "vipune projects.db")
    fixture.make(tmp_path / fixture.name)
    start = "from muisti.service.cli import main; main(prog_name='muisti')"
    command = [sys.executable, "-c", start, "import", str(tmp_path / fixture.name), "--space", "notes"]
    main, side = pty.openpty()
    termios.tcsetwinsize(side, (40, 140))
    with subprocess.Popen(command, stdout=side, stderr=side, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(side)
        shown = b""
        with suppress(OSError):  # the end of a terminal
            while piece := os.read(main, 65_536):
                shown += piece
    os.close(main)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    stages = [text.rindex(stage) for stage in ("reading", "storing in notes", "putting all in place in notes")]
    assert stages == sorted(stages) and " 3/3 " in text
    assert "storing" not in run("import", str(tmp_path / fixture.name), "--space", "notes").stderr  # no terminal


def test_memories_go_out_as_notes_and_come_in_elsewhere(run: Run, url: str, tmp_path: Path):
    fields = {"category": "rules", "key": "deploy/web", "type": "procedure", "tag": "ops", "reason": "yes"}
    words = [word for name, value in fields.items() for word in (f"--{name}", value)]
    kept = added(run, "We deploy on Tuesdays:\n\n- tag\n- push\n", *words, "--metadata", '{"a": {"b": [1, "2", null]}}')
    gone = added(run, "The staging server is Ahti")
    new = json.loads(run("supersede", gone["id"], "The staging server is Vellamo", "--json").stdout)
    folder = tmp_path / "Memories"
    assert run("export", "--format", "markdown", str(folder)).exit_code == 0
    notes = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    assert notes == [f"The staging server is Vellamo ({new['id'][-8:]}).md", "rules/deploy web.md"]
    assert (folder / notes[1]).read_text("utf-8").endswith("---\n\nWe deploy on Tuesdays:\n\n- tag\n- push\n\n")
    again = run("export", "--format", "markdown", str(folder))
    assert again.exit_code == 1 and "--force" in again.stderr
    assert run("export", "--format", "markdown", str(folder), "--force").exit_code == 0
    assert not list(tmp_path.glob(".*")) and run("export", "--format", "markdown", "-").exit_code == 64
    here = run("import", str(folder))
    assert here.stdout == "created\t0\nskipped\texists\t2\nfailed\t0\n", here.output
    for _ in range(2):
        there = run("import", str(folder), "--url", url, "--space", "notes")
        assert there.exit_code == 0, there.output
    came = json.loads(run("get", kept["id"], "--url", url, "--space", "notes", "--json").stdout)
    left = {"space", "updated_at", "flags"}  # of the space it is in
    assert {name: value for name, value in came.items() if name not in left} == {
        name: value for name, value in kept.items() if name not in left and name in came
    }


@pytest.mark.parametrize(
    "sent", [b'{"type":"muisti"}\n{"type":"change"}\n', b'{"type":"muisti"}\n{"type":"end","li', b""]
)
def test_an_export_without_its_last_line_is_no_export(sent: bytes, tmp_path: Path, run: Run):
    with serving(sent) as url:
        for words in (("whole.ndjson",), ("whole.ndjson.zst",), ("--format", "markdown", "Notes"), ("-",)):
            broken = run("export", *words, "--url", url)
            assert broken.exit_code == 1 and "export ended" in broken.stderr, broken.output
    assert not [path for path in Path.cwd().iterdir() if path.name.startswith(("whole", "Notes", ".whole", ".Notes"))]


@contextmanager
def serving(body: bytes) -> Iterator[str]:
    """A server that answers everything in the same way, and ends its answer as if it were whole."""

    class Same(Handler):
        def do_GET(self) -> None:
            self.say(200, body)

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Same)) as server:
        yield f"http://127.0.0.1:{server.server_port}"

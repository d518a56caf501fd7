"""Comfort of the command line: it completes words, gives hints, has a dry run, and stops on a signal."""

import fcntl
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import IO

import pytest

from muisti.service.cli import main
from muisti.service.cli.commands.server import Reading, rows
from muisti.service.terminal import output
from tests.service.app.test_server import serving
from tests.service.conftest import Run

STATIC = resources.files("muisti.service").joinpath("static")

MUISTI = Path(sys.executable).with_name("muisti")


@pytest.fixture
def environ() -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    return {**plain, "MUISTI_EMBEDDINGS": "off"}


def test_the_demo_shows_every_step_with_its_time_and_leaves_nothing(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    before = {*Path.cwd().iterdir()}
    result = run("demo", "--json")
    assert result.exit_code == 0, result.output
    steps = json.loads(result.stdout)["steps"]
    assert all(step["seconds"] > 0 for step in steps)
    release, july, port, peru, refused = (" ".join(step["lines"]) for step in steps[2:7])
    assert not any("Nothing in the space" in shown for shown in (release, july, port)), "hits, not only the nearest"
    assert "To roll back, set RELEASE" in release
    assert " July " in july
    assert "port 5434" in port
    assert peru.startswith("Nothing in the space demo answers this.")
    assert "says the contrary" in refused and "stored 5434, yours 5436" in refused
    assert {*Path.cwd().iterdir()} == before


@pytest.mark.file_only
def test_each_command_of_the_demo_prints_what_the_demo_shows(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    steps = json.loads(run("demo", "--keep", "harbour.db", "--json").stdout)["steps"]
    ran = [step for step in steps if step["command"]]
    assert len(ran) >= 6
    for step in ran:
        words = shlex.split(step["command"])[1:]
        result = run(*words, "--database", "harbour.db", "--space", "demo")
        assert sorted(filter(None, map(str.rstrip, result.output.splitlines()))) == sorted(step["lines"]), words


@pytest.mark.file_only
def test_the_demo_leaves_what_it_is_asked_to_leave(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    assert run("demo", "--keep", "harbour.db").stdout.count("\n") >= 7
    assert "Refunds" in run("search", "refunds departure", "--database", "harbour.db", "--space", "demo").stdout
    asked = ("search", "Who wins the elections in Peru?", "--database", "harbour.db", "--space", "demo")
    assert run(*asked, "--all").stdout and not run(*asked).stdout
    assert run("demo", "--keep", "harbour.db").exit_code == 1
    assert run("demo", "--url", "http://127.0.0.1:1").exit_code == 64


def test_the_project_of_the_demo_is_two_hundred_memories_that_differ():
    text = STATIC.joinpath("harbour.ndjson").read_text("utf-8")
    found = [json.loads(line) for line in text.splitlines()]
    assert len(found) == len({memory["content"] for memory in found}) == 200
    assert len({memory["category"] for memory in found}) > 10


def test_validate_tells_the_sizes_of_a_long_text(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    long = json.loads(run("validate", "-", "--json", input="A sentence of some words. " * 400).stdout)
    assert long["passages"] > 5 and long["tokens"] > 1000


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_completes_commands_and_options(shell: str, run: Run, environ: dict[str, str]):
    assert "_MUISTI_COMPLETE" in run("completion", shell).stdout
    asked = {"COMP_WORDS": "muisti sea", "COMP_CWORD": "1" if shell != "fish" else "sea"}
    words = {**environ, **asked, "_MUISTI_COMPLETE": f"{shell}_complete"}
    assert "search" in subprocess.run([MUISTI], env=words, capture_output=True, text=True, timeout=60).stdout


def test_the_skill_is_printed_installed_and_served(run: Run, tmp_path: Path, client: "object"):
    text = run("skill").stdout
    assert text.startswith("---\nname: muisti\ndescription: ")
    for tool in ("recall", "remember", "update_memory", "forget", "undo", "overview"):
        assert f"`{tool}`" in text
    placed = Path(run("skill", "--install", "--to", str(tmp_path)).stdout.strip())
    assert placed == tmp_path / "skills" / "muisti" / "SKILL.md" and placed.read_text("utf-8") == text
    served = client.get("/docs/skill.md")  # pyright: ignore[reportAttributeAccessIssue]
    assert served.text == text and served.headers["Content-Type"].startswith("text/markdown")


def test_commands_of_the_skill_are_commands():
    text = STATIC.joinpath("skill.md").read_text("utf-8")
    named = {words.split()[1] for words in text.split("`") if words.startswith("muisti ")}
    assert named >= {"search", "add", "supersede", "restore"}
    assert named <= {*main.list_commands(None)}  # pyright: ignore[reportArgumentType]


def test_top_counts_what_happened_between_two_readings():
    before = Reading(10.0, {"muisti_searches_total": 5, "muisti_commit_duration_seconds_count": 1})
    commits = {"muisti_commit_duration_seconds_count": 3, "muisti_commit_duration_seconds_sum": 0.5}
    now = Reading(12.0, {"muisti_searches_total": 25, "muisti_index_loaded_spaces": 4, **commits})
    found = {row.name: (row.value, row.unit) for row in rows(before, now)}
    assert found["searches"] == (10, "/s")
    assert found["commit, mean"] == (250, "ms")
    assert found["spaces in memory"] == (4, "")


@pytest.mark.file_only
def test_top_reads_a_server(run: Run, tmp_path: Path):
    with serving(tmp_path) as (_, url):
        run("add", "one", "--url", url, "--space", "default")
        told = json.loads(run("top", "--once", "--json", "--url", url).stdout)
    assert told["changes /s"] > 0 and told["requests /s"] > 0
    assert run("top", "--once", "--url", "http://127.0.0.1:1").exit_code == 1


@pytest.mark.file_only
def test_a_reader_that_stops_reading_is_no_failure(tmp_path: Path, environ: dict[str, str]):
    many = f"for i in $(seq 3); do echo; done; {MUISTI} stats --help | head -1; {MUISTI} list --database m.db | head -0"
    done = subprocess.run(["bash", "-c", many], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
    code = "import sys\nfrom muisti.service.cli import main\nsys.argv = ['muisti', 'completion', 'bash']\nmain()"
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=closed, stderr=subprocess.PIPE, text=True, env=environ
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.file_only
def test_ctrl_c_ends_a_command_without_a_trace(tmp_path: Path, environ: dict[str, str]):
    with subprocess.Popen(
        [MUISTI, "add", "-", "--database", "m.db"], cwd=tmp_path, env=environ, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c,
    ) as waiting:  # fmt: skip
        assert waiting.stdin is not None and waiting.stdout is not None and waiting.stderr is not None
        waiting.stdin.write("Deploys go")
        waiting.stdin.flush()
        while unread(waiting.stdin):  # and when nothing is left, it waits for more
            time.sleep(0.02)
        assert interrupted(waiting) == 1
        assert (waiting.stdout.read(), waiting.stderr.read().strip()) == ("", "Stopped.")


def heed_ctrl_c() -> None:
    """As in a terminal. What a shell runs in the background ignores it, these tests perhaps, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(process: subprocess.Popen[str]) -> int:
    """How a process ends of Ctrl-C. Between two reads Python sees it after the next one: then people press again."""
    for _ in range(12):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=5)
    raise AssertionError("it goes on")


def unread(pipe: IO[str]) -> int:
    """Return the number of unread bytes in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def test_hints_are_for_people(run: Run, monkeypatch: pytest.MonkeyPatch):
    first = run("add", "one")
    assert "muisti search" not in first.stderr
    monkeypatch.setattr(output, "hinting", lambda _: True)
    memory = run("add", "two").stdout.strip()
    assert f"muisti restore {memory}" in run("delete", memory).stderr

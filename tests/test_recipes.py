"""Each everyday task of the documents, and the tutorial, run as a reader runs them."""

import contextlib
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from deploy.docs import tabs
from loadtests.services.muisti import serving
from muisti.service.cli import main
from tests import curl
from tests.service import mcp_client

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "how-to" / "recipes.md").read_text("utf-8")
TUTORIAL = (DOCS / "start" / "tutorial.md").read_text("utf-8")
SERVER = "http://127.0.0.1:8321"
WAYS = {"curl", "Python", "TypeScript", "CLI", "MCP"}
Run = Callable[[str], str]


def tasks() -> list[tuple[str, dict[str, str], list[str]]]:
    """Return the title of each task, its block of code by way, and the lines that each answer must have."""
    found: list[tuple[str, dict[str, str], list[str]]] = []
    for section in PAGE.split("\n## ")[1:]:
        ways = {block["title"]: block["code"] for block in tabs.blocks(section)}
        expected = re.search(r"^```text\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        found.append((section.partition("\n")[0], ways, expected[1].splitlines() if expected else []))
    return found


TASKS = tasks()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path / "muisti.db") as running:
        yield f"http://127.0.0.1:{running.port}"


def each_answers(way: str, run: Run) -> None:
    """Run the blocks of one way in their order, and compare each output with the expected lines."""
    ran = 0
    for title, ways, expected in TASKS:
        if way in ways:
            output = run(ways[way])
            assert [line for line in expected if line not in output] == [], f"{title}: {output}"
            ran += 1
    assert ran >= len(TASKS) - 2


def test_every_task_has_a_way_without_code_and_the_ways_are_known():
    assert len(TASKS) == 8
    assert {way for _, ways, _ in TASKS for way in ways} == WAYS
    assert all({"curl", "CLI"} <= set(ways) for _, ways, _ in TASKS)


def test_curl(address: str, tmp_path: Path):
    with httpx.Client(base_url=address) as client:

        def run(block: str) -> str:
            answers = [_sent(line, client, tmp_path) for line in curl.lines(block)]
            return "\n".join(answers)

        each_answers("curl", run)


def _sent(line: str, client: httpx.Client, folder: Path) -> str:
    request = curl.read(line, folder)
    answer = request.send(client)
    assert answer.is_success, answer.text
    if request.output:
        (folder / request.output).write_bytes(answer.content)
    return answer.text


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MUISTI_DATABASE_URL", f"file:{tmp_path / 'muisti.db'}")

    def run(block: str) -> str:
        results = [CliRunner().invoke(main, shlex.split(line)[1:], prog_name="muisti") for line in block.splitlines()]
        assert [one.output for one in results if one.exit_code] == []
        return "".join(one.output for one in results)

    each_answers("CLI", run)


def test_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Lines that begin with $ are commands; those below are parts of what the command prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MUISTI_DATABASE_URL", f"file:{tmp_path / 'muisti.db'}")
    blocks = re.findall(r"^```console\n(.*?)^```$", TUTORIAL, re.DOTALL | re.MULTILINE)
    commands = [one.splitlines() for block in blocks for one in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(commands) == 10
    for command, *expected in commands:
        result = CliRunner().invoke(main, shlex.split(command)[1:], prog_name="muisti")
        assert result.exit_code == (2 if "5434" in command else 0), (command, result.output)
        assert [line for line in expected if line not in result.output] == [], (command, result.output)


def test_mcp(address: str, monkeypatch: pytest.MonkeyPatch):
    """Each call goes to the usual tools, unless its section names the URL with others."""
    paths = {
        ways["MCP"]: found[0] if (found := re.findall(r"`(/mcp\?[^`]+)`", section)) else "/mcp"
        for section, (_, ways, _) in zip(PAGE.split("\n## ")[1:], TASKS, strict=True)
        if "MCP" in ways
    }
    with httpx.Client(base_url=address) as client:

        def run(block: str) -> str:
            asked: dict[str, Any] = json.loads(block)
            monkeypatch.setattr(mcp_client, "PATH", paths[block])
            found = mcp_client.call(client, asked["name"], **asked["arguments"])
            assert not found["isError"], found
            return json.dumps(found["structuredContent"])

        each_answers("MCP", run)


def test_python(address: str):
    known: dict[str, Any] = {}

    def run(block: str) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block.replace(SERVER, address), "recipes.md", "exec"), known)  # as a reader runs them
        return said.getvalue()

    try:
        each_answers("Python", run)
    finally:
        if "memory" in known:
            known["memory"].close()

"""The README's commands answer as it says, and it stays short."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from loadtests.services.muisti import serving
from tests import curl

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
CURL = re.findall(r"```sh\n(curl .*?)```\s*```json\n(.*?)```", README, re.DOTALL)
SCREEN = 60  # lines
SERVER = "127.0.0.1:8321"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("readme") / "muisti.db") as running:
        yield f"127.0.0.1:{running.port}"


def answer(command: str, address: str) -> object:
    """Return the answer to a curl command; a machine without curl sends the same request from here."""
    if shutil.which("curl"):
        done = subprocess.run(["bash", "-c", command.replace(SERVER, address)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    with httpx.Client(base_url=f"http://{address}") as client:
        return curl.read(command, Path()).send(client).json()


def test_the_curl_commands_answer_as_printed(address: str):
    assert len(CURL) == 3 and README.count("```json") == 3
    for command, printed in CURL:
        curl.check(json.loads(printed), answer(command, address))


def test_a_machine_without_curl_reads_the_same_commands(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = answer(CURL[1][0], address)
    assert isinstance(found, dict) and found["strategy"] == "hybrid"


def test_one_screen_says_what_it_is_why_and_how_to_begin():
    screen = "\n".join(README.splitlines()[:SCREEN])
    for needed in ("mem0", "basic-memory", "mcp-memory-service", "terminal-demo.svg", "muisti demo", "muisti connect"):
        assert needed in screen
    assert "## A first memory" in screen and len(README.splitlines()) < 2 * SCREEN

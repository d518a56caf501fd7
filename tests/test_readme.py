"""The README's commands, run unchanged, answer as it says."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from loadtests.services.muisti import serving

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
CURL = re.findall(r"```sh\n(curl .*?)```\s*```json\n(.*?)```", README, re.DOTALL)
MUISTI = re.findall(r"^\.venv/bin/muisti .*$", README, re.MULTILINE)
VARIES = {"id", "checked_at", "created_at", "updated_at", "seq", "space"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("readme") / "muisti.db") as running:
        yield f"127.0.0.1:{running.port}"


def run(command: str, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shape(value: Any) -> Any:
    """Return a JSON value without what differs from run to run: ids, times and days, and the digits of scores."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items() if name not in VARIES}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    if isinstance(value, str):
        return re.sub(r"\d{4}-\d\d-\d\d", "DAY", value)
    return round(value, 3) if isinstance(value, float) else value


def asked(command: str, folder: Path) -> str:
    """The answer to a curl command; a machine without curl sends the same request from here."""
    if shutil.which("curl"):
        return run(command, folder)
    _, _, url, option, body = shlex.split(command)
    assert option == "--json"
    return httpx.post(url, content=body, headers={"Content-Type": "application/json"}).text


def test_the_curl_commands_answer_as_printed(address: str, tmp_path: Path):
    assert len(CURL) == 4
    for command, printed in CURL:
        answer = asked(command.replace("127.0.0.1:8321", address), tmp_path)
        assert shape(json.loads(answer)) == shape(json.loads(printed))


def test_a_machine_without_curl_reads_the_same_commands(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    answer = asked(CURL[1][0].replace("127.0.0.1:8321", address), tmp_path)
    assert json.loads(answer)["strategy"] == "hybrid"


def test_the_command_line_works_as_printed(tmp_path: Path):
    assert len(MUISTI) == 2
    for line in MUISTI:
        found = run(line.replace(".venv/bin/muisti", str(Path(sys.executable).parent / "muisti")), tmp_path)
    assert "Deploys go out on Fridays." in found

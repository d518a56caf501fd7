"""A command asks the server that runs on its database file, and starts no service of its own."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from muisti.service.runtime.running import Running, running_on
from tests.service.app.test_server import serving, stop

pytestmark = pytest.mark.file_only

# Prints whether the command has loaded the engine or its kernels, which it needs to open the file itself.
TELLING = """
import sys
from muisti.service.cli import main
try:
    main(sys.argv[1:])
finally:
    heavy = {"muisti.core.engine", "muisti.core.kernels", "numpy", "numba", "litestar"} & {*sys.modules}
    print("engine" if "muisti.core.engine" in heavy else " ".join(sorted(heavy)) or "server", file=sys.stderr)
"""


def told(database: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    command = [sys.executable, "-W", "error", "-c", TELLING, *words, "--database", str(database), "--space", "notes"]
    return subprocess.run(
        command, env={**plain, "MUISTI_EMBEDDINGS": "off", **variables}, capture_output=True, text=True, timeout=60
    )


def way(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1]


def found(database: Path) -> Running:
    running = running_on(database)
    assert running is not None
    return running


def test_commands_ask_the_server_of_their_file_and_open_it_when_there_is_none(tmp_path: Path):
    database = tmp_path / "m.db"
    with serving(tmp_path) as (process, _):
        assert way(told(database, "add", "We deploy on Tuesdays", "--category", "rules", "--key", "deploy")) == "server"
        for words in (["get", "rules/deploy"], ["list"], ["search", "deploy"]):
            done = told(database, *words)
            assert way(done) == "server" and "We deploy on Tuesdays" in done.stdout
        stop(process)
    done = told(database, "get", "rules/deploy")
    assert way(done) == "engine" and "We deploy on Tuesdays" in done.stdout


def test_the_owner_of_the_file_needs_no_key_and_nobody_else_has_the_secret(tmp_path: Path):
    database, secret = tmp_path / "m.db", "k" * 40
    with serving(tmp_path, MUISTI_ADMIN_KEY=secret) as (_, url):
        assert way(told(database, "add", "We deploy on Tuesdays")) == "server"
        owner = found(database)
        for key, status in (("x" * 43, 401), (secret, 200), (owner.secret, 200)):
            answer = httpx.get(f"{url}/v1/spaces", headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == status
        assert httpx.get(f"{url}/v1/spaces").status_code == 401


def test_a_limited_command_opens_the_file_within_its_limits(tmp_path: Path):
    database = tmp_path / "m.db"
    with serving(tmp_path):
        assert way(told(database, "add", "We deploy on Tuesdays")) == "server"
        assert way(told(database, "list", "--access", "read-only")) == "engine"
        refused = told(database, "add", "another", MUISTI_ACCESS="read-only")
        assert refused.returncode == 1 and "read-only" in refused.stderr


def test_the_workers_of_a_server_know_the_owner(tmp_path: Path):
    with serving(tmp_path, MUISTI_WORKERS="2"):
        database = tmp_path / "m.db"
        assert {way(told(database, "add", f"note {number}")) for number in range(3)} == {"server"}


def test_a_refusal_of_the_server_names_the_file_and_the_next_step(tmp_path: Path):
    database = tmp_path / "m.db"
    with serving(tmp_path):
        done = told(database, "list")
        assert done.returncode == 0 and f"there is no space notes (--space) in {database} yet" in done.stderr

"""From a server with keys back to one without: a command on the database file alone."""

import json
from pathlib import Path

import pytest
from litestar.testing import TestClient

from muisti.service.app.app import create_app
from muisti.service.cli.commands import keys
from muisti.service.settings import Settings
from tests.service.conftest import Run

pytestmark = pytest.mark.one_store

BACK = "muisti keys clear"


@pytest.fixture
def settings(run: Run) -> Settings:
    """Settings of a database with a memory and two keys, of which one is a child of the other."""
    assert run("--database", "muisti.db", "add", "We deploy on Tuesdays").exit_code == 0
    settings = Settings(database_url=f"file:{Path('muisti.db').absolute()}", embeddings=False)
    key = run("keys", "create", "--admin").stdout.strip()
    with TestClient(create_app(settings)) as client:
        weaker = {"name": "agent", "mode": "read-only", "spaces": ["*"], "bound": True}
        made = client.post("/v1/keys", json=weaker, headers={"Authorization": f"Bearer {key}"})
        assert made.status_code == 201, made.text
    return settings


def status(settings: Settings, key: str | None = None) -> int:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    with TestClient(create_app(settings)) as client:
        return client.get("/v1/spaces", headers=headers).status_code


def test_a_server_without_keys_is_open_after_the_command_alone(run: Run, settings: Settings):
    assert status(settings) == 401
    assert run("keys", "revoke", "admin").exit_code == 0
    assert status(settings) == 401
    done = run("keys", "clear", "--yes")
    assert (done.exit_code, done.stdout) == (0, "2\n")
    assert status(settings) == 200
    assert run("keys", "list").stdout == ""


def test_a_deleted_key_opens_nothing_and_the_next_key_is_a_first_one(run: Run, settings: Settings):
    old = run("keys", "create", "--admin").stdout.strip()
    assert status(settings, old) == 200
    assert run("keys", "clear", "--yes").exit_code == 0
    assert status(settings, old) == 401
    made = run("keys", "create", "--admin")
    assert "This is the first key" in made.stderr and BACK in made.stderr
    assert (status(settings, old), status(settings), status(settings, made.stdout.strip())) == (401, 401, 200)


def test_a_server_that_runs_asks_for_a_key_until_it_is_restarted(run: Run, settings: Settings):
    with TestClient(create_app(settings)) as client:
        assert client.get("/v1/spaces").status_code == 401
        assert run("keys", "clear", "--yes").exit_code == 0
        client.app.state.keyring.forget()
        assert client.get("/v1/spaces").status_code == 401


def test_a_server_that_other_machines_reach_stays_closed(run: Run, settings: Settings):
    assert run("keys", "clear", "--yes").exit_code == 0
    with TestClient(
        create_app(Settings(database_url=settings.database_url, embeddings=False, host="0.0.0.0"))
    ) as client:
        assert client.get("/v1/spaces").status_code == 401


def test_nothing_is_deleted_without_consent(run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch):
    assert run("keys", "clear").exit_code == 64
    assert run("keys", "clear", "--dry-run", "--json").stdout == '{"deleted":2,"dry_run":true}\n'
    monkeypatch.setattr(keys, "asking", lambda: True)
    asked = run("keys", "clear", input="n\n")
    assert asked.exit_code == 1 and keys.MEANING in asked.stderr
    assert status(settings) == 401
    assert run("keys", "clear", input="y\n").exit_code == 0
    assert status(settings) == 200


def test_it_never_goes_to_a_server(run: Run, settings: Settings):
    assert run("--url", "http://127.0.0.1:9", "keys", "clear", "--yes").exit_code == 64
    remote = run("--database", "libsql://db.example", "keys", "clear", "--yes")
    assert remote.exit_code == 64 and "machine that holds it" in remote.stderr
    paths = json.loads(Path(__file__).parents[3].joinpath("docs/openapi.json").read_text("utf-8"))["paths"]
    assert "delete" not in paths["/v1/keys"]


def test_the_audit_log_notes_it(run: Run, settings: Settings):
    run("keys", "clear", "--yes")
    first = json.loads(run("audit", "--json").stdout)["items"][0]
    assert (first["action"], first["actor"]) == ("keys_cleared", "local")


def test_without_keys_it_says_so(run: Run):
    run("add", "We deploy on Tuesdays")
    refused = run("keys", "clear", "--yes")
    assert refused.exit_code == 1 and "There are no keys" in refused.stderr


def test_the_last_valid_key_that_is_revoked_names_the_way_back(run: Run, settings: Settings):
    run("keys", "create", "other", "--mode", "read-only", "--spaces", "*")
    assert BACK not in run("keys", "revoke", "other").stderr
    assert BACK in run("keys", "revoke", "admin").stderr

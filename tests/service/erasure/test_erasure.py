"""Permanent erasure over HTTP, and the report that proves it."""

import base64
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.auth.signing import Forged, verified
from muisti.service.cli import main
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.keyed import administrator, caller


def erased(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    report = response.json()["report"]
    assert report["complete"], report["found"]
    return report


def keys(client: httpx.Client) -> list[dict[str, Any]]:
    return client.get("/v1/signing-keys").json()["keys"]


def test_every_purge_that_the_docs_print_is_accepted(client: httpx.Client):
    pages = (Path(__file__).parents[3] / "docs").rglob("*.md")
    bodies = {body for page in pages for body in re.findall(r'\{"older_than_days": [\d.]+\}', page.read_text("utf-8"))}
    assert len(bodies) > 1
    for body in bodies:
        planned = client.post(f"{API}/purge?dry_run=true", content=body, headers={"Content-Type": "application/json"})
        assert planned.status_code == 200, (body, planned.text)


def test_a_memory_is_purged_and_the_report_is_signed(client: httpx.Client, memory: dict[str, Any]):
    response = client.delete(f"{API}/memories/{memory['id']}?purge=true")
    report = erased(response)
    assert report["what"] == {"memory": memory["id"]}
    assert (report["erased"]["memories"], report["seq"]) == (1, response.headers["muisti-seq"])
    assert client.get(f"{API}/memories/{memory['id']}/history").status_code == 404
    assert msgspec.json.decode(verified(response.json()["signed"], keys(client))) == report


def test_without_purge_the_history_stays(client: httpx.Client, memory: dict[str, Any]):
    assert client.delete(f"{API}/memories/{memory['id']}?purge=false").status_code == 204
    assert client.get(f"{API}/memories/{memory['id']}/history").status_code == 200


@pytest.mark.parametrize("headers", [{"If-Match": '"a.1"'}, {"Idempotency-Key": "k"}])
def test_a_purge_takes_what_there_is(client: httpx.Client, memory: dict[str, Any], headers: dict[str, str]):
    refused = client.delete(f"{API}/memories/{memory['id']}?purge=true", headers=headers)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "$.purge")


def test_a_report_that_was_changed_is_forged(client: httpx.Client, memory: dict[str, Any]):
    signed: str = client.delete(f"{API}/memories/{memory['id']}?purge=true").json()["signed"]
    head, body, signature = signed.split(".")
    text = base64.urlsafe_b64decode(body + "==").replace(b'"complete":true', b'"complete":null')
    other = base64.urlsafe_b64encode(text).rstrip(b"=").decode()
    with pytest.raises(Forged, match="is not valid"):
        verified(f"{head}.{other}.{signature}", keys(client))
    with pytest.raises(Forged, match="none of the 0 keys"):
        verified(signed, [])
    with pytest.raises(Forged):
        verified("no report", keys(client))


def test_openssl_finds_the_signature_good(client: httpx.Client, memory: dict[str, Any], tmp_path: Path):
    """As docs/how-to/erasure.md says it."""
    signed: str = client.delete(f"{API}/memories/{memory['id']}?purge=true").json()["signed"]
    head, body, signature = signed.split(".")
    (tmp_path / "text").write_text(f"{head}.{body}")
    (tmp_path / "signature").write_bytes(base64.urlsafe_b64decode(signature + "=="))
    der = bytes.fromhex("302a300506032b6570032100") + base64.urlsafe_b64decode(keys(client)[0]["x"] + "=")
    (tmp_path / "key").write_bytes(der)
    command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=False)
    assert b"Signature Verified Successfully" in done.stdout, done


def test_a_key_of_the_settings_signs(engine: Engine, tmp_path: Path):
    made = Ed25519PrivateKey.generate()
    pem = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "key.pem").write_bytes(pem)
    with TestClient(create_app(Settings(signing_key_file=str(tmp_path / "key.pem")), engine=engine)) as client:
        response = client.post(f"{API}/purge", json={"author": "nobody"})
        assert erased(response)["erased"] == {}
        raw = made.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        assert base64.urlsafe_b64decode(keys(client)[0]["x"] + "=") == raw
        verified(response.json()["signed"], keys(client))
    (tmp_path / "key.pem").write_text("no key")
    with TestClient(create_app(Settings(signing_key_file=str(tmp_path / "key.pem")), engine=engine)) as client:
        assert client.post(f"{API}/purge", json={"author": "nobody"}).json()["code"] == "store_unavailable"


def test_an_author_is_counted_then_erased(client: httpx.Client):
    for n in range(3):
        client.post(f"{API}/memories", json=draft(f"text {n}", author="Ann Example", on_conflict="keep"))
    client.post(f"{API}/memories", json=draft("by Bob", author="Bob"))
    planned = client.post(f"{API}/purge?dry_run=true", json={"author": "ann example"}).json()
    assert (planned["changes"], [one["kind"] for one in planned["items"]]) == (3, ["erased"] * 3)
    assert planned["answer"] == {"report": None, "signed": None}
    assert erased(client.post(f"{API}/purge", json={"author": "ann example"}))["erased"]["memories"] == 3
    assert [one["content"] for one in client.get(f"{API}/memories").json()["items"]] == ["by Bob"]


def test_a_space_is_emptied_when_its_name_is_typed(client: httpx.Client, memory: dict[str, Any]):
    for body in ({"everything": True}, {"everything": True, "confirm": "other"}):
        refused = client.post(f"{API}/purge", json=body)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "$.confirm")
    both = client.post(f"{API}/purge", json={"everything": True, "confirm": "default", "author": "Ann"})
    assert both.json()["errors"][0]["path"] == "$.everything"
    before = client.get("/v1/spaces/default").json()["epoch"]
    erased(client.post(f"{API}/purge", json={"everything": True, "confirm": "default"}))
    assert client.get("/v1/spaces/default").json()["epoch"] != before
    assert client.get(f"{API}/memories").json()["items"] == []


@pytest.mark.parametrize(("body", "path"), [
    ({}, "$"), ({"filter": {"nothing": 1}}, "$.filter.nothing"), ({"older_than_days": 0}, "$.older_than_days"),
    ({"who": "Ann"}, "$.who"),
])  # fmt: skip
def test_what_is_to_be_erased_must_be_said_well(client: httpx.Client, body: dict[str, Any], path: str):
    refused = client.post(f"{API}/purge", json=body)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, path), refused.text


def test_a_key_of_one_category_erases_what_is_of_it(client: httpx.Client, engine: Engine, memory: dict[str, Any]):
    administrator(engine)
    bound = caller(engine, ("read", "delete"), "default", category="notes")
    missing = client.delete(f"{API}/memories/{memory['id']}?purge=true", headers=bound.headers)
    assert missing.status_code == 404
    mine = client.post(f"{API}/memories", json=draft("a note", category="notes"), headers=administrator(engine).headers)
    erased(client.delete(f"{API}/memories/{mine.json()['id']}?purge=true", headers=bound.headers))


def test_the_command_line_purges_and_verifies(tmp_path: Path):
    def run(*words: str) -> Result:
        return CliRunner().invoke(main, [*words, "--database", str(tmp_path / "m.db"), "--space", "default"])

    one = run("add", "a secret of Ann", "--author", "Ann", "--plain").output.split()[0]
    run("add", "another of hers", "--author", "Ann", "--on-conflict", "keep")
    run("add", "a rule", "--category", "rules", "--key", "deploy")
    done = run("purge", one, "--yes", "--report", str(tmp_path / "r.json"))
    assert done.exit_code == 0, done.output
    assert "complete\tyes" in done.output
    held = run("verify-report", str(tmp_path / "r.json"))
    assert (held.exit_code, one in (tmp_path / "r.json").read_text()) == (0, True), held.output
    text = (tmp_path / "r.json").read_text()
    (tmp_path / "r.json").write_text(text.replace('"signed":"e', '"signed":"f'))
    assert run("verify-report", str(tmp_path / "r.json")).exit_code == 1
    assert run("purge", "--author", "ann", "--dry-run").stdout.startswith("erased\t")
    assert run("purge", "--author", "ann", "--yes", "--no-report").exit_code == 0
    assert run("purge", "rules", "deploy", "--yes", "--no-report").exit_code == 0
    assert run("list").stdout == ""
    for wrong in (("purge",), ("purge", one, "--author", "Ann"), ("purge", "--everything", "--yes", "--no-report")):
        assert run(*wrong).exit_code == 64
    assert run("purge", "--everything", "--confirm", "default", "--no-report").exit_code == 0

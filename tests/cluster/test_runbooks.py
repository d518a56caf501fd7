"""The runbooks of docs/how-to/operations.md, each executed on real sqld: what is lost, and what goes on."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from deploy.cluster.muisti import Muisti
from deploy.cluster.sqld import Sqld

pytestmark = [pytest.mark.prove, pytest.mark.timeout(600)]

DEFAULT = "/v1/spaces/default"
NOTES = f"{DEFAULT}/memories"
PATIENCE = 120.0
CAUGHT_UP = re.compile(r"^muisti_replica_lag_writes\{[^}]*\} 0\.0$", re.MULTILINE)


def muisti(*words: str) -> str:
    """Run a command as the operator does; return what it printed."""
    program = Path(sys.executable).with_name("muisti")
    named = {**os.environ, "MUISTI_DATABASE_NAMESPACE": "default", "MUISTI_DATABASE_TIMEOUT": "60"}
    done = subprocess.run([program, *words], env=named, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def served(folder: Path, primary: Sqld, replica: Sqld | None = None) -> Iterator[str]:
    near = {} if replica is None else {"database_replica_url": replica.url}
    made = {"database_url": primary.url, "database_namespace": "default", "embeddings": "off", **near}
    with Muisti(folder / "muisti", **made) as running:
        yield running.url


def add(url: str, *contents: str, place: str = DEFAULT) -> None:
    """Add memories, each again after a 503, as clients do."""
    for content in contents:
        body, key = {"content": content, "on_conflict": "keep"}, {"idempotency-key": uuid.uuid4().hex}
        ends = time.monotonic() + PATIENCE
        path = f"{url}{place}/memories"
        while (answer := httpx.post(path, json=body, headers=key, timeout=60, trust_env=False)).is_error:
            assert answer.status_code == 503 and time.monotonic() < ends, answer.text


def held(url: str, place: str = DEFAULT) -> set[str]:
    """Return what is stored; a reader asks again after a 503, too."""
    ends = time.monotonic() + PATIENCE
    path = f"{url}{place}/memories"
    while (answer := httpx.get(path, params={"limit": 100}, timeout=60, trust_env=False)).is_error:
        assert answer.status_code == 503 and time.monotonic() < ends, answer.text
    return {one["content"] for one in answer.json()["items"]}


def until(url: str, contents: set[str]) -> None:
    """Wait until a server without freshness has all of it."""
    ends = time.monotonic() + PATIENCE
    while held(url) != contents:
        assert time.monotonic() < ends
        time.sleep(0.2)


def test_a_primary_whose_disk_is_lost_is_made_anew_from_its_replica(tmp_path: Path):
    notes = {f"note {number}" for number in range(30)}
    with Sqld(tmp_path / "replica", primary=(primary := Sqld(tmp_path / "primary").__enter__())) as replica:
        try:
            with served(tmp_path / "one", primary, replica) as url:
                add(url, *notes)
                with served(tmp_path / "two", replica) as near:
                    until(near, notes)
                primary.kill()
                shutil.rmtree(primary.folder)
                assert held(url) == notes, "reads go on at the replica"
                refused = httpx.post(url + NOTES, json={"content": "lost"}, timeout=60, trust_env=False)
                assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
        finally:
            primary.kill()
        copy = tmp_path / "copy.db"
        muisti("--database", replica.url, "backup", str(copy))
    with Sqld(tmp_path / "new") as fresh, Sqld(tmp_path / "follower", primary=fresh) as follower:
        muisti("--database", fresh.url, "restore-backup", str(copy))
        with served(tmp_path / "three", fresh, follower) as url:
            add(url, "after")
            until(url, {*notes, "after"})


def test_a_replica_that_lags_hides_nothing_and_is_replaced_by_an_empty_one(tmp_path: Path):
    notes = {f"note {number}" for number in range(20)}
    with ExitStack() as running:
        primary = running.enter_context(Sqld(tmp_path / "primary"))
        replica = running.enter_context(Sqld(tmp_path / "replica", primary=primary))
        with served(tmp_path, primary, replica) as url:
            add(url, "first")
            assert replica.pid is not None
            os.kill(replica.pid, signal.SIGSTOP)
            add(url, *notes)
            until(url, {"first", *notes})
            replica.kill()
            shutil.rmtree(replica.folder)
            replica.start()
            with served(tmp_path / "near", replica) as near:
                until(near, {"first", *notes})
            assert held(url) == {"first", *notes}
            ends = time.monotonic() + PATIENCE
            while not CAUGHT_UP.search(httpx.get(f"{url}/metrics", timeout=60, trust_env=False).text):
                assert held(url) and time.monotonic() < ends, "the replica is used again"


def test_a_full_disk_refuses_writes_and_takes_them_again_once_there_is_room(tmp_path: Path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk needs root: {mounted.stderr.decode()}")
    try:
        with Sqld(small / "primary") as primary, served(tmp_path, primary) as url:
            add(url, "before")
            filler = small / "filler"
            with filler.open("wb") as file:
                for _ in range(1_000):
                    try:
                        file.write(b"x" * 100_000)
                        file.flush()
                    except OSError:
                        break
            body = {"content": "too much " * 10_000, "on_conflict": "keep"}
            refused = httpx.post(url + NOTES, json=body, timeout=60, trust_env=False)
            assert refused.status_code in (503, 507), refused.text
            assert held(url) == {"before"}, "reads go on"
            filler.unlink()
            ends = time.monotonic() + PATIENCE
            while httpx.post(url + NOTES, json={"content": "after"}, timeout=60, trust_env=False).status_code != 201:
                assert time.monotonic() < ends, "writes do not come back"
                primary.kill()
                primary.start()
            assert held(url) == {"before", "after"}
    finally:
        subprocess.run(["umount", "--lazy", small], check=False)


def test_a_database_is_restored_to_a_point_beside_the_one_in_use(tmp_path: Path):
    copy = tmp_path / "copy.db"
    with Sqld(tmp_path / "primary") as primary, served(tmp_path, primary) as url:
        add(url, "good")
        time.sleep(1.1)
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        time.sleep(1.1)
        add(url, "bad")
        muisti("--database", primary.url, "backup", str(copy))
        with Sqld(tmp_path / "new") as fresh:
            muisti("--database", fresh.url, "restore-backup", str(copy), "--at", at)
            with served(tmp_path / "beside", fresh) as restored:
                assert held(restored) == {"good"}
        assert held(url) == {"good", "bad"}


def test_a_tenant_moves_to_another_database_while_it_is_used(tmp_path: Path):
    """Add a database, move a space that somebody writes to, check and back up; lose the database, and move back."""
    notes = [f"note {number}" for number in range(40)]
    with ExitStack() as running:
        old = running.enter_context(Sqld(tmp_path / "old"))
        new = running.enter_context(Sqld(tmp_path / "new"))
        url = running.enter_context(served(tmp_path, old))
        tenant, here = "/v1/spaces/tenant", ("--database", old.url)
        httpx.post(f"{url}/v1/spaces", json={"name": "tenant"}, timeout=60, trust_env=False).raise_for_status()
        add(url, *notes[:10], place=tenant)
        muisti(*here, "placement", "add", "eu-1", new.url, "--namespace", "default")
        with ThreadPoolExecutor(1) as person:
            writing = person.submit(add, url, *notes[10:], place=tenant)
            muisti(*here, "placement", "move", "tenant", "--target", "eu-1", "--wait")
            writing.result()
        assert held(url, tenant) == set(notes)
        muisti(*here, "placement", "check")
        assert "eu-1\tready" in muisti(*here, "placement", "list", "--plain")
        shelves = tmp_path / "shelves"
        shelves.mkdir()
        muisti(*here, "backup", str(shelves))
        assert len(list((shelves / "eu-1").glob("*.db"))) == len(list(shelves.glob("*.db"))) == 1
        new.kill()
        refused = httpx.get(f"{url}{tenant}/memories", timeout=60, trust_env=False)
        assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
        assert held(url) == set(), "spaces of the other database are there"
        new.start()
        assert held(url, tenant) == set(notes)
        muisti(*here, "placement", "move", "tenant", "--target", "main", "--wait")
        assert held(url, tenant) == set(notes)

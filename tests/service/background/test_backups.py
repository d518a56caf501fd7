"""Backups by command and on a schedule, to a folder and to an S3 store, and restores from both."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cluster.ports import free_ports
from deploy.cluster.sqld import Sqld
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.location import Location
from muisti.core.store.backup import checked
from muisti.service.background import upkeep
from muisti.service.background.backup_targets import name_at, shelf, shelve
from muisti.service.background.tasks import sweeps_of
from muisti.service.background.upkeep import Upkeep
from muisti.service.observability.meters import Meters
from muisti.service.settings import Settings
from tests.core.fakes import NOON, SPACE, add, open_engine
from tests.service.cli.test_cli import Run, added
from tests.stores import FileStore, RemoteStore

pytestmark = pytest.mark.file_only
DAY = 86_400_000_000  # microseconds


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run an S3 server with a bucket, and set the usual environment variables for it."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("s3") / "log.txt"
    names = {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
    names |= {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"}
    with log.open("wb") as out, pytest.MonkeyPatch.context() as patch:
        for name, value in names.items():
            patch.setenv(name, value)
        command = [sys.executable, "-m", "moto.server", "-p", str(port)]
        server = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | {"NO_PROXY": "*"})
        try:
            for _ in range(600):
                try:
                    request = urllib.request.Request(f"{url}/backups", method="PUT")
                    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield "s3://backups/muisti"
        finally:
            server.terminate()
            server.wait()


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_backups_go_there_the_newest_are_kept_and_come_back(kind: str, tmp_path: Path, request: pytest.FixtureRequest):
    place = str(tmp_path / "shelf") if kind == "folder" else str(request.getfixturevalue("s3"))
    source = tmp_path / "m.db"
    with open_engine(FileStore(source)) as engine:
        for day in range(4):
            add(engine, f"day {day}")
            stamp = shelve(Location(url=f"file:{source}"), place, NOON + day * DAY, keep=2)
            assert stamp.spaces[SPACE].number == day + 1
    assert [one.name for one in shelf(place).all()] == [name_at(NOON + day * DAY) for day in (2, 3)]
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    shelf(place).get(name_at(NOON + 2 * DAY), tmp_path / "back.db")
    assert checked(tmp_path / "back.db").spaces[SPACE].number == 3


def test_the_commands_back_up_to_s3_and_restore_from_there(run: Run, s3: str):
    place = f"{s3}/by-command"
    memory = added(run, "We deploy on Tuesdays")
    report = json.loads(run("backup", place, "--keep", "3", "--json").stdout)
    assert report["path"].startswith(f"{place}/muisti-") and report["bytes"] > 0
    listed = run("backup", place, "--list", "--plain").stdout.split("\t")
    assert f"{place}/{listed[0]}" == report["path"] and int(listed[1]) == report["bytes"]
    run("delete", memory["id"])
    assert run("restore-backup", report["path"]).exit_code == 1
    assert run("restore-backup", report["path"], "--force").exit_code == 0
    assert memory["id"] in run("list", "--plain").stdout
    gone = run("restore-backup", f"{place}/muisti-20200101T000000Z.db", "--force")
    assert gone.exit_code == 1 and "backup" in gone.stderr and memory["id"] in run("list", "--plain").stdout


def test_the_commands_move_a_file_to_a_server_and_back(
    run: Run, sqld: Sqld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = RemoteStore(sqld)
    memory = json.loads(run("add", "We deploy on Tuesdays", "--json").stdout)
    here, there = str(tmp_path / "here.db"), ("--database", sqld.url)
    assert run("backup", here).exit_code == 0
    monkeypatch.setenv("MUISTI_DATABASE_NAMESPACE", target.namespace)
    refused = run(*there, "restore-backup", here, "--force")
    assert refused.exit_code == 64 and "--force is for a file" in refused.stderr
    report = run(*there, "restore-backup", here, "--json")
    assert report.exit_code == 0, report.output
    assert json.loads(report.stdout)["path"] == sqld.url
    assert run(*there, "restore-backup", here).exit_code != 0
    assert json.loads(run(*there, "get", memory["id"], "--json").stdout)["content"] == memory["content"]
    assert run(*there, "backup", str(tmp_path / "edge.db")).exit_code == 0
    assert run(*there, "backup", str(tmp_path), "--keep", "1").exit_code == 0
    sweeps = sweeps_of(Settings(database_url=sqld.url, backup_to=str(tmp_path)))  # a server may do so by itself
    assert "backup" in {each.name for each in sweeps}
    monkeypatch.delenv("MUISTI_DATABASE_NAMESPACE")
    assert run("--database", str(tmp_path / "edge.db"), "get", memory["id"]).exit_code == 0


def test_a_bucket_that_is_not_there_is_said_without_its_keys(s3: str, tmp_path: Path):
    with open_engine(FileStore(tmp_path / "m.db")) as engine:
        add(engine, "x")
    with pytest.raises(StoreUnavailable) as refused:
        shelve(Location(url=f"file:{tmp_path / 'm.db'}"), "s3://none-of-that-name", NOON)
    assert "secret" not in str(refused.value)


def test_the_upkeep_makes_backups_once_an_interval_whatever_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two processes' worth of upkeep, and a restart: one backup, since the next is not due."""
    monkeypatch.setattr(upkeep, "FIRST_SECONDS", 0.001)
    settings = Settings(database_url=f"file:{tmp_path / 'm.db'}", backup_to=str(tmp_path / "shelf"), backup_hours=1.0)
    (sweep,) = (each for each in sweeps_of(settings) if each.name == "backup")
    with open_engine(FileStore(tmp_path / "m.db")) as engine:
        add(engine, "kept")
        for _ in range(2):
            one, other = Meters(), Meters()
            with Upkeep(engine, [sweep], one), Upkeep(engine, [sweep], other):
                give_up = time.monotonic() + 60
                while not list((tmp_path / "shelf").glob("*.db")) and time.monotonic() < give_up:
                    time.sleep(0.01)
        (made,) = shelf(str(tmp_path / "shelf")).all()
    assert checked(tmp_path / "shelf" / made.name).spaces[SPACE].number == 1
    assert not [each for each in sweeps_of(Settings()) if each.name == "backup"]

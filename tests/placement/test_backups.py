"""Backups of several databases: each gets its own, by command and by itself, and no space that moves is in none."""

import json
import time
from pathlib import Path

import pytest

from muisti.core.model.errors import Conflict
from muisti.core.model.location import Location
from muisti.core.placement.directory import Directory, Target
from muisti.core.placement.mover import Mover
from muisti.core.store.backup import checked
from muisti.service.background import backup_targets, upkeep
from muisti.service.background.backup_targets import shelf, shelve_all
from muisti.service.background.fleet import Fleet
from muisti.service.background.tasks import sweeps_of
from muisti.service.runtime.databases import databases_of
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from tests.core.fakes import NOON, open_engine
from tests.placement.worlds import spread
from tests.service.conftest import Run
from tests.stores import FileStore

pytestmark = pytest.mark.file_only


def test_each_database_gets_a_backup_of_its_own(run: Run, tmp_path: Path):
    spread(run, tmp_path)
    shelves = tmp_path / "shelves"
    shelves.mkdir()
    done = run("backup", str(shelves), "--json")
    assert done.exit_code == 0, done.output
    made = {one["database"]: one for one in json.loads(done.stdout)["items"]}
    assert {name: sorted(one["spaces"]) for name, one in made.items()} == {"main": ["default"], "eu-1": ["acme"]}
    assert Path(made["eu-1"]["path"]).parent == shelves / "eu-1"
    for one in made.values():
        assert set(checked(Path(one["path"])).spaces) == set(one["spaces"])
    listed = json.loads(run("backup", str(shelves), "--list", "--json").stdout)["items"]
    assert [one["database"] for one in listed] == ["main", "eu-1"]
    assert run("--database", str(tmp_path / "back.db"), "restore-backup", made["eu-1"]["path"]).exit_code == 0


def test_one_file_for_several_databases_is_refused_in_words_that_say_what_to_do(run: Run, tmp_path: Path):
    spread(run, tmp_path)
    refused = run("backup", str(tmp_path / "all.db"))
    assert refused.exit_code == 1 and not (tmp_path / "all.db").exists()
    assert "main, eu-1" in refused.stderr and "name a folder" in refused.stderr
    alone = run("--database", str(tmp_path / "eu.db"), "backup", str(tmp_path / "eu-1.db"))
    assert alone.exit_code == 0 and set(checked(tmp_path / "eu-1.db").spaces) == {"acme"}


def test_backups_that_cannot_reach_a_database_name_it(run: Run, tmp_path: Path):
    spread(run, tmp_path)
    (tmp_path / "eu.db").write_bytes(b"no database at all" * 1000)
    refused = run("backup", str(tmp_path))
    assert refused.exit_code != 0 and "eu-1" in refused.stderr


def test_a_space_that_moves_meanwhile_is_in_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = Location(url=f"file:{tmp_path / 'main.db'}")
    with open_engine(FileStore(tmp_path / "main.db")) as main:
        directory = Directory(main.database)
        target = directory.add(Target(id=-1, name="eu-1", url=f"file:{tmp_path / 'eu.db'}"), "tester", 0)
        engine = main.beside(FileStore(tmp_path / "eu.db").open())
        databases = {0: main.database, target.id: engine.database}
        main.spaces.create("acme")
        ways = [target, directory.map.targets[0]]
        original = backup_targets.shelve
        moving = True

        def moves_between(*args: object) -> object:
            """Move the space after each backup, the worst that can happen."""
            made = original(*args)  # pyright: ignore[reportArgumentType]
            if moving:
                (asked,) = directory.ask(["acme"], ways[0], "moved", "tester", 0)
                ways.reverse()
                Mover(directory, databases.__getitem__, "tester").run(asked.id)
            return made

        monkeypatch.setattr(backup_targets, "shelve", moves_between)
        sources = databases_of(home)
        assert list(sources) == ["main", "eu-1"]
        with pytest.raises(Conflict, match="try again"):
            shelve_all(sources, str(tmp_path / "shelf"), NOON)
        count = 0

        def moves_twice(*args: object) -> object:
            nonlocal count, moving
            count += 1
            moving = count <= 2
            return moves_between(*args)

        monkeypatch.setattr(backup_targets, "shelve", moves_twice)
        stamps = shelve_all(sources, str(tmp_path / "shelf"), NOON)
        assert count > 2
        assert "acme" in {name for stamp in stamps.values() for name in stamp.spaces}
        engine.close()


def test_the_upkeep_backs_up_each_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(upkeep, "FIRST_SECONDS", 0.001)
    place = tmp_path / "shelf"
    settings = Settings(database_url=f"file:{tmp_path / 'main.db'}", backup_to=str(place), backup_hours=1.0)
    with open_engine(FileStore(tmp_path / "main.db")) as main:
        Directory(main.database).add(Target(id=-1, name="eu-1", url=f"file:{tmp_path / 'eu.db'}"), "tester", 0)
        backend = Backend(main, settings)
        sweeps = [each for each in sweeps_of(settings) if each.name == "backup"]
        fleet = Fleet(backend, sweeps, settings)
        fleet.start()
        give_up = time.monotonic() + 60
        while len(list(place.rglob("*.db"))) < 2 and time.monotonic() < give_up:
            time.sleep(0.01)
        fleet.close()
        backend.engines.close()
        backend.close()
    assert "default" in checked(next(place.glob("*.db"))).spaces
    assert [one.name for one in shelf(str(place / "eu-1")).all()] == [one.name for one in (place / "eu-1").iterdir()]
    assert len(shelf(str(place)).all()) == 1

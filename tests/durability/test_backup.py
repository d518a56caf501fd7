"""A backup made under load is one moment's state, and a restore brings back exactly that."""

import random
import threading
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from muisti.core.embedding.models import Models
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Conflict, EpochGone, NotFound, PastRetention, PointAhead, StoreCorrupt
from muisti.core.model.values import Draft, Seq
from muisti.core.operations.repair import recover
from muisti.core.store.backup import back_up, checked, restore
from muisti.core.store.copying import FileSide, carry
from muisti.core.store.file.database import FileDatabase
from tests.core.fakes import NOON, SPACE, Clock, add, open_engine
from tests.stores import FileStore, unreleased

pytestmark = pytest.mark.file_only
WRITERS = 8


def rows_at(path: Path, number: int) -> dict[str, list[tuple[object, ...]]]:
    """Compute the rows of a database as of a change of the space, from its history."""
    with closing(apsw.Connection(str(path))) as connection:
        asked = {
            "versions": "SELECT id, memory_id, version, born, CASE WHEN died <= :n THEN died END, content, tags, "
            "metadata FROM versions WHERE born <= :n ORDER BY id",
            "changes": "SELECT seq, kind, memory_id, version, committed_at FROM changes WHERE seq <= :n ORDER BY seq",
        }
        of_version = "SELECT t.* FROM {} t JOIN versions v ON v.id = t.version_id WHERE v.born <= :n ORDER BY 1, 2, 3"
        asked |= {table: of_version.format(table) for table in ("tags", "metadata", "passages", "embeddings")}
        space = "(SELECT id FROM spaces WHERE name = 's')"
        return {
            table: connection.execute(
                sql.replace("WHERE ", f"WHERE space_id = {space} AND ", 1), {"n": number}
            ).fetchall()
            for table, sql in asked.items()
        }


def busy(engine: Engine, seed: int, done: threading.Event) -> None:
    rng = random.Random(seed)
    ids: list[str] = []
    while not done.is_set():
        kind = rng.random()
        if kind < 0.6 or not ids:
            tags = (rng.choice("abc"),)
            draft = Draft(content=f"{seed} {rng.random()} " * rng.choice((1, 1, 60)), tags=tags, metadata={"n": seed})
            ids += [one.id for one in engine.owner.write.add(SPACE, [draft], on_conflict="keep").memories]
        elif kind < 0.8:
            engine.owner.write.update(SPACE, rng.choice(ids), {"content": f"changed {rng.random()}"})
        else:
            engine.owner.write.delete(SPACE, ids.pop(rng.randrange(len(ids))))
        done.wait(0.002)


def test_a_backup_under_load_is_the_state_at_its_stamp(tmp_path: Path, long: bool):
    """Compared with the history of the database itself when all is done: it is never changed, only added to."""
    store, stamps = FileStore(tmp_path / "m.db"), list[Seq]()
    with open_engine(store) as engine:
        done = threading.Event()
        writers = [threading.Thread(target=busy, args=(engine, seed, done)) for seed in range(WRITERS)]
        for writer in writers:
            writer.start()
        for number in range(50 if long else 4):
            before = engine.spaces.get(SPACE).seq
            while engine.spaces.get(SPACE).seq < before + WRITERS:  # so that each copy is of another state
                time.sleep(0.01)
            stamp = back_up(store.path, tmp_path / f"{number}.db", NOON)
            stamps.append(stamp.spaces[SPACE])
            assert stamp.size == (tmp_path / f"{number}.db").stat().st_size
        done.set()
        for writer in writers:
            writer.join()
        assert engine.spaces.get(SPACE).seq >= stamps[-1].number > stamps[0].number > 0
    for number, stamp in enumerate(stamps):
        copy = tmp_path / f"{number}.db"
        assert checked(copy).spaces[SPACE] == stamp
        assert rows_at(copy, stamp.number) == rows_at(store.path, stamp.number), number
        with open_engine(FileStore(copy)) as opened:
            assert opened.spaces.get(SPACE).at == stamp
            assert opened.owner.read.stats(SPACE).memories == len(rows_at(copy, stamp.number)["versions"]) - _dead(copy)
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def _dead(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as connection:
        return int(str(connection.execute("SELECT count(*) FROM versions WHERE died IS NOT NULL").get))


def test_what_is_restored_has_another_epoch(tmp_path: Path):
    store, copy = FileStore(tmp_path / "m.db"), tmp_path / "copy.db"
    with open_engine(store) as engine:
        add(engine, "before")
        back_up(store.path, copy, NOON)
        add(engine, "after")
        late = engine.spaces.get(SPACE).at
        with pytest.raises(Conflict, match="exists already"):
            restore(copy, store.path, NOON)
        with pytest.raises(Conflict, match="stop the server"):
            restore(copy, store.path, NOON, force=True)
        assert len(engine.owner.read.list(SPACE).items) == 2
    stamp = restore(copy, store.path, NOON, force=True)
    with open_engine(store) as engine:
        assert [one.content for one in engine.owner.read.list(SPACE).items] == ["before"]
        assert engine.spaces.get(SPACE).at == stamp.spaces[SPACE]
        with pytest.raises(EpochGone):
            engine.spaces.require(SPACE, late)
    with open_engine(FileStore(tmp_path / f"m.db.before-{NOON}")) as aside:
        assert len(aside.owner.read.list(SPACE).items) == 2


def test_a_restore_goes_back_to_a_point_of_history(tmp_path: Path):
    clock, store, copy = Clock(), FileStore(tmp_path / "m.db"), tmp_path / "copy.db"
    with open_engine(store, clock=clock) as engine:
        first, second = add(engine, "first", "second", category="c")
        then = engine.spaces.get(SPACE).at
        clock.pass_days(1)
        engine.owner.write.update(SPACE, first, {"content": "first anew"})
        engine.owner.write.delete(SPACE, second)
        add(engine, "third")
        engine.spaces.create("late")
        now = engine.spaces.get(SPACE).at
        back_up(store.path, copy, NOON)
    for place, at in enumerate((then, NOON + 3_600_000_000)):
        target = FileStore(tmp_path / f"r{place}.db")
        restore(copy, target.path, NOON, at=at)
        with open_engine(target) as engine:
            found = {one.id: (one.content, one.version) for one in engine.owner.read.list(SPACE).items}
            assert found == {first: ("first", 1), second: ("second", 1)}
            assert engine.spaces.get(SPACE).seq == then.number
            assert engine.owner.read.stats(SPACE).memories == 2
            add(engine, "goes on")
    with pytest.raises(PointAhead):
        restore(copy, tmp_path / "r.db", NOON, at=Seq(now.epoch, now.number + 1))
    with pytest.raises(NotFound):
        restore(copy, tmp_path / "r.db", NOON, at=Seq("0" * 36, 1))
    with closing(apsw.Connection(str(copy))) as connection:
        connection.execute("UPDATE spaces SET kept_from = ?", (now.number,))
    with pytest.raises(PastRetention):
        restore(copy, tmp_path / "r.db", NOON, at=then)
    assert not (tmp_path / "r.db").exists()


def test_webhooks_go_on_where_they_stood(tmp_path: Path):
    """Under the new epoch, undelivered events are delivered, and delivered events are not sent again."""
    store, copy = FileStore(tmp_path / "m.db"), tmp_path / "copy.db"
    with open_engine(store) as engine:
        add(engine, "before there was a webhook")
        engine.webhooks.create(SPACE, "https://hooks.example", (), "ids", OWNER, NOON)
        add(engine, "told", "not told")
        (due,) = engine.webhooks.due(SPACE, NOON)
        engine.webhooks.reached(due, 2, NOON)
        back_up(store.path, copy, NOON)
    for name, number, at in (("all.db", 3, None), ("earlier.db", 1, Seq(due.epoch, 1))):
        stamp = restore(copy, tmp_path / name, NOON, at=at)
        with open_engine(FileStore(tmp_path / name)) as engine:
            assert stamp.spaces[SPACE].number == number
            add(engine, "told too")
            (due_here,) = engine.webhooks.due(SPACE, NOON)
            events = engine.webhooks.next_of(SPACE, due_here, NOON)
            assert events is not None
            delivered = [event.seq for event in events.items]
            assert delivered == list(range(min(2, number) + 1, number + 2))


def test_a_damaged_backup_replaces_nothing(tmp_path: Path):
    store, copy = FileStore(tmp_path / "m.db"), tmp_path / "copy.db"
    with open_engine(store) as engine:
        add(engine, *(f"memory {n}" for n in range(50)))
        back_up(store.path, copy, NOON)
    data = bytearray(copy.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8192] = bytes(8192)
    copy.write_bytes(data)
    (tmp_path / "text").write_text("no database, but long enough to be looked at " * 99)
    for bad in (copy, tmp_path / "text"):
        with pytest.raises(StoreCorrupt):
            restore(bad, store.path, NOON, force=True)
    with pytest.raises(NotFound):
        restore(tmp_path / "none", store.path, NOON, force=True)
    with pytest.raises(NotFound):
        back_up(tmp_path / "none", tmp_path / "other", NOON)
    with open_engine(store) as engine:
        assert engine.owner.read.stats(SPACE).memories == 50
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "m.db", "text"]


def test_a_backup_does_not_replace_a_file_unasked(tmp_path: Path):
    store = FileStore(tmp_path / "m.db")
    with open_engine(store):
        (tmp_path / "b").write_text("mine")
        with pytest.raises(Conflict):
            back_up(store.path, tmp_path / "b", NOON)
        assert (tmp_path / "b").read_text() == "mine"
        back_up(store.path, tmp_path / "b", NOON, force=True)
        assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


def test_what_was_erased_is_in_no_backup_made_afterwards(tmp_path: Path):
    store = FileStore(tmp_path / "m.db")
    with open_engine(store) as engine:
        (memory_id,) = add(engine, "canary7c1d4e90aa in a sentence " * 30)
        back_up(store.path, tmp_path / "before", NOON)
        engine.eraser.memory(SPACE, memory_id, OWNER)
        back_up(store.path, tmp_path / "after", NOON)
    assert b"canary7c1d4e90aa" in (tmp_path / "before").read_bytes()
    assert b"canary7c1d4e90aa" not in (tmp_path / "after").read_bytes()


def test_a_database_from_before_the_first_release_is_refused_and_left_alone(tmp_path: Path):
    path, copy, killed = tmp_path / "a.db", tmp_path / "copy.db", tmp_path / "killed.db"
    with open_engine(path) as engine:
        add(engine, "one")
    with closing(FileDatabase(path)) as database:
        unreleased(database, 37)
        left = {Path(f"{killed}{suffix}"): Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")}
    for file, data in left.items():
        file.write_bytes(data)
    with pytest.raises(Conflict, match="muisti export"):
        open_engine(killed)
    assert {file: file.read_bytes() for file in left} == left
    before = path.read_bytes()
    tries = (
        lambda: open_engine(path),
        lambda: back_up(path, copy, NOON),
        lambda: restore(path, copy, NOON),
        lambda: recover(path, copy, Models(), NOON, lambda *_: None),
    )
    for use in tries:
        with pytest.raises(Conflict, match="muisti export"):
            use()
    with closing(apsw.Connection(str(path))) as given, pytest.raises(Conflict, match="muisti export"):
        carry(FileSide(given), FileSide(given), lambda *_: None)
    assert path.read_bytes() == before

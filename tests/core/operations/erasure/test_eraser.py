"""Erasure leaves no trace: not in a row, a segment, an index, an answer, the log or free space."""

import random
import threading
import uuid
from pathlib import Path

import apsw
import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.index import packing
from muisti.core.index.new_rows import Inserted
from muisti.core.index.packing import pack
from muisti.core.model.errors import Conflict, NotFound
from muisti.core.model.operations import Erasure
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.filters import Subject, parse
from muisti.core.query.query import Query
from muisti.core.store.database import Database, Statement
from muisti.core.store.free_space import Traces, look
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import space_row
from tests.core.fakes import NOON, SPACE, Clock, add, open_engine
from tests.stores import FileStore, Store


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch):
    """Segments of a few versions."""
    monkeypatch.setattr(packing, "PACKED", 10)
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 4_000)


def canary(rng: random.Random) -> str:
    """A word that is nowhere else, in any case."""
    return f"canary{rng.getrandbits(96):024x}"


def about(word: str, text: str) -> Draft:
    """A memory with a word in every place that takes text."""
    return Draft(
        content=text,
        category=f"{word}category",
        key=f"{word}key",
        tags=(f"{word}tag", "Plain"),
        metadata={f"{word}name": {"deep": [f"{word}value", 1.5]}, "session": f"{word}session", "turn": 1},
        author=f"Author {word}",
        reason=f"because of {word}",
        source=f"{word}source",
    )


def everything(database: Database) -> bytes:
    """All values of all rows of all tables, segments unpacked."""
    (tables,) = database.read([
        Statement("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ])  # fmt: skip
    found: list[bytes] = []
    for (table,) in tables:
        (rows,) = database.read([Statement(f"SELECT * FROM {table}")])
        found += [value.encode() if isinstance(value, str) else value for row in rows for value in row
                  if isinstance(value, str | bytes)]  # fmt: skip
    return b"\n".join(found)


def segments(database: Database) -> list[Inserted]:
    (rows,) = database.read([Statement("SELECT data FROM segments ORDER BY first")])
    return [Inserted.unpack(row[0]) for row in rows if isinstance(row[0], bytes)]


def packs(database: Database) -> None:
    space = space_row(database.read([spaces.by_name(SPACE)])[0][0])
    pack(database, space, space.generation, lambda: False)


def files(store: FileStore) -> bytes:
    """Return the bytes of the database file and of all files beside it."""
    return b"".join(path.read_bytes() for path in sorted(store.path.parent.iterdir()))


def hits(engine: Engine, text: str, **query: object) -> list[str]:
    found = engine.owner.read.search(SPACE, Query(text=text, limit=50, **query))  # pyright: ignore[reportArgumentType]
    return [hit.memory.id for hit in found.hits]


def assert_clean(report: Erasure) -> None:
    assert report.complete, report.found
    assert all(count == 0 for count in report.found.values())


def test_no_trace_of_a_purged_memory_is_left_anywhere(store: Store):
    """Two engines on the store; the canary in every field, in several versions, packed, among many others."""
    rng = random.Random(5)
    word, texts = canary(rng), canary(rng)
    with open_engine(store) as one, open_engine(store) as other:
        database = store.open()
        add(one, *(f"the {n}th house by the river stands {rng.choice(('high', 'low'))}" for n in range(25)))
        key = RequestKey("http s local", "k1", b"a hash")
        made = one.owner.write.add(
            SPACE, [about(word, f"{texts} was told to me " * 40)], on_conflict="keep", request=key
        )
        memory_id = made.memories[0].id
        one.owner.write.update(
            SPACE, memory_id, {"content": f"now {texts} is another " * 300, "tags": (f"{word}second",)}
        )
        one.owner.write.update(SPACE, memory_id, {"content": f"last {texts} of the house"})
        near = RequestKey("http s local", "k2", b"a hash")
        one.owner.write.add(SPACE, [Draft(content=f"last {texts} of the houses")], on_conflict="keep", request=near)
        twin = hits(one, f"{texts} houses")[0]
        one.eraser.memory(SPACE, twin, OWNER)
        add(one, *(f"the {n}th garden" for n in range(25)))
        packs(database)
        for engine in (one, other):
            assert memory_id in hits(engine, texts, mode="keyword")
            assert memory_id in hits(engine, f"{texts} of the house", mode="semantic")

        report = one.eraser.memory(SPACE, memory_id, Caller("an actor"))

        assert_clean(report)
        assert (report.erased["memories"], report.erased["versions"]) == (1, 3)
        assert report.erased["segments rewritten"] >= 1
        assert report.what == {"memory": memory_id}
        for engine in (one, other):
            assert memory_id not in hits(engine, texts, mode="keyword")
            assert memory_id not in hits(engine, f"{texts} of the house", mode="semantic")
            with pytest.raises(NotFound):
                engine.owner.read.get(SPACE, memory_id)
            with pytest.raises(NotFound):
                engine.owner.read.history(SPACE, memory_id)
            assert word.encode() not in repr(engine.owner.read.list(SPACE, limit=100)).encode()
        with pytest.raises(NotFound, match="erased"):
            one.owner.write.add(SPACE, [about(word, "again")], request=key)
        held = everything(database)
        assert word.encode() not in held
        assert texts.encode() not in held
        versions = {row[0] for row in database.read([Statement("SELECT id FROM versions")])[0]}
        assert all(set(part.version.tolist()) <= versions for part in segments(database))
        database.close()
        if isinstance(store, FileStore):
            assert word.encode() not in files(store)
            assert texts.encode() not in files(store)
    with open_engine(store) as again:  # from the segments that were rewritten
        assert len(hits(again, "the house garden", mode="keyword")) == 50
        assert memory_id not in hits(again, texts)


@pytest.mark.parametrize("what", ["memory", "subject", "space"])
def test_an_import_that_holds_what_is_erased_ends(store: Store, what: str, monkeypatch: pytest.MonkeyPatch):
    """Erasure ends a running import: its staged lines are deleted, and none is stored later."""
    monkeypatch.setattr("muisti.core.operations.transfer.importing.lines.PIECE", 1)
    word = canary(random.Random(8))
    with open_engine(store) as engine:
        (memory_id,) = add(engine, f"a secret {word}", author=word)
        lines = [
            msgspec.json.encode(record) for page in engine.owner.read.export(SPACE, "test").pages() for record in page
        ]
        engine.eraser.memory(SPACE, memory_id, OWNER)
        coming = engine.owner.write.begin_import(SPACE)
        coming.take(lines[:-1])
        database = store.open()
        assert word.encode() in everything(database)
        if what == "memory":
            report = engine.eraser.memory(SPACE, memory_id, OWNER)
        elif what == "subject":
            report = engine.eraser.subject(SPACE, Subject(author=word), {}, OWNER)
        else:
            report = engine.eraser.space(SPACE, OWNER, keep=True)
        assert_clean(report)
        assert report.erased["imports stopped"] == 1
        assert word.encode() not in everything(database)
        with pytest.raises(Conflict, match="try again"):
            coming.take(lines[-1:])
            coming.finish()
        coming.abandon()
        assert word.encode() not in everything(database)
        database.close()


def test_the_feed_tells_that_something_was_erased_and_no_more(store: Store):
    with open_engine(store) as engine:
        (memory_id,) = add(engine, "a secret")
        report = engine.eraser.memory(SPACE, memory_id, Caller("an actor", request="r1"))
        (rows,) = store.open().read([
            Statement("SELECT seq, kind, version, actor, request FROM changes ORDER BY seq DESC LIMIT 1")
        ])  # fmt: skip
        assert rows == [(2, "erased", None, "an actor", "r1")]
        assert report.seq == engine.spaces.get(SPACE).at
        assert [(one.action, one.target) for one in engine.audit().items][0] == ("memory_erased", memory_id)


def test_what_is_deleted_or_erased_can_be_erased_and_what_never_was_is_not_found(engine: Engine):
    (memory_id,) = add(engine, "a secret")
    engine.owner.write.delete(SPACE, memory_id)
    for memories in (1, 0):
        report = engine.eraser.memory(SPACE, memory_id, OWNER)
        assert_clean(report)
        assert report.erased.get("memories", 0) == memories
        with pytest.raises(NotFound):
            engine.owner.read.history(SPACE, memory_id)
    for never in (str(uuid.uuid4()), "no id"):
        with pytest.raises(NotFound):
            engine.eraser.memory(SPACE, never, OWNER)


def test_an_author_is_erased_with_all_memories_that_ever_bore_the_name(engine: Engine):
    theirs = add(engine, *(f"text {n}" for n in range(230)), author="Ann Example")
    (edited,) = add(engine, "by ann first", author="ANN example")
    engine.owner.write.update(SPACE, edited, {"author": "Bob", "content": "by bob now"})
    (kept,) = add(engine, "by Bob alone", author="Bob")
    subject = Subject(author="ann EXAMPLE")
    plan = engine.eraser.plan(SPACE, subject)
    assert (plan.changes, {one.memory_id for one in plan.items}) == (231, {*theirs, edited})
    report = engine.eraser.subject(SPACE, subject, {"author": "ann EXAMPLE"}, OWNER)
    assert_clean(report)
    assert (report.erased["memories"], report.erased["versions"]) == (231, 232)
    assert [one.id for one in engine.owner.read.list(SPACE).items] == [kept]
    assert hits(engine, "text bob ann") == [kept]
    assert engine.spaces.get(SPACE).seq == 232 + 1 + 231
    assert engine.owner.read.stats(SPACE).memories == 1


def test_a_source_a_filter_and_an_age_choose_what_is_erased(engine: Engine, clock: Clock):
    add(engine, "from a page", source="https://a.example")
    (old,) = add(engine, "old and private", tags=("private",))
    (plain,) = add(engine, "old and plain")
    clock.pass_days(10)
    (young,) = add(engine, "young and private", tags=("private",))
    assert_clean(engine.eraser.subject(SPACE, Subject(source="https://a.example"), {}, OWNER))
    day_5 = NOON + 5 * 86_400_000_000
    chosen = Subject(filter=parse({"tags": "private"}), older_than_us=day_5)
    assert_clean(engine.eraser.subject(SPACE, chosen, {}, OWNER))
    assert {one.id for one in engine.owner.read.list(SPACE).items} == {plain, young}
    assert old not in hits(engine, "old private")


def test_relatives_stay_and_are_named(engine: Engine):
    (first,) = add(engine, "the first")
    second = engine.owner.write.supersede(SPACE, first, Draft(content="the second")).memories[0].id
    (child,) = add(engine, "a child", parent_id=second)
    report = engine.eraser.memory(SPACE, first, OWNER)
    assert report.relatives == (second,)
    assert engine.owner.read.history(SPACE, second).chain == (second,)
    assert engine.eraser.memory(SPACE, second, OWNER).relatives == (child,)
    assert engine.owner.read.get(SPACE, child).memory.content == "a child"


def test_a_space_is_erased_or_emptied(store: Store):
    rng = random.Random(6)
    word = canary(rng)
    with open_engine(store) as one, open_engine(store) as other:
        one.owner.write.add(SPACE, [about(word, f"{word} text")], request=RequestKey("http s local", "k", b""))
        add(other, f"another {word}")
        before = other.spaces.get(SPACE)
        report = one.eraser.space(SPACE, OWNER, keep=True)
        assert_clean(report)
        assert (report.erased["memories"], report.what) == (2, {"space": SPACE, "kept": True})
        after = other.spaces.get(SPACE)
        assert (after.seq, after.settings) == (0, before.settings)
        assert after.epoch != before.epoch
        assert hits(other, word) == []
        add(one, f"a third {word}")
        assert_clean(one.spaces.delete(SPACE))
        with pytest.raises(NotFound):
            other.owner.read.list(SPACE)
        database = store.open()
        assert word.encode() not in everything(database)
        database.close()
        if isinstance(store, FileStore):
            assert word.encode() not in files(store)
        with pytest.raises(Conflict):
            one.spaces.delete("default")
        assert_clean(one.eraser.space("default", OWNER, keep=True))


def test_searches_go_on_while_memories_are_erased(store: Store):
    """Nobody sees an error or an erased memory after its erasure was answered."""
    with open_engine(store) as one, open_engine(store) as other:
        ids = add(one, *(f"river stone {n}" for n in range(18)))
        gone: list[str] = []
        failures: list[BaseException] = []
        done = threading.Event()

        def ask(engine: Engine) -> None:
            try:
                while not done.is_set():
                    before = list(gone)
                    found = hits(engine, "river stone")
                    assert not set(before) & set(found)
            except BaseException as error:  # noqa: BLE001  # told below
                failures.append(error)

        threads = [threading.Thread(target=ask, args=(engine,)) for engine in (one, other)]
        for thread in threads:
            thread.start()
        for memory_id in ids[::3]:
            (one if len(gone) % 2 else other).eraser.memory(SPACE, memory_id, OWNER)
            gone.append(memory_id)
        done.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(hits(one, "river stone")) == 12


def test_two_erase_at_once_and_pack_meanwhile(store: Store):
    """No segment keeps what either has erased."""
    with open_engine(store) as one, open_engine(store) as other:
        ids = add(one, *(f"river stone {n}" for n in range(40)))
        database = store.open()
        packs(database)
        halves = (ids[0:8:2], ids[1:8:2])
        threads = [
            threading.Thread(target=lambda e=e, part=part: [e.eraser.memory(SPACE, m, OWNER) for m in part])
            for e, part in zip((one, other), halves, strict=True)
        ]
        threads.append(threading.Thread(target=lambda: [packs(database) for _ in range(3)]))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        versions = {row[0] for row in database.read([Statement("SELECT id FROM versions")])[0]}
        packed = segments(database)
        assert packed
        assert all(set(part.version.tolist()) <= versions for part in packed)
        database.close()


@pytest.mark.file_only
def test_what_was_deleted_before_erasing_was_known_is_rewritten_once(tmp_path: Path):
    """The free space of a file of an older Muisti still has the bytes of deleted rows."""
    store = FileStore(path := tmp_path / "muisti.db")
    rng = random.Random(7)
    word = canary(rng)
    with open_engine(store):
        pass
    raw = apsw.Connection(str(path))
    raw.pragma("secure_delete", False)
    raw.pragma("user_version", 0)
    raw.execute("CREATE TABLE old (t TEXT)")
    raw.executemany("INSERT INTO old VALUES (?)", [(f"{word} " * 30,) for _ in range(200)])
    raw.execute("DELETE FROM old")
    raw.close()
    assert word.encode() in files(store)
    with open_engine(store) as engine:
        (memory_id,) = add(engine, "something else")
        assert_clean(engine.eraser.memory(SPACE, memory_id, OWNER))
        assert word.encode() not in files(store)


@pytest.mark.file_only
def test_a_reader_that_holds_the_log_is_told_in_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.store.file.writer.LOG_WAIT_MS", 10)
    with open_engine(FileStore(path := tmp_path / "muisti.db")) as engine:
        (memory_id,) = add(engine, "a secret of some length")
        reader = apsw.Connection(str(path))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM versions").fetchall()
        report = engine.eraser.memory(SPACE, memory_id, OWNER)
        assert not report.complete
        assert report.found["write-ahead log, in bytes"] > 0
        assert "free space of the file" in report.unchecked
        reader.close()
        assert_clean(engine.eraser.memory(SPACE, memory_id, OWNER))


@pytest.mark.file_only
@pytest.mark.parametrize("seed", range(2))
def test_free_space_is_known_byte_for_byte(tmp_path: Path, seed: int):
    """The scan of a file's free space finds the bytes of deleted rows, and none after VACUUM."""
    rng = random.Random(seed)
    path = tmp_path / "t.db"
    connection = apsw.Connection(str(path))
    connection.pragma("secure_delete", False)
    connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE w (a TEXT PRIMARY KEY) "
                       "WITHOUT ROWID; CREATE INDEX i ON t (b)")  # fmt: skip
    connection.execute("BEGIN")
    for n in range(300):
        text = canary(rng) * rng.choice((1, 2, 9, 400))
        connection.execute("INSERT INTO t VALUES (?, ?)", (n, text))
        connection.execute("INSERT INTO w VALUES (?)", (text[:200],))
    connection.execute("COMMIT")
    gone = [row[0] for row in connection.execute("SELECT b FROM t WHERE a % 3 = 0")]
    connection.execute("DELETE FROM w WHERE a IN (SELECT substr(b, 1, 200) FROM t WHERE a % 3 = 0)")
    connection.execute("DELETE FROM t WHERE a % 3 = 0")
    connection.close()
    traces = Traces()
    traces.add(*gone)
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    assert look(file, traces) > len(gone)
    file.xClose()
    connection = apsw.Connection(str(path))
    connection.execute("VACUUM")
    connection.close()
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    assert look(file, traces) == 0
    file.xClose()


def test_the_index_of_another_process_gives_up_the_rows(store: Store):
    with open_engine(store) as one, open_engine(store) as other:
        ids = add(one, *(f"river stone {n}" for n in range(20)))
        assert len(hits(other, "river stone")) == 20
        one.eraser.memory(SPACE, ids[3], OWNER)
        assert len(hits(other, "river stone")) == 19
        index, snapshot = other._indexes.fresh(SPACE)  # pyright: ignore[reportPrivateUsage]
        assert snapshot.size == 19
        assert index.recent.nbytes and ids[3] not in {one.id for one in index.recent.of(range(100)).values()}

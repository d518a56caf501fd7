"""Reads from a replica: never older than promised, and never lost with it."""

import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import EpochGone, NotFound, NotYetReplicated
from muisti.core.model.values import Draft, RequestKey
from muisti.core.operations.quality.probes import Expectation
from muisti.core.query.query import Query
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.migrate import migrate
from muisti.core.store.remote.database import RemoteDatabase
from tests.core.fakes import SPACE, Clock, WordEncoder, add, open_engine
from tests.core.store.test_store import generation, names
from tests.stores import RemoteStore, Store, Stores

ROUNDS = 60


@pytest.fixture
def store(sqld: Sqld, replica: Sqld) -> RemoteStore:
    return RemoteStore(sqld, replica)


def found(engine: Engine, word: str, max_age: float = 0.0) -> list[str]:
    return [hit.memory.id for hit in engine.owner.read.search(SPACE, Query(text=word, mode="keyword"), max_age).hits]


@contextmanager
def halted(sqld: Sqld) -> Iterator[None]:
    """Stop the server's process for a while, and with it all its connections."""
    assert sqld.pid is not None
    os.kill(sqld.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(sqld.pid, signal.SIGCONT)


class Counting:
    """A database that counts how often it is asked."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self, statements: list[Statement]) -> list[Rows]:
        self.reads += 1
        return self._inner.read(statements)


def test_a_replica_that_has_no_schema_yet_leaves_the_answer_to_the_primary(sqld: Sqld, sqld_of_its_own: Sqld):
    store = RemoteStore(sqld, sqld_of_its_own)
    sqld_of_its_own.create(store.namespace)  # as a replica is that has copied nothing
    database = store.open()
    migrate(database.primary, 1)
    database.write([generation("g")])
    assert names(database) == {"g"}


def test_what_was_written_is_read_from_the_replica_at_once(store: RemoteStore):
    database = store.open()
    migrate(database.primary, 1)
    for n in range(ROUNDS):
        database.write([generation(f"g{n}")])
        assert len(names(database)) == n + 1


def test_without_the_index_of_the_primary_a_replica_answers_stale(store: RemoteStore):
    """The negative control: it is the index that makes the test before this one pass."""
    database, replica = store.open(), store.replica
    assert replica is not None
    migrate(database.primary, 1)
    alone = RemoteDatabase(store.server(store.sqld), store.server(replica))
    names(alone)
    stale = 0
    for n in range(4 * ROUNDS):
        database.write([generation(f"g{n}")])
        stale += len(names(alone)) < n + 1
    assert stale > 0


def test_a_replica_that_has_not_come_so_far_is_told_within_a_second(store: RemoteStore):
    database = store.open()
    migrate(database.primary, 1)
    names(database)
    assert store.replica is not None
    with halted(store.replica):
        database.write([generation("late")])
        with pytest.raises(NotYetReplicated):
            names(database)
        assert database.meters.lag is not None and database.meters.lag() > 0
        assert names(database) == {"late"}  # whoever tries again is answered by the primary
    assert names(database) == {"late"}


def test_a_replica_that_hangs_is_not_waited_for_to_the_end_of_a_call(store: RemoteStore):
    assert store.replica is not None
    database = RemoteDatabase(store.server(store.sqld), store.server(store.replica), seconds=120)
    migrate(database.primary, 1)
    database.write([generation("seen")])
    names(database)
    with halted(store.replica):
        assert names(database) == {"seen"}


def test_when_the_replica_is_gone_the_primary_answers(sqld_of_its_own: Sqld, tmp_path_factory: pytest.TempPathFactory):
    with Sqld(tmp_path_factory.mktemp("short-lived"), primary=sqld_of_its_own) as replica:
        database = RemoteStore(sqld_of_its_own, replica).open()
        migrate(database.primary, 1)
        for n in range(5):
            database.write([generation(f"before {n}")])
            assert len(names(database)) == n + 1
        replica.kill()
        for n in range(5, 10):
            database.write([generation(f"after {n}")])
            assert len(names(database)) == n + 1
        assert sum(count for (server, _), count in database.meters.retries.read().items() if server == "replica") == 1
        replica.start()
        assert len(names(database)) == 10


def test_when_the_primary_is_gone_the_replica_answers(sqld_of_its_own: Sqld, tmp_path_factory: pytest.TempPathFactory):
    with Sqld(tmp_path_factory.mktemp("long-lived"), primary=sqld_of_its_own) as replica:
        database = RemoteStore(sqld_of_its_own, replica).open()
        migrate(database.primary, 1)
        for n in range(ROUNDS):  # a replica that begins asks the primary until it has what there was
            database.write([generation(f"g{n}")])
            assert len(names(database)) == n + 1
        sqld_of_its_own.kill()
        for _ in range(5):
            assert len(names(database)) == ROUNDS
        sqld_of_its_own.start()


@pytest.mark.parametrize("strong", [False, True], ids=["point", "strong"])
def test_what_one_server_has_acknowledged_the_other_reads(store: RemoteStore, strong: bool):
    """At the point that the first gave, or with a strong read."""
    with open_engine(store) as one, open_engine(store) as other:
        for n in range(ROUNDS // 2):
            written = one.owner.write.add(SPACE, [Draft(content=f"heron{n} by the lake")], on_conflict="keep")
            if strong:
                other.spaces.catch_up(SPACE)
            else:
                other.spaces.require(SPACE, written.seq)
            assert found(other, f"heron{n}") == [written.memories[0].id]


def test_a_point_of_a_space_that_has_just_been_made_anew_is_known_everywhere(store: RemoteStore):
    with open_engine(store) as one, open_engine(store) as other:
        for n in range(10):
            old = one.owner.write.add(SPACE, [Draft(content=f"heron{n}")], on_conflict="keep").seq
            other.spaces.require(SPACE, old)
            assert len(found(other, f"heron{n}")) == 1
            one.spaces.delete(SPACE)
            new = one.spaces.create(SPACE).at
            other.spaces.require(SPACE, new)
            assert found(other, f"heron{n}") == []
            with pytest.raises(EpochGone):
                other.spaces.require(SPACE, old)
            with pytest.raises(NotFound):
                other.spaces.require("nowhere", old)


def test_a_bounded_search_asks_no_database_while_what_it_needs_is_at_hand(stores: Stores):
    database = Counting(stores().open())
    with Engine(database, WordEncoder(), Clock()) as engine:  # pyright: ignore[reportArgumentType]  # it delegates
        engine.spaces.create(SPACE)
        (id_,) = add(engine, "a heron by the lake")
        assert found(engine, "heron", 60) == [id_]
        before = database.reads
        for _ in range(5):
            assert found(engine, "heron", 60) == [id_]
        assert database.reads == before
        assert found(engine, "heron") == [id_]
        assert database.reads == before + 1  # one round trip, and no more, for a warm search
        (second,) = add(engine, "another heron")
        assert set(found(engine, "heron", 60)) == {id_, second}


def test_an_index_that_is_ahead_of_its_database_is_thrown_away(stores: Stores):
    """As when a copy of earlier days was put in its place."""
    store: Store = stores()
    with open_engine(store) as engine:
        (kept,) = add(engine, "a heron by the lake")
        add(engine, "a heron in the reeds")
        assert len(found(engine, "heron")) == 2
        database = store.open()
        earlier = ["DELETE FROM versions WHERE born = 2", "DELETE FROM changes WHERE seq = 2"]
        database.write([Statement(sql) for sql in [*earlier, f"UPDATE spaces SET seq = 1 WHERE name = '{SPACE}'"]])
        assert found(engine, "heron") == [kept]
        database.close()


def test_what_is_purged_is_found_at_no_server_and_its_rows_are_written_over(store: RemoteStore, sqld: Sqld):
    """In the file of the primary nothing is left but what trees have moved before: of a hundred copies not one."""
    word = f"canary{uuid.uuid4().hex}"
    with open_engine(store) as here, open_engine(store.alone()) as there:
        add(there, *(f"the house number {n} by the river" for n in range(40)))
        draft = Draft(content=f"a {word} sang " * 50, category=f"c {word}", key=f"k {word}", tags=(f"t {word}",),
                      metadata={f"m {word}": [f"v {word}"]}, author=f"a {word}", source=f"s {word}")  # fmt: skip
        (bird,) = there.owner.write.add(SPACE, [draft], on_conflict="keep", request=RequestKey("s", "k", b"")).memories
        there.owner.write.update(SPACE, bird.id, {"content": f"last {word} of the river " * 50})
        here.spaces.catch_up(SPACE)
        assert bird.id in found(here, word) and bird.id in found(there, word)
        sqld.checkpoint(store.namespace)
        before = sqld.database(store.namespace).read_bytes().count(word.encode())

        report = there.eraser.memory(SPACE, bird.id, OWNER)

        assert report.complete, report.found
        here.spaces.catch_up(SPACE)  # what another server wrote is promised only for a strong read
        for engine in (here, there):
            for mode in ("keyword", "semantic", "hybrid"):
                answer = engine.owner.read.search(SPACE, Query(text=f"last {word} of the river", mode=mode, limit=50))
                assert bird.id not in {hit.memory.id for hit in answer.hits}
            with pytest.raises(NotFound):
                engine.owner.read.history(SPACE, bird.id)
        sqld.checkpoint(store.namespace)
        left = sqld.database(store.namespace).read_bytes().count(word.encode())
        assert before > 100 and left * 100 <= before


def test_callers_of_a_purged_memory_are_written_over_too(store: RemoteStore, sqld: Sqld):
    """Who found it, asked for it and judged it: names of callers, and the category that a caller is held to."""
    word = uuid.uuid4().hex
    with open_engine(store.alone()) as engine:
        name = f"c {word}"
        (bird,) = engine.owner.write.add(SPACE, [Draft(content="a heron sang", category=name, key="k")]).memories
        for number in range(40):
            caller = Caller(f"actor {number} {word}", name)
            answer = engine.seen_by(caller).read.search(SPACE, Query(text="heron"))
            engine.receipts.keep(SPACE, b"{}", answer, engine.now(), caller, engine.now())
            engine.seen_by(caller).review.give_feedback(SPACE, bird.id, "useful")
            engine.probes.add(SPACE, Expectation(query="heron", memory_id=bird.id), Caller(caller.actor), engine.now())

        def copies() -> int:
            sqld.checkpoint(store.namespace)
            return sqld.database(store.namespace).read_bytes().count(word.encode())

        before = copies()
        report = engine.eraser.memory(SPACE, bird.id, OWNER)
        assert report.complete, report.found
        left = copies()
        assert before > 100 and left * 20 <= before, (before, left)

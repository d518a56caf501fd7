"""Spaces that have left a database, or never arrived in it, are gone from its rows and from its file."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.identity.caller import Caller
from muisti.core.model.buckets import bucket_of, unit_of
from muisti.core.model.quality import Expectation
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from muisti.core.store.sql.tables import TABLES
from tests.core.crashes import Deadly
from tests.placement.worlds import World, world
from tests.stores import RemoteStore, migrated

SPACE = "acme"
UNIT = unit_of(bucket_of(SPACE))


@pytest.fixture
def word() -> str:
    return f"canary{uuid.uuid4().hex}"


def filled(made: World, word: str) -> None:
    """Make a space with a rare word in every place that a caller can fill in a few calls."""
    engine = made.engines[0]
    engine.spaces.create(SPACE)
    draft = Draft(content=f"a {word} sang " * 50, category=f"c {word}", key=f"k {word}", tags=(f"t {word}",),
                  metadata={f"m {word}": [f"v {word}"]}, author=f"a {word}", source=f"s {word}")  # fmt: skip
    owner, caller = engine.owner, Caller(f"actor {word}")
    (bird,) = owner.write.add(SPACE, [draft], request=RequestKey("http x", "key", b"h" * 32)).memories
    owner.write.update(SPACE, bird.id, {"content": f"last {word} of the river " * 50})
    owner.write.add(SPACE, [Draft(content=f"{word} number {n} by the lake") for n in range(250)], on_conflict="keep")
    answer = owner.read.search(SPACE, Query(text=word))
    engine.receipts.keep(SPACE, word.encode(), answer, engine.now(), caller, engine.now())
    engine.probes.add(SPACE, Expectation(query=word, memory_id=bird.id), caller, engine.now())
    engine.flush_retrievals()


def readable(made: World, id_: int, word: str) -> dict[str, int]:
    """Return in which tables of a database SQL finds the word."""
    found: dict[str, int] = {}
    for table in TABLES:
        either = " OR ".join(f"instr(CAST({name} AS BLOB), CAST(? AS BLOB))" for name in table.columns)
        ask = Statement(f"SELECT count(*) FROM {table.name} WHERE {either}", (word,) * len(table.columns))
        ((count,),) = made.databases[id_].read([ask])[0]
        if count:
            found[table.name] = int(count)
    return found


def test_no_table_has_a_word_of_what_has_left(tmp_path: Path, word: str):
    with world(tmp_path, 2) as made:
        filled(made, word)
        assert len(readable(made, 0, word)) > 4
        assert made.move(UNIT, "a").step == "ended"
        assert not readable(made, 0, word)
        assert len(readable(made, 1, word)) > 4


def test_no_table_has_a_word_of_what_did_not_arrive(tmp_path: Path, word: str):
    with world(tmp_path, 2) as made:
        filled(made, word)
        asked = made.ask(UNIT, "a")
        mover = made.mover()

        def stop(step: str) -> None:
            move = made.directory.move(asked.id)
            if step == "followed" and move.ended_at is None:
                assert readable(made, 1, word)
                assert made.mover().back(move, "asked").step == "back"

        mover._after = stop
        mover.run(asked.id)
        assert made.directory.move(asked.id).step == "back"
        assert not readable(made, 1, word)
        assert made.keepers(SPACE) == [0]


@pytest.fixture
def servers(sqld: Sqld) -> Iterator[tuple[World, list[RemoteStore]]]:
    stores = [RemoteStore(sqld), RemoteStore(sqld)]
    made = World([Deadly(migrated(one)) for one in stores])
    try:
        yield made, stores
    finally:
        for engine in made.engines.values():
            engine.close()


def test_a_server_writes_over_what_has_left(servers: tuple[World, list[RemoteStore]], sqld: Sqld, word: str):
    """In the file of the source nothing is left but what trees have moved before: of a hundred copies not one."""
    made, (source, _) = servers

    def copies() -> int:
        sqld.checkpoint(source.namespace)
        return sqld.database(source.namespace).read_bytes().count(word.encode())

    filled(made, word)
    before = copies()
    assert made.move(UNIT, "a").step == "ended"
    left = copies()
    assert not readable(made, 0, word)
    assert before > 100 and left * 100 <= before, (before, left)

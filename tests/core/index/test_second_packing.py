"""Packed vectors of a second model: erased ones leave their segments, damaged ones are found and stop nothing."""

from collections.abc import Iterator
from contextlib import closing
from typing import cast

import pytest

from muisti.core.embedding.models import Models
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.index import cache, packing
from muisti.core.index.packing import Packed
from muisti.core.model.times import DAY_US
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql.index_rows import SECOND
from tests.core.fakes import NOON, SPACE, WordEncoder, add
from tests.core.operations.generations.seconds import NAME, TEXTS, Slow, opened, reloaded, stored, switch, vectors
from tests.stores import Store


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch):
    """Segments of a few versions, so that a few dozen make several."""
    monkeypatch.setattr(packing, "PACKED", 7)
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 1_000)
    monkeypatch.setattr(packing, "READ_BYTES", 1_800)
    monkeypatch.setattr(cache, "LOOSE", 10)


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    with opened(store, Slow()) as engine:
        yield engine


def filled(engine: Engine) -> list[str]:
    """Store texts with their second vectors, packed."""
    ids = add(engine, *TEXTS)
    switch(engine)
    packs(engine)
    return ids


def packs(engine: Engine) -> None:
    reloaded(engine)
    engine.settle()


def packed(engine: Engine) -> list[Packed]:
    (rows,) = engine._database.read([Statement("SELECT data FROM segments WHERE format = ? ORDER BY first", (SECOND,))])
    return [Packed.unpack(cast(bytes, row[0])) for row in rows]


def versions(segments: list[Packed]) -> set[int]:
    return {version for one in segments for version in one.versions.tolist()}


def living(engine: Engine) -> set[int]:
    (rows,) = engine._database.read([Statement("SELECT id FROM versions WHERE died IS NULL")])
    return {cast(int, row[0]) for row in rows}


def damage(database: Database, data: bytes) -> None:
    """Replace the bytes of the second segment of all."""
    among = "SELECT first FROM segments WHERE format = ? ORDER BY first LIMIT 1 OFFSET 1"
    database.write([
        Statement(f"UPDATE segments SET data = ? WHERE format = ? AND first = ({among})", (data, SECOND, SECOND))
    ])  # fmt: skip


def test_erasing_a_memory_leaves_its_second_vectors_in_no_segment_and_the_others_packed(engine: Engine):
    ids = filled(engine)
    before = packed(engine)
    gone = engine.owner.read.get(SPACE, ids[20]).memory.content
    vector = engine._database.read([
        Statement(
            "SELECT e.vector FROM versions v JOIN embeddings e ON e.version_id = v.id "
            "JOIN generations g ON g.id = e.generation_id WHERE v.content = ? AND g.model = ?",
            (gone, NAME),
        )
    ])[0][0][0]  # fmt: skip
    report = engine.eraser.memory(SPACE, ids[20], OWNER)
    assert report.complete and report.erased["segments rewritten"] >= 2
    after = packed(engine)
    assert len(after) == len(before) and sum(map(len, after)) == sum(map(len, before)) - 1
    assert versions(after) == versions(before) & living(engine) and stored(engine) == len(TEXTS) - 1
    assert all(cast(bytes, vector) not in one.vectors.tobytes() for one in after)
    assert len(reloaded(engine)) == len(TEXTS) - 1


def test_an_emptied_segment_is_read_and_packing_goes_on_behind_it(engine: Engine):
    ids = filled(engine)
    first = {cast(int, version) for version in packed(engine)[0].versions.tolist()}
    for number in range(len(first)):
        engine.eraser.memory(SPACE, ids[number], OWNER)
    assert len(packed(engine)[0]) == 0
    add(engine, *(f"{text} again" for text in TEXTS[:20]))
    switch(engine)
    packs(engine)
    assert len(reloaded(engine)) == len(TEXTS) - len(first) + 20
    assert versions(packed(engine)) <= living(engine)


def test_erasing_a_space_leaves_none_of_its_second_vectors(engine: Engine):
    filled(engine)
    assert engine.eraser.space(SPACE, OWNER, keep=True).complete
    assert packed(engine) == [] and stored(engine) == 0


def test_history_that_is_no_longer_kept_takes_its_second_vectors_along(engine: Engine, store: Store):
    ids = filled(engine)
    for number in range(10):
        engine.owner.write.update(SPACE, ids[number], {"content": f"changed {number}"})
    switch(engine)
    engine.spaces.set_policy(SPACE, {"history_days": 1})
    while engine.upkeep.forget_history(SPACE, NOON + 400 * DAY_US):
        pass
    packs(engine)
    assert versions(packed(engine)) <= living(engine) and stored(engine) == len(TEXTS) == len(reloaded(engine))


def test_a_version_without_a_second_vector_does_not_stop_the_packing(engine: Engine):
    add(engine, *TEXTS)
    switch(engine)
    engine._database.write([
        Statement(
            "DELETE FROM embeddings WHERE generation_id = (SELECT id FROM generations WHERE model = ?) "
            "AND version_id = (SELECT min(id) FROM versions)",
            (NAME,),
        )
    ])  # fmt: skip
    packs(engine)
    assert sum(map(len, packed(engine))) >= len(TEXTS) - 7


@pytest.mark.parametrize("how", ["cut", "noise", "empty", "of another model"])
def test_a_damaged_segment_is_found_and_said_and_stops_nothing(engine: Engine, store: Store, how: str):
    ids, models = filled(engine), Models(WordEncoder("own"))
    good = vectors(engine)
    with closing(store.open()) as database:
        assert look(database, models, lambda *_: None).segments == []
        one = packed(engine)[1]
        data = {
            "cut": one.pack()[:-9],
            "noise": bytes(range(256)),
            "empty": b"",
            "of another model": Packed(one.versions, one.numbers, one.vectors[:, :-4]).pack(),
        }[how]
        damage(database, data)
        assert reloaded(engine) == good
        assert engine.eraser.memory(SPACE, ids[50], OWNER).complete
        findings = look(database, models, lambda *_: None)
        assert findings.segments == [SPACE] and not findings.flaws
        mend(database, models, findings, NOON)
        assert look(database, models, lambda *_: None).segments == []
        assert len(reloaded(engine)) == len(TEXTS) - 1


def test_a_segment_with_another_vector_than_the_stored_one_is_found(engine: Engine, store: Store):
    filled(engine)
    with closing(store.open()) as database:
        one = packed(engine)[1]
        changed = one.vectors.copy()
        changed[0, 20] ^= 1
        damage(database, Packed(one.versions, one.numbers, changed).pack())
        assert look(database, Models(), lambda *_: None).segments == [SPACE]

"""Second vectors go where their passages go: exports, undone changes, earlier points, backups, forks and rescues."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from muisti.core.embedding.models import Models
from muisti.core.engine import Engine
from muisti.core.model.location import Location
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Seq
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend, recover
from muisti.core.operations.whole_database import back_up
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.store import backup
from muisti.core.store.database import Statement
from tests.core.fakes import NOON, SPACE, WordEncoder, add
from tests.core.operations.generations.seconds import (
    NAME,
    TEXTS,
    Slow,
    opened,
    reloaded,
    settle,
    stored,
    switch,
    vectors,
)
from tests.stores import FileStore, RemoteStore, Store, Stores

FEW = TEXTS[:12]


def exported(engine: Engine, *, vectors: bool) -> list[bytes]:
    pages = engine.owner.read.export(SPACE, "test", vectors=vectors).pages()
    return [msgspec.json.encode(record) for page in pages for record in page]


def bring(engine: Engine, lines: Sequence[bytes]) -> None:
    incoming = engine.owner.write.begin_import(SPACE)
    try:
        incoming.take(lines)
        incoming.finish()
    finally:
        incoming.abandon()


def location(store: Store) -> Location:
    if isinstance(store, FileStore):
        return Location(url=f"file:{store.path}")
    assert isinstance(store, RemoteStore)
    return Location(url=store.sqld.url, namespace=store.namespace)


def by_text(engine: Engine) -> Counter[object]:
    """Count the second vectors of the index that loads now, whatever versions have them."""
    return Counter(reloaded(engine).values())


def fresh(stores: Stores, texts: Sequence[str]) -> Counter[object]:
    with opened(stores(), Slow()) as engine:
        add(engine, *texts)
        switch(engine)
        return by_text(engine)


@pytest.mark.parametrize("chosen", ["before", "after", "by the server"])
def test_an_export_with_vectors_has_the_second_ones_and_an_import_keeps_them(
    engine: Engine, stores: Stores, chosen: str
):
    add(engine, *FEW)
    switch(engine)
    lines, expected = exported(engine, vectors=True), by_text(engine)
    slow = Slow()
    with opened(stores(), slow) as other:
        if chosen == "by the server":
            other.models.seconds.default = NAME
        if chosen == "before":
            other.spaces.set_policy(SPACE, {"second_model": NAME})
        bring(other, lines)
        assert not slow.embedded
        switch(other)
        assert by_text(other) == vectors_counted(other) == expected
        assert sum(slow.embedded.values()) == (len(FEW) if chosen == "after" else 0)


def vectors_counted(engine: Engine) -> Counter[object]:
    return Counter(vectors(engine).values())


@pytest.mark.parametrize("other_model", [False, True])
def test_without_them_in_the_file_or_of_another_model_second_vectors_follow(
    engine: Engine, stores: Stores, other_model: bool
):
    add(engine, *FEW)
    switch(engine)
    lines = exported(engine, vectors=other_model)
    slow = Slow("another" if other_model else "slow")
    with opened(stores(), slow) as other:
        switch(other)
        bring(other, lines)
        settle(other)
        assert slow.embedded == dict.fromkeys(FEW, 1) and len(reloaded(other)) == len(FEW)


def test_an_undone_change_gets_the_second_vector_of_the_earlier_text(engine: Engine, stores: Stores):
    ids = add(engine, *FEW)
    switch(engine)
    engine.owner.write.update(SPACE, ids[0], {"content": "something else"})
    engine.owner.write.delete(SPACE, ids[1])
    settle(engine)
    assert len(vectors(engine)) == len(FEW) - 1
    engine.owner.write.undo(SPACE, Undo(last=2))
    settle(engine)
    assert vectors_counted(engine) == by_text(engine) == fresh(stores, FEW)


def test_a_space_that_is_rolled_back_has_the_second_vectors_of_then_at_once(engine: Engine, slow: Slow, stores: Stores):
    ids = add(engine, *FEW)
    switch(engine)
    then = engine.spaces.get(SPACE).seq
    engine.owner.write.update(SPACE, ids[0], {"content": "something else"})
    engine.owner.write.delete(SPACE, ids[1])
    add(engine, "one more")
    settle(engine)
    slow.embedded.clear()
    engine.owner.timeline.roll_back(SPACE, str(then))
    assert vectors_counted(engine) == by_text(engine) == fresh(stores, FEW)
    settle(engine)
    assert not slow.embedded


def test_an_earlier_point_is_asked_by_the_second_vectors_of_its_versions(engine: Engine):
    ids = add(engine, *FEW)
    switch(engine)
    then = engine.spaces.get(SPACE).seq

    def asked(as_of: AsOf | None) -> Mapping[str, float]:
        query = Query(text=FEW[0], mode="semantic", limit=50, explain=True, second_query="transformer", as_of=as_of)
        hits = engine.owner.read.search(SPACE, query).hits
        return {
            hit.memory.content: hit.explain.second.second
            for hit in hits
            if hit.explain is not None and not isinstance(hit.explain.second, msgspec.UnsetType)
        }

    now = asked(None)
    assert set(now) == set(FEW) and now[FEW[0]] == pytest.approx(1, abs=0.01)
    engine.owner.write.update(SPACE, ids[0], {"content": "something else"})
    engine.owner.write.delete(SPACE, ids[1])
    settle(engine)
    assert set(asked(None)) == {*FEW[2:], "something else"}
    assert asked(AsOf(number=then)) == pytest.approx(now)


def test_a_merged_fork_brings_its_second_vectors(engine: Engine, slow: Slow):
    add(engine, *FEW)
    switch(engine)
    engine.owner.timeline.fork(SPACE, "copy")
    add(engine, "new in the copy", space="copy")
    settle(engine)
    assert engine.spaces.get("copy").second == slow.identity
    engine.owner.timeline.merge("copy", SPACE, None)
    settle(engine)
    assert len(reloaded(engine)) == len(FEW) + 1 and set(slow.embedded.values()) == {1}


def test_a_backup_has_the_second_vectors_and_a_restored_store_embeds_nothing(
    engine: Engine, store: Store, tmp_path: Path
):
    ids = add(engine, *FEW)
    switch(engine)
    found = engine.spaces.get(SPACE)
    then, expected = Seq(found.epoch, found.seq), by_text(engine)
    engine.owner.write.update(SPACE, ids[0], {"content": "something else"})
    engine.owner.write.delete(SPACE, ids[1])
    settle(engine)
    later, copy = by_text(engine), tmp_path / "copy.db"
    back_up(location(store), copy, NOON)
    for at, wanted in ((None, later), (then, expected)):
        slow, target = Slow(), tmp_path / f"restored {at}.db"
        backup.restore(copy, target, NOON, at=at)
        with opened(FileStore(target), slow) as restored:
            settle(restored)
            assert by_text(restored) == wanted and not slow.embedded


@pytest.mark.file_only
def test_second_vectors_of_a_rescued_file_follow_again(tmp_path: Path):
    place = FileStore(tmp_path / "old.db")
    with opened(place, Slow()) as engine:
        add(engine, *FEW)
        switch(engine)
        expected = by_text(engine)
    recover(place.path, tmp_path / "new.db", Models(WordEncoder("own")), NOON, lambda *_: None)
    slow = Slow()
    with opened(FileStore(tmp_path / "new.db"), slow) as rescued:
        assert stored(rescued) == 0 and rescued.spaces.get(SPACE).second is None
        settle(rescued)
        assert by_text(rescued) == expected and slow.embedded == dict.fromkeys(FEW, 1)


def test_a_repaired_memory_gets_its_second_vector_again(engine: Engine, store: Store, slow: Slow):
    add(engine, *FEW)
    switch(engine)
    expected, models = by_text(engine), Models(WordEncoder("own"))
    with closing(store.open()) as database:
        database.write([
            Statement("UPDATE passages SET terms = x'00' WHERE version_id = (SELECT min(id) FROM versions)")
        ])  # fmt: skip
        findings = look(database, models, lambda *_: None)
        assert mend(database, models, findings, NOON) == 1 and stored(engine) == len(FEW) - 1
    settle(engine)
    assert by_text(engine) == expected and stored(engine) == len(FEW)

"""Erasing a memory erases all that came of it: names, aliases, relations and evidence, also in files and segments."""

import random
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.model import EntityChange, NewRelation
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Draft
from muisti.core.query.filters import Subject
from muisti.core.store.backup import back_up, restore
from muisti.core.store.database import Database, Statement
from tests.core.fakes import NOON, SPACE, add, open_engine
from tests.core.operations.erasure.test_eraser import assert_clean, everything, files
from tests.graph.plain import toy_reader
from tests.stores import FileStore, Store


def word(rng: random.Random) -> str:
    """A name that is nowhere else."""
    return f"Canary{rng.getrandbits(80):020x}"


TABLES = ("entities", "mentions", "relations", "aliases")


def counts(database: Database) -> list[int]:
    rows = database.read([Statement(f"SELECT count(*) FROM {one}") for one in TABLES])
    return [int(str(found[0][0])) for found in rows]


def test_no_name_of_a_purged_memory_is_left_anywhere(store: Store):
    rng = random.Random(3)
    name, author, alias, other = (word(rng) for _ in range(4))
    with open_engine(store, graph_reader=toy_reader) as engine:
        database = store.open()
        add(engine, "Ann met Bob in Turku", "Bob live in Oslo", author="Ann")
        engine.owner.graph.extend(SPACE)
        before = counts(database)
        graph, write = engine.owner.graph, engine.owner.write
        told = write.add(
            SPACE, [Draft(content=f"{name} live in Oslo. I like {name}", author=author)], on_conflict="keep"
        ).memories[0]
        write.update(SPACE, told.id, {"content": f"{name} met Ann. I like {name}"})
        said = graph.put_entity(SPACE, name, EntityChange(aliases=(alias,), apart=("Bob",))).memories[0]
        stated = graph.relate(SPACE, NewRelation(subject=name, kind="likes", object=other)).memories[0]
        assert {one.kind for one in graph.entity(SPACE, alias).facts} == {"likes"}
        most, reports = counts(database), []
        texts = [one.lower() for one in (name, author, alias, other)]
        assert all(one.encode() in everything(database).lower() for one in texts)
        for memory in (told, said, stated):
            report = engine.eraser.memory(SPACE, memory.id, OWNER)
            assert_clean(report)
            assert report.found["entities"] == 0
            reports.append({table: report.erased[table] for table in TABLES})
        assert [sum(one[table] for one in reports) for table in TABLES] == [
            now - then for now, then in zip(most, before, strict=True)
        ]
        for one in (name, author, alias, other):
            with pytest.raises(NotFound):
                graph.entity(SPACE, one)
        held = everything(database).lower()
        assert not any(one.encode() in held for one in texts)
        assert counts(database) == before
        database.close()
        if isinstance(store, FileStore):
            assert not any(one.encode() in files(store).lower() for one in texts)


@pytest.mark.file_only
def test_short_names_are_in_no_byte_of_the_file_whatever_else_is_named(tmp_path: Path):
    """Many names in random order, a tenth of them erased: SQLite leaves copies of keys where it balances an index."""
    rng, store = random.Random(1), FileStore(tmp_path / "m.db")
    names = [f"K{rng.getrandbits(40):010x}" for _ in range(1_500)]
    gone = {name.lower().encode() for name in names if rng.random() < 0.1}
    with open_engine(store, graph_reader=toy_reader, embeddings=False) as engine:
        for start in range(0, len(names), 100):
            drafts = [
                Draft(content=f"{one} met Ann", author="gone" if one.lower().encode() in gone else "kept")
                for one in names[start : start + 100]
            ]
            engine.owner.write.add(SPACE, drafts, on_conflict="keep")
        engine.owner.graph.extend(SPACE)
        assert all(one in files(store).lower() for one in gone)
        report = engine.eraser.subject(SPACE, Subject(author="gone"), {}, OWNER)
        assert_clean(report)
        assert report.erased["entities"] == len(gone) + 1  # and their author
        assert [one for one in gone if one in files(store).lower()] == []
        assert engine.owner.graph.entities(SPACE).total == len(names) - len(gone) + 2


def test_a_name_stays_as_long_as_another_memory_mentions_it(engine: Engine):
    first, second = add(engine, "Ann met Bob", "Bob live in Oslo")
    assert engine.owner.graph.entity(SPACE, "Bob").entity.mentions == 2
    engine.eraser.memory(SPACE, first, OWNER)
    assert engine.owner.graph.entity(SPACE, "Bob").entity.mentions == 1
    engine.owner.write.delete(SPACE, second)
    assert not engine.owner.graph.entities(SPACE).items
    engine.owner.write.restore(SPACE, second)
    assert [one.name for one in engine.owner.graph.entities(SPACE, sort="name").items] == ["Bob", "Oslo"]


def test_an_erased_space_takes_its_graph_along(store: Store):
    with open_engine(store, graph_reader=toy_reader) as engine:
        database = store.open()
        engine.spaces.create("other")
        add(engine, "Ann met Bob", space="other")
        engine.owner.graph.extend("other")
        assert sum(counts(database))
        assert_clean(engine.eraser.space("other", OWNER, keep=True))
        assert not sum(counts(database))
        add(engine, "Ann met Carl", space="other")
        assert {one.name for one in engine.owner.graph.entities("other").items} == {"Ann", "Carl"}
        database.close()


@pytest.mark.file_only
def test_a_backup_that_is_restored_as_of_a_change_has_the_graph_of_then(tmp_path: Path):
    path = tmp_path / "a.db"
    with open_engine(path, graph_reader=toy_reader) as engine:
        add(engine, "Ann met Bob")
        at = engine.spaces.get(SPACE).at
        engine.owner.graph.extend(SPACE)
        add(engine, "Carl met Eve")
        engine.owner.graph.extend(SPACE)
    back_up(path, tmp_path / "copy.db", NOON)
    restore(tmp_path / "copy.db", tmp_path / "b.db", NOON, at=at)
    with open_engine(tmp_path / "b.db", graph_reader=toy_reader) as engine:
        assert {one.name for one in engine.owner.graph.entities(SPACE).items} == {"Ann", "Bob"}
        add(engine, "Dora met Bob")
        assert {one.name for one in engine.owner.graph.entities(SPACE).items} == {"Ann", "Bob", "Dora"}

"""Inspection tells the schema, the clocks and the spaces of a database, and changes nothing."""

from contextlib import closing
from pathlib import Path

import pytest

from muisti.core.operations.whole_database import (
    clocks_of,
    file_flaws,
    schema_of,
    spaces_of_other_models,
    spaces_with_memories,
)
from tests.core.fakes import NOON, SPACE, add, open_engine
from tests.stores import FileStore, Stores


def test_a_new_database_has_no_schema_and_an_opened_one_the_current(stores: Stores):
    store = stores()
    with closing(store.open()) as database:
        assert schema_of(database).found is None
    open_engine(store).close()
    with closing(store.open()) as database:
        schema = schema_of(database)
        assert schema.found == schema.known > 0


def test_the_spaces_the_last_change_and_the_model_are_those_of_the_engine(stores: Stores):
    store = stores()
    with open_engine(store) as engine:
        engine.spaces.ensure("empty")
        add(engine, "We deploy on Tuesdays")
        identity = engine.generation
    with closing(store.open()) as database:
        assert spaces_with_memories(database) == [SPACE]
        assert clocks_of(database).last_change == pytest.approx(NOON / 1e6, abs=0.001)  # the clock moves by looks
        assert spaces_of_other_models(database, [str(identity)]) == []
        assert spaces_of_other_models(database, ["another", str(identity)]) == []
        assert spaces_of_other_models(database, ["another"]) == spaces_of_other_models(database, []) == [SPACE]


@pytest.mark.file_only
def test_a_damaged_file_has_flaws_and_a_whole_one_none(tmp_path: Path):
    store = FileStore(tmp_path / "m.db")
    with open_engine(store) as engine:
        add(engine, *(f"text {number}" for number in range(200)))
    before = store.path.read_bytes()
    assert file_flaws(store.path) == [] and store.path.read_bytes() == before
    store.path.write_bytes(before[:8192] + bytes(4096) + before[12288:])
    assert file_flaws(store.path)

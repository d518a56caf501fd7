"""No name is left without a mention or a statement, whatever is written, ended, erased, forked and read again."""

from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.indexing import KIND
from muisti.core.identity.caller import OWNER
from muisti.core.store.database import Database, Statement
from tests.core.fakes import Clock, open_engine
from tests.graph.plain import toy_reader
from tests.graph.test_past import World
from tests.stores import Stores

ORPHANS = Statement(
    "SELECT e.norm FROM entities e WHERE NOT EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = e.id) "
    "AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.alias_id = e.id)"
)
NAMES = Statement("SELECT count(*) FROM entities")
ENDS = Statement(
    "SELECT r.version_id FROM relations r WHERE NOT EXISTS (SELECT 1 FROM mentions m WHERE m.version_id = r.version_id "
    "AND m.entity_id = r.subject_id) OR r.object_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM mentions m "
    "WHERE m.version_id = r.version_id AND m.entity_id = r.object_id)"
)


@pytest.fixture
def opened(stores: Stores) -> Iterator[tuple[Database, Engine, Clock]]:
    store, clock = stores(), Clock()
    with open_engine(store, clock=clock, graph_reader=toy_reader) as engine:
        database = store.open()
        yield database, engine, clock
        database.close()


@pytest.mark.parametrize("seed", range(2))
def test_no_name_is_an_orphan_at_any_point_of_a_history(opened: tuple[Database, Engine, Clock], seed: int):
    database, engine, clock = opened
    world, most = World(engine, clock, seed, 0), 0
    for number in range(60):
        world.step()
        if number % 10 == 9:
            for space in world.spaces:
                engine.owner.graph.extend(space)
        orphans, ends, names = database.read([ORPHANS, ENDS, NAMES])
        assert not orphans and not ends, number
        most = max(most, int(str(names[0][0])))
    assert most > 5
    for space in world.spaces:
        engine.owner.graph.build(space, again=True)
        engine.runner(60, 9).run_one()
        assert engine.tasks.list(space, OWNER, kinds=[KIND]).items[0].state == "succeeded"
    assert not database.read([ORPHANS])[0]
    for space in world.spaces:
        engine.owner.graph.drop(space)
    assert database.read([NAMES])[0][0][0] == 0

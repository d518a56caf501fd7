"""Parts are built from the same shared parts, whichever view they belong to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from muisti.core.assembly.parts import Shared, kinds, shared, views
from muisti.core.engine import Engine
from muisti.core.operations.generations.lifecycle import Generations
from muisti.core.tasks.tasks import Tasks
from tests.core.assembly.given import given_of
from tests.core.fakes import Clock, WordEncoder
from tests.stores import at


def reached(start: object, known: dict[int, object]) -> Iterator[object]:
    """Yield the objects of the core that an object leads to by its attributes, each once."""
    if id(start) in known or not type(start).__module__.startswith("muisti.core."):
        return
    known[id(start)] = start
    yield start
    fields: Any = getattr(start, "__struct_fields__", ())
    for value in [getattr(start, name) for name in fields] + [*getattr(start, "__dict__", {}).values()]:
        yield from reached(value, known)


def test_parts_of_all_groups_are_built_from_one_instance_of_each_shared_part(tmp_path: Path):
    database = at(tmp_path / "muisti.db").open()
    with Engine(database, WordEncoder(), Clock()) as engine:
        given = given_of(database, engine)
        parts = shared(given)
        tasks = Tasks(database.primary, engine.meters.tasks, 0)
        made = views(given, parts, tasks)
        work = kinds(given, parts, made)
        models = Generations(
            database.primary, parts.indexes, parts.searcher, parts.probes, engine.models, tasks, given.clock
        )
        known: dict[int, object] = {}
        found = [one for start in (made, *work, models) for one in reached(start, known)]
    for name in Shared.__struct_fields__:
        part = getattr(parts, name)
        assert [one for one in found if type(one) is type(part)] == [part], name
    names = [kind.name for kind in work]
    assert len({*names}) == len(names) > 3

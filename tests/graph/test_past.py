"""At every point of its history, the graph of a space is that of the texts of then."""

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import cast

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.entities.name_keys import code_of
from muisti.core.graph.model import NewRelation
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft, Memory
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.store.database import Statement
from tests.core.fakes import SPACE, Clock, open_engine
from tests.graph.plain import Plain, toy_reader
from tests.stores import FileStore, Stores

PEOPLE = ["Ann Lee", "Ann", "Bob", "Bob Lee", "Lee", "AL", "Carl Orr", "Orr", "CO", "Eve"]
PLACES = ["Turku", "Oslo", "Kemi", "TU"]
TEXTS = ["{0} met {1} in {2}", "I live in {2} with {0}", "I like {0}", "{0} live in {2}", "{1} work at {0} now"]
OBJECTS = parse({"kind": ["memory", "exchange", "entity", "relation"]})
FORKS = 3


class World:
    """A random history of some spaces."""

    def __init__(self, engine: Engine, clock: Clock, seed: int, checks: int) -> None:
        self.engine, self.clock, self.random, self.checks = engine, clock, random.Random(seed), checks
        self.spaces = [SPACE]
        self.points: list[tuple[str, int]] = []
        self.ids: list[str] = []

    def step(self) -> None:
        space = self.random.choice(self.spaces)
        weights = {
            self.add: 10, self.update: 5, self.delete: 3, self.supersede: 3, self.restore: 3, self.purge: 1,
            self.roll_back: 0.4, self.fork: 0.5, self.merge: 2, self.apart: 1.5, self.relate: 2, self.retract: 1,
            self.undo: 1.5, self.read: 3,
        }  # fmt: skip
        call = self.random.choices([*weights], [*weights.values()])[0]
        with suppress(NotFound, Conflict, InvalidInput):
            call(space)
        self.clock.at += 1_000_000
        for one in self.spaces:
            self.points.append((one, self.engine.spaces.get(one).seq))

    def text(self) -> str:
        names = self.random.sample(PEOPLE, 2)
        return self.random.choice(TEXTS).format(*names, self.random.choice(PLACES))

    def some(self, space: str) -> Memory:
        items = self.engine.owner.read.list(space, limit=100).items
        if not items:
            raise NotFound("memory", "any")
        chosen = self.random.choice(items)
        self.ids.append(chosen.id)
        return chosen

    def add(self, space: str) -> None:
        author = self.random.choice(["Ann Lee", "Bob", None])
        expires = timedelta(seconds=self.random.randint(5, 40)) if self.random.random() < 0.2 else None
        drafts = [Draft(content=self.text(), author=author, expires_at=expires)]
        self.engine.owner.write.add(space, drafts, on_conflict="keep")

    def update(self, space: str) -> None:
        self.engine.owner.write.update(space, self.some(space).id, {"content": self.text()})

    def delete(self, space: str) -> None:
        self.engine.owner.write.delete(space, self.some(space).id)

    def supersede(self, space: str) -> None:
        self.engine.owner.write.supersede(space, self.some(space).id, Draft(content=self.text(), author="Bob"))

    def restore(self, space: str) -> None:
        if self.ids:
            self.engine.owner.write.restore(space, self.random.choice(self.ids))

    def purge(self, space: str) -> None:
        self.engine.eraser.memory(space, self.some(space).id, OWNER)

    def roll_back(self, space: str) -> None:
        seq = self.engine.spaces.get(space).seq
        self.engine.owner.timeline.roll_back(space, str(self.random.randint(max(1, seq - 10), max(1, seq))))

    def fork(self, space: str) -> None:
        if len(self.spaces) <= FORKS:
            name = f"f{len(self.spaces)}"
            self.engine.owner.timeline.fork(space, name)
            self.spaces.append(name)

    def merge(self, space: str) -> None:
        self.engine.owner.graph.merge(space, *self._two())

    def apart(self, space: str) -> None:
        self.engine.owner.graph.keep_apart(space, *self._two())

    def _two(self) -> tuple[str, list[str]]:
        one, other = self.random.sample(PEOPLE, 2)
        return one, [other]

    def relate(self, space: str) -> None:
        one, other = self.random.sample(PEOPLE, 2)
        self.engine.owner.graph.relate(space, NewRelation(subject=one, kind="likes", object=other))

    def retract(self, space: str) -> None:
        stated = self.engine.owner.read.list(space, filter=parse({"kind": ["entity", "relation"]}), limit=50).items
        if stated:
            self.engine.owner.graph.retract(space, self.random.choice(stated).id)

    def undo(self, space: str) -> None:
        self.engine.owner.write.undo(space, Undo())

    def read(self, space: str) -> None:
        self.engine.owner.graph.extend(space, self.random.randint(1, 5))


def changes_of(engine: Engine, space: str) -> dict[tuple[str, int], int]:
    """Return the changes that brought the versions of a space, by memory and number."""
    asked = "SELECT v.memory_id, v.version, v.born FROM spaces s JOIN versions v ON v.space_id = s.id WHERE s.name = ?"
    (rows,) = engine.owner.graph.reader.database.read([Statement(asked, (space,))])
    return {(id_text(cast(bytes, id_)), cast(int, version)): cast(int, born) for id_, version, born in rows}


def compare(engine: Engine, space: str, number: int | None) -> None:
    as_of = None if number is None else AsOf(number=number)
    read, graph = engine.owner.read, engine.owner.graph
    memories: list[Memory] = []
    cursor = None
    while True:
        page = read.list(space, filter=OBJECTS, limit=100, as_of=as_of, cursor=cursor)
        memories += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    plain = Plain(memories, changes_of(engine, space))
    found = graph.entities(space, limit=1000, as_of=as_of)
    assert found.pending == 0
    expected = plain.counted()
    assert {one.id: one.mentions for one in found.items} == {code_of(name): n for name, n in expected.items()}
    for one in found.items:
        head = next(name for name in expected if code_of(name) == one.id)
        names = {code_of(name) for name, to in plain.heads.items() if to == head}
        assert {one.id, *(alias.id for alias in one.aliases)} == names
    relations = graph.relations(space, limit=1000, as_of=as_of).items
    told = sorted((one.subject.id, one.kind, one.object.id if one.object else "", one.memory) for one in relations)
    assert told == sorted((code_of(one), kind, code_of(two), memory) for one, kind, two, memory in plain.related())
    ties = plain.tied()
    for head in sorted(expected)[:1]:
        near = graph.neighbours(space, code_of(head), limit=1000, as_of=as_of).items
        assert {one.entity.id for one in near} == {code_of(other) for other in ties[head]}
    heads = sorted(expected)
    if heads:
        path = graph.path(space, code_of(heads[0]), code_of(heads[-1]), as_of=as_of)
        steps = distance(ties, heads[0], heads[-1])
        assert (path.found, len(path.steps)) == ((True, steps) if steps is not None and steps <= 6 else (False, 0))


def distance(ties: Mapping[str, set[str]], first: str, last: str) -> int | None:
    seen, frontier, steps = {first}, {first}, 0
    while frontier:
        if last in frontier:
            return steps
        frontier = {other for one in frontier for other in ties.get(one, ())} - seen
        seen |= frontier
        steps += 1
    return None


@pytest.fixture
def world(stores: Stores, clock: Clock) -> Iterator[World]:
    store = stores()
    with open_engine(store, clock=clock, graph_reader=toy_reader) as engine:
        yield World(engine, clock, 7, 500 if isinstance(store, FileStore) else 40)


@pytest.mark.prove
def test_random_points_of_random_histories(world: World):
    """Writes, deletions, supersession, restoring, roll-backs, forks, purges and decisions come in any order."""
    for _ in range(220 if world.checks > 100 else 60):
        world.step()
    points = world.random.sample(world.points, min(world.checks, len(world.points)))
    assert len(points) == world.checks
    for space, number in points:
        compare(world.engine, space, number)
    for space in world.spaces:
        compare(world.engine, space, None)

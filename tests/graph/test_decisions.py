"""A statement on the graph is a memory: it has a history, can be undone, and holds until somebody says otherwise."""

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.model import EntityChange, NewRelation
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, SensitiveContent
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft
from tests.core.fakes import SPACE, add


@pytest.fixture(autouse=True)
def filled(engine: Engine) -> None:
    add(engine, "Ann Lee met Bob", "Annie met Carl", "Robert live in Oslo")


def groups(engine: Engine) -> set[tuple[str, ...]]:
    found = engine.owner.graph.entities(SPACE).items
    return {(one.name, *sorted(alias.name for alias in one.aliases)) for one in found}


def test_a_merge_holds_until_it_is_undone(engine: Engine):
    before = groups(engine)
    merged = engine.owner.graph.merge(SPACE, "Ann Lee", ["Annie"]).memories[0]
    assert (merged.kind, merged.content, merged.structure["aliases"]) == ("entity", "Ann Lee", ["Annie"])
    assert ("Ann Lee", "Annie") in groups(engine)
    profile = engine.owner.graph.entity(SPACE, "annie")
    assert (profile.entity.memory, profile.entity.mentions) == (merged.id, 2)
    assert profile.entity.aliases[0].memory == merged.id
    engine.owner.write.undo(SPACE, Undo())
    assert groups(engine) == before
    engine.owner.write.restore(SPACE, merged.id)
    assert ("Ann Lee", "Annie") in groups(engine)
    engine.owner.graph.retract(SPACE, merged.id)
    assert groups(engine) == before


def test_a_later_statement_replaces_an_earlier_one(engine: Engine):
    graph = engine.owner.graph
    first = graph.merge(SPACE, "Ann Lee", ["Annie"])
    again = graph.merge(SPACE, "Ann Lee", ["Annie"])
    assert again.memories[0].version == first.memories[0].version
    apart = graph.keep_apart(SPACE, "Ann Lee", ["Annie"]).memories[0]
    assert apart.structure == {"norm": "Ann Lee", "apart": ["Annie"]}
    assert ("Annie",) in groups(engine)
    graph.merge(SPACE, "Annie", ["Ann Lee"])
    assert ("Annie", "Ann Lee") in groups(engine)
    graph.keep_apart(SPACE, "Ann Lee", ["Annie"])
    graph.put_entity(SPACE, "Ann Lee", EntityChange(kind="organisation", aliases=("ALC",)))
    entity = graph.entity(SPACE, "alc").entity
    assert (entity.name, entity.kind) == ("Ann Lee", "organisation")


def test_names_that_are_kept_apart_are_merged_by_no_rule(engine: Engine):
    add(engine, "Ann called")
    assert ("Ann Lee", "Ann") in groups(engine)
    engine.owner.graph.keep_apart(SPACE, "Ann Lee", ["Ann"])
    assert ("Ann",) in groups(engine)
    engine.owner.graph.merge(SPACE, "Ann", ["Annie"])
    assert ("Ann", "Annie") in groups(engine)


def test_a_name_that_fits_two_persons_is_a_proposal(engine: Engine):
    add(engine, "Ann called", "Ann Smith called", "Robart called")
    assert ("Ann",) in groups(engine)
    found = {(one.first.name, one.second.name, one.reason) for one in engine.owner.graph.proposals(SPACE).items}
    assert {("Ann", "Ann Lee", "name_part"), ("Ann", "Ann Smith", "name_part")} <= {
        tuple(sorted(one[:2])) + one[2:] for one in found
    }
    assert ("Robart", "Robert", "spelling") in {tuple(sorted(one[:2])) + one[2:] for one in found}
    engine.owner.graph.keep_apart(SPACE, "Robert", ["Robart"])
    engine.owner.graph.merge(SPACE, "Ann Lee", ["Ann"])
    left = {(one.first.name, one.second.name) for one in engine.owner.graph.proposals(SPACE).items}
    assert not {("Robert", "Robart"), ("Robart", "Robert")} & left


def test_bad_statements_are_refused_and_nothing_is_stored(engine: Engine):
    graph, before = engine.owner.graph, engine.spaces.get(SPACE).seq
    bad = (
        lambda: graph.merge(SPACE, "Ann", []),
        lambda: graph.merge(SPACE, "Ann", ["Ann’s"]),
        lambda: graph.merge(SPACE, "...", ["Bob"]),
        lambda: graph.put_entity(SPACE, "Ann", EntityChange(kind="robot")),  # pyright: ignore[reportArgumentType]
        lambda: graph.put_entity(SPACE, "Ann", EntityChange(aliases=("Bob",), apart=("Bob’s",))),
        lambda: graph.put_entity(SPACE, "x" * 300, EntityChange()),
        lambda: graph.relate(SPACE, NewRelation(subject="Ann", kind="likes")),
        lambda: graph.relate(SPACE, NewRelation(subject="Ann", kind="likes", object="Ann")),
        lambda: graph.relate(SPACE, NewRelation(subject="Ann", kind="likes", object="Bob", literal="tea")),
        lambda: graph.relate(SPACE, NewRelation(subject="Ann", kind="loves", object="Bob")),  # pyright: ignore[reportArgumentType]
    )
    for call in bad:
        with pytest.raises(InvalidInput):
            call()
    with pytest.raises(SensitiveContent):
        graph.merge(SPACE, "Ann", ["AKIAIOSFODNN7EXAMPLE ghp_16C7e42F292c6912E7710c838347Ae178B4a"])
    assert engine.spaces.get(SPACE).seq == before
    with pytest.raises(Conflict, match="the graph"):
        engine.owner.write.delete(SPACE, graph.merge(SPACE, "Ann", ["Annie"]).memories[0].id)


def test_statements_belong_to_the_category_of_their_caller(engine: Engine):
    add(engine, "Eve met Evelyn", category="home")
    home = engine.seen_by(Caller("x", category="home")).graph
    home.merge(SPACE, "Eve", ["Evelyn"])
    assert {one.name for one in home.entities(SPACE).items} == {"Eve"}
    work = engine.seen_by(Caller("y", category="work"))
    work.write.add(SPACE, [Draft(content="Eve met Evelyn again")], on_conflict="keep")
    assert {one.name for one in work.graph.entities(SPACE).items} == {"Eve", "Evelyn"}
    stated = home.entity(SPACE, "Eve").entity.memory or ""
    with pytest.raises(NotFound):
        work.graph.retract(SPACE, stated)
    planned = engine.seen_by(OWNER, dry_run=True).graph.retract(SPACE, stated)
    assert planned.plan is not None and home.entity(SPACE, "Evelyn").entity.name == "Eve"

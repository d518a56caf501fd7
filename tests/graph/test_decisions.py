"""A statement on the graph is a memory: it has a history, can be undone, and holds until somebody says otherwise."""

import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.graph.model import EntityChange, NewRelation, RelationChange
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
        *(
            lambda kind=kind: graph.relate(SPACE, NewRelation(subject="Ann", kind=kind, object="Bob"))
            for kind in ("", "Loves", "reports to", "reports-to", "2nd", "mentioned_with", "x" * 41, "likes\n", "é")
        ),
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


def test_a_kind_of_ones_own_goes_where_memories_go(engine: Engine):
    graph, write = engine.owner.graph, engine.owner.write
    stated = graph.relate(SPACE, NewRelation(subject="Ann Lee", kind="reports_to", object="Carl")).memories[0]
    assert stated.content == "Ann Lee reports to Carl"

    def ties(space: str) -> list[tuple[str, ...]]:
        graph.extend(space)
        near = graph.neighbours(space, "Ann Lee", kinds=["reports_to"]).items
        way = graph.path(space, "Ann Lee", "Carl", kinds=["reports_to"]).steps
        assert [one.kinds for one in near] == [one.kinds for one in way]
        return [(one.entity.name, *one.kinds) for one in near]

    own = [("Carl", "reports_to")]
    assert ties(SPACE) == own and ("Carl", "reports_to") in {
        (one.entity.name, kind) for one in graph.neighbours(SPACE, "Ann Lee").items for kind in one.kinds
    }
    corrected = graph.correct(SPACE, stated.id, RelationChange(kind="mentors")).memories[0]
    assert [one.kind for one in graph.relations(SPACE, subject="Ann Lee", object="Carl").items] == ["mentors"]
    assert graph.relations(SPACE, kinds=["reports_to"]).items == ()
    write.undo(SPACE, Undo())
    assert corrected.id == stated.id and ties(SPACE) == own
    engine.owner.timeline.fork(SPACE, "fork")
    lines = [msgspec.json.encode(one) for page in engine.owner.read.export(SPACE, "test").pages() for one in page]
    engine.spaces.create("copy")
    coming = write.begin_import("copy")
    coming.take(lines)
    assert not coming.finish().failed
    assert [ties(space) for space in ("fork", "copy")] == [own, own]
    graph.relate("fork", NewRelation(subject="Ann Lee", kind="mentors", object="Bob"))
    engine.owner.timeline.merge("fork", SPACE)
    assert [one.kinds for one in graph.neighbours(SPACE, "Bob", kinds=["mentors"]).items] == [("mentors",)]
    engine.eraser.memory(SPACE, stated.id, OWNER)
    assert graph.relations(SPACE, kinds=["reports_to"]).items == ()


@pytest.mark.parametrize(("kind", "known"), [("mentors", 1), ("a]->(b) //", 0), ("mentioned_with", 0), ("Knows", 0)])
def test_an_import_states_no_kind_that_a_caller_could_not(engine: Engine, kind: str, known: int):
    engine.owner.graph.relate(SPACE, NewRelation(subject="Ann Lee", kind="reports_to", object="Carl"))
    every = [msgspec.json.encode(one) for page in engine.owner.read.export(SPACE, "test").pages() for one in page]
    engine.spaces.create("copy")
    coming = engine.owner.write.begin_import("copy")
    coming.take([line.replace(b'"reports_to"', msgspec.json.encode(kind)) for line in every])
    coming.finish()
    stated = [one.kind for one in engine.owner.graph.relations("copy").items if one.source == "manual"]
    assert stated == [kind] * known

"""Questions to the graph: entities, facts in time, ties and paths, for each caller what that caller may see."""

from datetime import UTC, datetime

import msgspec
import pytest

from muisti.core.conversations.model import Turn
from muisti.core.engine import Engine
from muisti.core.graph.entities.name_keys import code_of
from muisti.core.graph.merging import NEAR
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from tests.conversations.talking import stream
from tests.core.fakes import SPACE, add

ALL = parse({"kind": ["memory", "entity", "relation"]})
MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def names(engine: Engine, **asked: object) -> dict[str, int]:
    found = engine.owner.graph.entities(SPACE, **asked)  # pyright: ignore[reportArgumentType]  # test shorthand
    return {one.name: one.mentions for one in found.items}


def test_entities_are_listed_by_their_mentions_their_beginning_and_their_kind(engine: Engine):
    add(engine, "Ann Lee met Bob in Turku", "Ann called Bob", "Bob live in Oslo")
    assert names(engine) == {"Bob": 3, "Ann Lee": 2, "Oslo": 1, "Turku": 1}
    assert list(names(engine))[:2] == ["Bob", "Ann Lee"]
    assert list(names(engine, sort="name")) == ["Ann Lee", "Bob", "Oslo", "Turku"]
    assert names(engine, kind="place") == {"Oslo": 1, "Turku": 1}
    assert names(engine, prefix="ann  L") == {"Ann Lee": 2}
    assert names(engine, limit=1) == {"Bob": 3}
    (ann,) = (one for one in engine.owner.graph.entities(SPACE).items if one.name == "Ann Lee")
    assert (ann.id, ann.kind, [one.name for one in ann.aliases]) == (code_of("Ann Lee"), "person", ["Ann"])


@pytest.mark.parametrize("author", ["user", "human", "Assistant", "AI", "tool", "system", "bot"])
def test_a_side_of_a_chat_is_no_entity(engine: Engine, author: str):
    stream(engine, "c", [Turn(content="Turku lies there", author=author, reply="near Oslo")])
    assert names(engine) == {"Turku": 1, "Oslo": 1}


def test_a_word_in_capitals_is_another_entity_that_is_found_whatever_its_case(engine: Engine):
    add(engine, "Eva met Bob", "we asked EVA for Bob", "and NASA called")
    assert names(engine, prefix="ev") == {"EVA": 1, "Eva": 1}
    assert names(engine, prefix="NA") == {"NASA": 1}
    for asked, name in (("Eva", "Eva"), ("eva", "Eva"), ("EVA", "EVA"), ("nasa", "NASA"), ("Nasa's", "NASA")):
        assert engine.owner.graph.entity(SPACE, asked).entity.name == name
    (proposed,) = engine.owner.graph.proposals(SPACE).items
    assert {proposed.first.name, proposed.second.name} == {"Eva", "EVA"}
    engine.owner.graph.merge(SPACE, "EVA", ["Eva"])
    assert names(engine, prefix="eva") == {"EVA": 2}


def test_spellings_far_apart_are_two_entities_until_a_person_says_more(engine: Engine):
    add(engine, "Turku Oy called", *("Bob called" for _ in range(NEAR)), "we left TURKU OY")
    assert names(engine, prefix="turku") == {"TURKU OY": 1, "Turku Oy": 1}
    for asked in ("Turku Oy", "TURKU OY"):
        assert engine.owner.graph.entity(SPACE, asked).entity.name == asked
    assert engine.owner.graph.entity(SPACE, "turku oy").entity.mentions == 1
    first = engine.owner.graph.proposals(SPACE).items[0]
    assert {first.first.name, first.second.name, first.reason} == {"Turku Oy", "TURKU OY", "spelling"}
    add(engine, "TURKU OY waved", "Turku Oy waved")
    (entity,) = engine.owner.graph.entities(SPACE, prefix="turku").items
    assert (entity.mentions, [(one.name, one.source) for one in entity.aliases]) == (4, [("TURKU OY", "spelling")])
    engine.owner.graph.keep_apart(SPACE, "Turku Oy", ["TURKU OY"])
    assert names(engine, prefix="turku") == {"TURKU OY": 2, "Turku Oy": 2}


def test_a_name_and_a_part_of_it_far_away_are_only_proposed(engine: Engine):
    add(engine, "Ann Lee met Bob", *("Bob called" for _ in range(NEAR)), "Ann called")
    assert names(engine, prefix="ann") == {"Ann Lee": 1, "Ann": 1}
    proposed = [{one.first.name, one.second.name} for one in engine.owner.graph.proposals(SPACE).items]
    assert {"Ann Lee", "Ann"} in proposed
    add(engine, "Ann waved")
    assert names(engine, prefix="ann") == {"Ann Lee": 1, "Ann": 2}
    add(engine, "Ann Lee waved")
    assert names(engine, prefix="ann") == {"Ann Lee": 4}


def test_an_entity_has_its_facts_with_evidence_and_the_memories_that_mention_it(engine: Engine):
    told = engine.owner.write.add(
        SPACE, [Draft(content="In spring I live in Turku with Ann", author="Bob", event_at=MAY)], on_conflict="keep"
    ).memories[0]
    for name in ("bob", "BOB's", code_of("Bob")):
        profile = engine.owner.graph.entity(SPACE, name)
        (fact,) = profile.facts
        assert (fact.subject.name, fact.kind, fact.object and fact.object.name) == ("Bob", "lives_in", "Turku")
        assert (fact.evidence, fact.valid_from, fact.valid_to, fact.author) == ("I live in Turku", MAY, None, "Bob")
        assert told.content[fact.start : fact.stop] == fact.evidence
        (mentioned,) = profile.mentioned
        assert (mentioned.memory, mentioned.text, mentioned.source, mentioned.start) == (told.id, "Bob", "speaker", -1)
    (place,) = engine.owner.graph.entity(SPACE, "Turku").mentioned
    assert told.content[place.start : place.stop] == place.text == "Turku"
    assert place.around == mentioned.around == told.content
    with pytest.raises(NotFound):
        engine.owner.graph.entity(SPACE, "Eve")


def test_a_later_place_to_live_ends_the_earlier_one_until_it_is_gone(engine: Engine):
    seqs = []
    for text, at in (("I live in Turku", MAY), ("I live in Oslo", JUNE)):
        engine.owner.write.add(SPACE, [Draft(content=text, author="Ann", event_at=at)], on_conflict="keep")
        seqs.append(engine.spaces.get(SPACE).seq)
    turku, oslo = engine.owner.graph.entity(SPACE, "Ann").facts
    assert (turku.valid_from, turku.valid_to, turku.closed_by) == (MAY, JUNE, oslo.memory)
    assert (oslo.valid_to, oslo.closed_by) == (None, None)
    (seen,) = engine.owner.graph.relations(SPACE, object="Turku").items
    assert seen.closed_by == oslo.memory
    (then,) = engine.owner.graph.entity(SPACE, "Ann", as_of=AsOf(number=seqs[0])).facts
    assert then.valid_to is None
    engine.owner.write.delete(SPACE, oslo.memory)
    (left,) = engine.owner.graph.entity(SPACE, "Ann").facts
    assert (left.valid_to, left.closed_by) == (None, None)


def test_relations_are_found_by_their_ends_and_kinds(engine: Engine):
    add(engine, "Ann like Bob", "Ann live in Oslo", "Carl like Ann", "Carl like Oslo")

    def found(**asked: object) -> list[tuple[str, str, str]]:
        items = engine.owner.graph.relations(SPACE, **asked).items  # pyright: ignore[reportArgumentType]
        return sorted((one.subject.name, one.kind, one.object.name if one.object else "") for one in items)

    assert len(found()) == 4
    assert found(subject="Ann") == [("Ann", "likes", "Bob"), ("Ann", "lives_in", "Oslo")]
    assert found(object="Oslo", kinds=["likes"]) == [("Carl", "likes", "Oslo")]
    assert found(subject="Carl", object="Ann") == [("Carl", "likes", "Ann")]
    assert engine.owner.graph.relations(SPACE, limit=1).more
    for bad in ({"kinds": ["Loves it"]}, {"limit": 0}, {"kinds": []}):
        with pytest.raises(InvalidInput):
            found(**bad)


def test_neighbours_come_by_their_distance_and_paths_are_shortest(engine: Engine):
    add(engine, "Ann met Bob", "Bob like Carl", "Carl met Dora", "Ann called Bob", "Eve alone")
    near = engine.owner.graph.neighbours(SPACE, "Ann", depth=3)
    assert [(one.entity.name, one.depth, one.weight) for one in near.items] == [
        ("Bob", 1, 2), ("Carl", 2, 1), ("Dora", 3, 1),
    ]  # fmt: skip
    assert near.items[1].kinds == ("likes", "mentioned_with") and near.items[1].via == code_of("Bob")
    only = engine.owner.graph.neighbours(SPACE, "Bob", kinds=["likes"]).items
    assert [one.entity.name for one in only] == ["Carl"]
    together = engine.owner.graph.neighbours(SPACE, "Bob", kinds=["mentioned_with"]).items
    assert [one.entity.name for one in together] == ["Ann", "Carl"]
    few = engine.owner.graph.neighbours(SPACE, "Ann", depth=3, limit=1)
    assert ([one.entity.name for one in few.items], few.total) == (["Bob"], 3)
    path = engine.owner.graph.path(SPACE, "Dora", "Ann")
    assert [(one.source.name, one.target.name) for one in path.steps] == [
        ("Dora", "Carl"), ("Carl", "Bob"), ("Bob", "Ann"),
    ]  # fmt: skip
    assert path.found and len(path.steps[2].memories) == 2
    assert not engine.owner.graph.path(SPACE, "Ann", "Eve").found
    assert not engine.owner.graph.path(SPACE, "Ann", "Dora", longest=2).found
    itself = engine.owner.graph.path(SPACE, "Ann", "Ann")
    assert itself.found and not itself.steps


def test_a_caller_of_one_category_sees_what_is_of_it(engine: Engine):
    add(engine, "Ann met Bob", category="home")
    add(engine, "Ann live in Oslo", "Ann Lee met Carl", category="work")
    home, work = (engine.seen_by(Caller("x", category=one)).graph for one in ("home", "work"))
    assert {one.name: one.mentions for one in home.entities(SPACE).items} == {"Ann": 1, "Bob": 1}
    assert {one.name for one in work.entities(SPACE).items} == {"Ann Lee", "Carl", "Oslo"}
    assert not home.entity(SPACE, "Ann").facts
    assert home.status(SPACE).entities == 2
    for name in ("Oslo", "Carl", "Ann Lee", code_of("Carl")):
        with pytest.raises(NotFound):
            home.entity(SPACE, name)
    assert [one.entity.name for one in home.neighbours(SPACE, "Ann", depth=3).items] == ["Bob"]


def test_both_sides_of_an_exchange_speak_for_themselves(engine: Engine):
    stream(engine, "c", [Turn(content="I live in Turku", author="Ann", reply="I like Oslo", replier="Bob")])
    told = {(one.subject.name, one.kind) for one in engine.owner.graph.relations(SPACE).items}
    assert told == {("Ann", "lives_in"), ("Bob", "likes")}
    (fact,) = engine.owner.graph.entity(SPACE, "Bob").facts
    assert fact.evidence == "I like Oslo"


def test_a_copy_of_a_space_has_the_same_graph_with_the_same_ids(engine: Engine):
    add(engine, "Ann Lee met Bob in Turku", "I live in Oslo", author="Ann")
    engine.owner.graph.merge(SPACE, "Bob", ["Robert"])
    before = engine.owner.graph.entities(SPACE)
    engine.owner.timeline.fork(SPACE, "copy")
    pages = engine.owner.read.export(SPACE, "test").pages()
    lines = [msgspec.json.encode(record) for page in pages for record in page]
    after = engine.owner.graph.entities("copy")
    told = [(one.id, one.name, one.kind, one.mentions) for one in before.items]
    assert [(one.id, one.name, one.kind, one.mentions) for one in after.items] == told
    engine.spaces.create("moved")
    for id_ in [one.id for one in engine.owner.read.list(SPACE, filter=ALL, limit=100).items]:
        engine.eraser.memory(SPACE, id_, OWNER)
    coming = engine.owner.write.begin_import("moved")
    coming.take(lines)
    assert not coming.finish().failed
    moved = engine.owner.graph.entities("moved")
    assert [(one.id, one.name, one.kind, one.mentions) for one in moved.items] == told

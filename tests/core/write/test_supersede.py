"""Superseding: one memory replaces another atomically, with links in both directions."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.collisions import AddressTaken, Duplicate
from muisti.core.model.errors import Conflict, InvalidInput, MuistiError, NotFound, Stale
from muisti.core.model.values import Address, Draft, RequestKey
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.stores import Stores


def contents(engine: Engine) -> set[str]:
    """Return the contents that default reads show, asserting that all reads agree."""
    listed = {memory.content for memory in engine.owner.read.list(SPACE).items}
    found = engine.owner.read.search(SPACE, Query(text="", mode="recent", limit=50)).hits
    assert {hit.memory.content for hit in found} == listed
    assert engine.owner.read.stats(SPACE).memories == len(listed)
    return listed


def test_the_new_one_is_found_and_the_old_one_is_not(engine: Engine, clock: Clock):
    (old,) = add(engine, "we deploy on fridays", category="rules", key="deploy", importance="high")
    assert contents(engine) == {"we deploy on fridays"}
    clock.pass_days(1)
    written = engine.owner.write.supersede(SPACE, old, Draft(content="we deploy daily"))
    (new,) = written.memories
    assert written.created and (new.supersedes, new.version, new.superseded_by) == (old, 1, None)
    assert (new.category, new.key, new.importance) == ("rules", "deploy", "medium")
    assert contents(engine) == {"we deploy daily"}
    assert engine.owner.read.get(SPACE, Address("rules", "deploy")).memory == new
    for search in (Query(text="fridays", mode="keyword"), Query(text="we deploy on fridays", mode="semantic")):
        assert old not in {hit.memory.id for hit in engine.owner.read.search(SPACE, search).hits}
    with pytest.raises(NotFound, match=new.id):
        engine.owner.read.get(SPACE, old)


def test_the_old_one_ends_with_a_version_that_names_the_new(engine: Engine):
    (old,) = add(engine, "one", tags=("a",), metadata={"x": 1})
    before = engine.owner.read.get(SPACE, old).memory
    (new,) = engine.owner.write.supersede(SPACE, old, Draft(content="two", category="c", key="k")).memories
    last, first = engine.owner.read.history(SPACE, old).versions
    assert first.memory == before and first.died == last.born == 2
    assert (last.memory.status, last.memory.superseded_by, last.died) == ("superseded", new.id, None)
    assert (last.memory.content, last.memory.tags, last.memory.metadata) == ("one", ("a",), {"x": 1})
    (born,) = engine.owner.read.history(SPACE, new.id).versions
    assert born.born == 3 == engine.spaces.get(SPACE).seq and born.born_at == last.born_at
    assert [memory.id for memory in engine.owner.read.list(SPACE, filter=parse({"status": "superseded"})).items] == [
        old
    ]


def test_every_link_of_a_chain_tells_all_of_it_and_its_texts_may_be_said_again(engine: Engine):
    ids = add(engine, "zero", "beside")[:1]
    for text in ("one", "two", "three"):
        ids.append(engine.owner.write.supersede(SPACE, ids[-1], Draft(content=text)).memories[0].id)
    engine.owner.write.update(SPACE, ids[-1], {"content": "three and more"})
    assert [engine.owner.read.history(SPACE, one).chain for one in ids] == [tuple(ids)] * 4
    assert contents(engine) == {"three and more", "beside"}
    engine.owner.write.add(SPACE, [Draft(content="zero")])
    with pytest.raises(Duplicate):
        engine.owner.write.add(SPACE, [Draft(content="zero")])


def test_what_is_superseded_or_deleted_or_changed_is_not_superseded(engine: Engine):
    first, second, third = add(engine, "one", "two", "three")
    etag = engine.owner.read.get(SPACE, third).memory.etag
    engine.owner.write.supersede(SPACE, first, Draft(content="new one"))
    engine.owner.write.delete(SPACE, second)
    engine.owner.write.update(SPACE, third, {"content": "three and more"})
    for gone in (first, second, "019a0000-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound):
            engine.owner.write.supersede(SPACE, gone, Draft(content="again"))
    with pytest.raises(Stale):
        engine.owner.write.supersede(SPACE, third, Draft(content="again"), if_match=[etag])
    with pytest.raises(InvalidInput):
        engine.owner.write.supersede(SPACE, third, Draft(content=" "))
    add(engine, "elsewhere", category="c", key="k")
    with pytest.raises(AddressTaken):
        engine.owner.write.supersede(SPACE, third, Draft(content="again", category="c", key="k"))
    assert contents(engine) == {"new one", "three and more", "elsewhere"}


def test_of_many_who_supersede_the_same_one_does(engine: Engine):
    (old,) = add(engine, "old")

    def attempt(number: int) -> str:
        try:
            return engine.owner.write.supersede(SPACE, old, Draft(content=f"new {number}")).memories[0].content
        except MuistiError as error:
            return type(error).__name__

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(attempt, range(4)))
    (won,) = [outcome for outcome in outcomes if outcome.startswith("new")]
    assert outcomes.count("NotFound") == 3 and contents(engine) == {won}


def test_a_repeated_request_supersedes_once(engine: Engine):
    (old,) = add(engine, "old")
    key = RequestKey("test", "k", b"body")
    first = engine.owner.write.supersede(SPACE, old, Draft(content="new"), request=key)
    again = engine.owner.write.supersede(SPACE, old, Draft(content="new"), request=key)
    assert again.replayed and (again.memories, again.seq, again.created) == (first.memories, first.seq, True)


@pytest.mark.parametrize("embeddings", [True, False])
def test_on_conflict_the_closest_is_superseded(stores: Stores, embeddings: bool):
    with open_engine(stores(), embeddings=embeddings) as engine:
        (same,) = add(engine, "The deploy runs on friday at noon")
        (taken,) = add(engine, "cats sleep", category="pets", key="cats")
        new = engine.owner.write.add(
            SPACE, [Draft(content="the deploy  runs on FRIDAY at noon")], on_conflict="supersede"
        )
        assert new.created and new.memories[0].supersedes == same
        entry = Draft(content="dogs bark", category="pets", key="cats")
        assert engine.owner.write.add(SPACE, [entry], on_conflict="supersede").memories[0].supersedes == taken
        apart = Draft(content="nothing is like this")
        assert engine.owner.write.add(SPACE, [apart], on_conflict="supersede").memories[0].supersedes is None
        assert contents(engine) == {"the deploy  runs on FRIDAY at noon", "dogs bark", "nothing is like this"}


def test_what_a_caller_does_not_see_is_neither_superseded_nor_told(engine: Engine):
    (hidden,) = add(engine, "the vault is open", category="finance")
    ops = engine.seen_by(Caller("ops", "ops"))
    with pytest.raises(NotFound):
        ops.write.supersede(SPACE, hidden, Draft(content="new"))
    (beside,) = ops.write.add(SPACE, [Draft(content="the vault is open")], on_conflict="supersede").memories
    assert (beside.supersedes, beside.category) == (None, "ops")
    (after,) = ops.write.supersede(SPACE, beside.id, Draft(content="the vault is shut")).memories
    assert after.category == "ops"
    engine.owner.write.supersede(SPACE, after.id, Draft(content="moved", category="finance", key="vault"))
    assert ops.read.history(SPACE, beside.id).chain == (beside.id, after.id)
    with pytest.raises(Conflict):
        engine.owner.write.add(SPACE, [Draft(content="moved")])

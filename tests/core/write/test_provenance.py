"""A memory's source class decides how far it is trusted, and no caller can raise its own trust."""

from typing import Any

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Forbidden, InvalidInput
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import TRUST, Draft, Memory
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.views.memories import Memories
from tests.core.fakes import NOON, SPACE


def add(memories: Memories, content: str, **fields: Any) -> Memory:
    return memories.write.add(SPACE, [Draft(content=content, **fields)], on_conflict="keep").memories[0]


@pytest.fixture
def web(engine: Engine) -> Memory:
    return add(engine.owner, "The page says that tea cures all", source_class="web")


@pytest.fixture
def user(engine: Engine) -> Memory:
    return add(engine.owner, "Ann likes tea", source_class="user")


def test_trust_is_that_of_the_class(engine: Engine):
    assert {kind: add(engine.owner, f"said by {kind}", source_class=kind).trust for kind in TRUST} == TRUST
    assert add(engine.owner, "said by somebody").trust == 50


def test_what_is_derived_is_trusted_as_the_least_of_its_sources(engine: Engine, web: Memory, user: Memory):
    draft = Draft(content="Ann will be well", source_class="user", derived_from=(user.id, web.id.upper()))
    written = engine.owner.write.add(SPACE, [draft])
    (made,) = written.memories
    assert (made.trust, made.derived_from) == (20, (user.id, web.id))
    assert written.flags == (Flag(code="trust_lowered", path="$.derived_from", kind="user", ids=(web.id,)),)
    further = add(engine.owner, "And so will Bob", source_class="user", derived_from=(made.id,))
    assert (further.trust, engine.owner.read.get(SPACE, further.id).memory) == (20, further)
    assert add(engine.owner, "Ann drinks", source_class="model", derived_from=(user.id,)).trust == 60


def test_it_stays_so_in_every_version(engine: Engine, web: Memory, user: Memory):
    made = add(engine.owner, "Ann will be well", source_class="user", derived_from=(web.id,))
    assert engine.owner.write.update(SPACE, made.id, {"content": "Ann is well"}).memories[0].trust == 20
    engine.owner.write.delete(SPACE, web.id)
    changed = engine.owner.write.update(SPACE, made.id, {"source_class": "tool"})
    assert (changed.memories[0].trust, changed.flags[0].ids) == (20, (web.id,))
    more = engine.owner.write.update(SPACE, made.id, {"derived_from": (web.id, user.id)}).memories[0]
    assert (more.trust, more.derived_from) == (20, (web.id, user.id))
    for lost in ((), (user.id,)):
        with pytest.raises(InvalidInput, match="cannot be removed"):
            engine.owner.write.update(SPACE, made.id, {"derived_from": lost})
    engine.owner.write.delete(SPACE, made.id)
    assert engine.owner.write.restore(SPACE, made.id).memories[0].trust == 20
    versions = engine.owner.read.history(SPACE, made.id).versions
    assert {version.memory.trust for version in versions} == {20}
    assert "source_class" in {change.field for version in versions for change in version.changes}


def test_a_memory_that_is_not_there_or_not_seen_is_no_source(engine: Engine, web: Memory):
    engine.owner.write.delete(SPACE, web.id)
    hidden, seen = add(engine.owner, "not for all", category="secret"), engine.seen_by(Caller(category="open"))
    missing = ((web.id, engine.owner), (id_text(IdSource().new(NOON)), engine.owner), ("x", engine.owner))
    for source, memories in (*missing, (hidden.id, seen)):
        with pytest.raises(InvalidInput) as caught:
            add(memories, "made of nothing", derived_from=(source,))
        assert caught.value.problems[0].path.startswith("$.derived_from")


def test_lists_and_searches_ask_for_trust(engine: Engine, web: Memory, user: Memory):
    made = add(engine.owner, "Tea makes well", derived_from=(web.id,))
    found = {
        "trusted": {"trust": {"gte": 50}}, "user": {"source_class": "user"}, "of it": {"derived_from": web.id},
        "of something": {"derived_from": {"exists": True}},
    }  # fmt: skip
    for asked, wanted in zip(found.values(), ({user.id}, {user.id}, {made.id}, {made.id}), strict=True):
        listed = engine.owner.read.list(SPACE, filter=parse(asked)).items
        searched = engine.owner.read.search(SPACE, Query(text="tea", filter=parse(asked))).hits
        assert {memory.id for memory in listed} == {hit.memory.id for hit in searched} == wanted


def test_trust_weighs_as_much_as_asked_and_no_more(engine: Engine):
    for kind in ("web", "user"):
        add(engine.owner, f"Green tea is good, says {kind}", source_class=kind)
    plain = {
        h.memory.source_class: h for h in engine.owner.read.search(SPACE, Query(text="green tea", explain=True)).hits
    }
    asked = Query(text="green tea", explain=True, trust_weight=0.5)
    weighed = {h.memory.source_class: h for h in engine.owner.read.search(SPACE, asked).hits}
    assert weighed["user"].score == plain["user"].score
    assert weighed["web"].score == pytest.approx(plain["web"].score * 0.6)
    factors = {kind: hit.explain.trust for kind, hit in weighed.items() if hit.explain is not None}
    assert factors == {"web": 0.6, "user": 1.0}
    assert all(hit.explain is not None and hit.explain.trust == 1.0 for hit in plain.values())
    with pytest.raises(InvalidInput, match="trust_weight"):
        engine.owner.read.search(SPACE, Query(text="tea", trust_weight=0.6))


def test_a_key_claims_no_more_than_it_may_and_words_that_it_puts_in_are_its_own(
    engine: Engine, user: Memory, web: Memory
):
    agent = engine.seen_by(Caller(actor="agent", source_class="model"))
    assert add(agent, "I think so").source_class == "model"
    assert add(agent, "A page says so", source_class="web").source_class == "web"
    for write in (
        lambda: add(agent, "I am the user", source_class="user"),
        lambda: agent.write.put(SPACE, Draft(content="x", category="c", key="k", source_class="tool")),
        lambda: agent.write.supersede(SPACE, user.id, Draft(content="x", source_class="user")),
        lambda: agent.write.update(SPACE, web.id, {"source_class": "user"}),
        lambda: agent.write.update(SPACE, web.id, {"source_class": "model"}),
    ):
        with pytest.raises(Forbidden):
            write()
    assert agent.write.put(SPACE, Draft(content="x", category="c", key="k")).memories[0].source_class == "model"
    assert agent.write.supersede(SPACE, web.id, Draft(content="better")).memories[0].trust == 60
    assert agent.write.update(SPACE, user.id, {"importance": "high"}).memories[0].trust == 100
    changed = agent.write.update(SPACE, user.id, {"content": "Ann hates tea"}).memories[0]
    assert (changed.source_class, changed.trust) == ("model", 60)

"""A model elsewhere tells the names: only tasks wait for it, and what it does not answer is read and marked."""

from collections.abc import Iterator, Sequence

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.entities.recogniser import Reported
from muisti.core.graph.extraction import RULES, Reader
from muisti.core.graph.indexing import KIND
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.tasks import Task
from muisti.core.model.values import Draft
from tests.core.fakes import SPACE, add, open_engine
from tests.graph.plain import Toy, toy_facts
from tests.stores import Stores

FALLBACK = "toy-default"


class Elsewhere:
    """Finds `ann` and `zoe` in small letters, which the toy recogniser does not, unless it is `down`."""

    identity = "elsewhere"

    def __init__(self) -> None:
        self.down = False
        self.asked: list[str] = []

    def ask(self, texts: Sequence[str]) -> list[list[Reported] | None]:
        self.asked += texts
        return [None if self.down or "odd" in text else self._names(text) for text in texts]

    def close(self) -> None: ...

    def _names(self, text: str) -> list[Reported]:
        return [Reported(name, "person") for name in ("ann", "Nobody") if name in text or name == "Nobody"]


@pytest.fixture
def elsewhere() -> Elsewhere:
    return Elsewhere()


@pytest.fixture
def engine(stores: Stores, elsewhere: Elsewhere) -> Iterator[Engine]:
    with open_engine(stores(), graph_reader=lambda: Reader(Toy(FALLBACK), toy_facts, elsewhere)) as opened:
        yield opened


def build(engine: Engine, *, again: bool = False) -> Task:
    task = engine.owner.graph.build(SPACE, again=again)
    engine.runner(60, 9).run_one()
    return engine.tasks.get(SPACE, task.id, OWNER)


def names(engine: Engine) -> list[str]:
    return sorted(one.name for one in engine.owner.graph.entities(SPACE).items)


def test_no_write_and_no_question_asks_the_model(engine: Engine, elsewhere: Elsewhere):
    add(engine, "ann met Bob", "ann left")
    assert engine.owner.graph.entities(SPACE).pending == 2
    assert engine.owner.graph.status(SPACE).pending == 2
    assert engine.seen_by(OWNER, dry_run=True).graph.extend(SPACE).read == 2
    assert not elsewhere.asked
    assert not engine.extend_graph(SPACE, 10)
    (task,) = engine.tasks.list(SPACE, OWNER, kinds=[KIND]).items
    assert task.state == "queued" and not elsewhere.asked
    assert not engine.extend_graph(SPACE, 10)
    assert len(engine.tasks.list(SPACE, OWNER, kinds=[KIND]).items) == 1
    engine.runner(60, 9).run_one()
    assert sorted(elsewhere.asked) == ["ann left", "ann met Bob"]
    assert names(engine) == ["ann"]
    assert not engine.extend_graph(SPACE, 10)
    add(engine, "ann slept")
    engine.extend_graph(SPACE, 10)
    assert len(engine.tasks.list(SPACE, OWNER, kinds=[KIND]).items) == 2


def test_what_the_model_tells_is_marked_and_what_no_text_has_is_dropped(engine: Engine, elsewhere: Elsewhere):
    add(engine, "```\ncode = 1\n```")
    build(engine)
    assert not elsewhere.asked and not engine.owner.graph.status(SPACE).degraded
    add(engine, "ann met Bob")
    assert build(engine).result == {
        **{"read": 1, "mentions": 1, "relations": 0, "off": False},
        **{"fallbacks": 0, "dropped": 1},
    }
    (mention,) = engine.owner.graph.entity(SPACE, "ann").mentioned
    assert (mention.text, mention.source, mention.start, mention.stop) == ("ann", "endpoint", 0, 3)
    status = engine.owner.graph.status(SPACE)
    assert (status.recogniser, status.current) == (f"elsewhere-{RULES}", True)
    assert (status.fallbacks, status.degraded) == (0, False)
    assert engine.meters.graph.dropped.read()[()] == 1


def test_texts_without_an_answer_are_read_by_the_default_and_again_by_a_later_build(
    engine: Engine, elsewhere: Elsewhere
):
    elsewhere.down = True
    add(engine, "ann met Bob", "ann saw Cid", "an odd text of Dan")
    assert build(engine).state == "succeeded"
    assert names(engine) == ["Bob", "Cid", "Dan"]
    status = engine.owner.graph.status(SPACE)
    assert (status.pending, status.fallbacks, status.degraded, status.current) == (0, 3, True, True)
    assert engine.meters.graph.versions.read() == {("chosen",): 0, ("fallback",): 3}
    elsewhere.down, elsewhere.asked = False, []
    task = build(engine)
    assert (task.state, task.done, task.total) == ("succeeded", 3, 3)
    assert len(elsewhere.asked) == 3
    assert names(engine) == ["Dan", "ann"]
    status = engine.owner.graph.status(SPACE)
    assert (status.fallbacks, status.degraded) == (1, True)
    assert engine.unread_graphs() == []


def test_many_fallbacks_are_each_read_again_once(engine: Engine, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.graph.indexing.WAITED_FOR", 3)
    elsewhere.down = True
    add(engine, *(f"ann met Bob{n}" for n in range(7)))
    build(engine)
    elsewhere.asked = []
    assert build(engine).result["fallbacks"] == 7  # pyright: ignore[reportOptionalSubscript, reportIndexIssue]
    assert sorted(elsewhere.asked) == sorted(f"ann met Bob{n}" for n in range(7))
    elsewhere.down, elsewhere.asked = False, []
    build(engine, again=True)
    assert len(elsewhere.asked) == 7 and not engine.owner.graph.status(SPACE).degraded


def test_the_mark_goes_with_its_version_and_is_seen_by_those_who_see_it(engine: Engine, elsewhere: Elsewhere):
    elsewhere.down = True
    mine, other = engine.owner.write.add(
        SPACE, [Draft(content="I met Bob", category="mine"), Draft(content="I met Cid", category="other")]
    ).memories
    build(engine)
    assert engine.owner.graph.status(SPACE).fallbacks == 2
    assert engine.seen_by(Caller(actor="me", category="mine")).graph.status(SPACE).fallbacks == 1
    engine.owner.write.delete(SPACE, mine.id)
    engine.owner.write.delete(SPACE, other.id)
    assert not engine.owner.graph.status(SPACE).degraded

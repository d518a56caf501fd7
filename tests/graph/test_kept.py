"""Counts of a whole graph that are kept are those of a first count, after any change and for each caller."""

from datetime import timedelta

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.values import Draft
from muisti.core.support.memo import forget_texts
from tests.core.fakes import SPACE, Clock


def counted(engine: Engine, category: str | None) -> tuple[object, ...]:
    graph = (engine.owner if category is None else engine.seen_by(Caller("b", category=category))).graph
    return (
        graph.entities(SPACE),
        graph.entities(SPACE, sort="name", limit=1),
        graph.communities(SPACE),
        graph.part(SPACE),
        graph.proposals(SPACE),
        graph.status(SPACE),
    )


def test_kept_counts_equal_those_of_a_first_count(engine: Engine, clock: Clock):
    write, ids = engine.owner.write, list[str]()
    texts = (
        "Anna Berg met Ben Dahl in Turku",
        "Ana Berg met Ben Dahl in Oslo",
        "Ben Dahl, Anna Berg and Eve Lind left",
    )
    steps = [
        *(lambda n=n: ids.extend(m.id for m in write.add(SPACE, [Draft(content=texts[n % 3], category="ab"[n % 2])],
                                                         on_conflict="keep").memories) for n in range(6)),
        lambda: write.update(SPACE, ids[3], {"expires_at": timedelta(hours=1)}),
        lambda: clock.pass_days(1),
        lambda: write.delete(SPACE, ids[0]),
        lambda: write.update(SPACE, ids[1], {"content": "Nobody was there"}),
        lambda: engine.eraser.memory(SPACE, ids[2], Caller()),
        lambda: engine.owner.graph.drop(SPACE),
        lambda: engine.owner.graph.extend(SPACE),
    ]  # fmt: skip
    for step in steps:
        step()
        for category in (None, "a"):
            kept = [counted(engine, category) for _ in range(2)][-1]
            forget_texts()
            assert kept == counted(engine, category)

"""Counts of a whole graph that are kept are those of a first count, after any change and for each caller."""

from datetime import timedelta

from muisti.core.engine import Engine
from muisti.core.graph.kept import Kept
from muisti.core.graph.sql.graph_rows import Shown
from muisti.core.identity.caller import Caller
from muisti.core.model.values import Draft
from muisti.core.query.points import Point
from muisti.core.read.reading import find_space
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


def test_what_is_counted_across_an_erasure_is_not_kept(engine: Engine):
    engine.owner.write.add(SPACE, [Draft(content="Anna Berg met Ben Dahl in Turku")])
    engine.owner.graph.extend(SPACE)
    space, kept = find_space(engine._database, SPACE), Kept(engine._database)
    shown, asked = Shown(Point(None, engine.now()), None), list[str]()

    def count(text: str, *, erases: bool = False) -> str:
        asked.append(text)
        if erases:
            forget_texts()
        return text

    assert kept.of(space, shown, "names", lambda: count("with the erased name", erases=True)) == "with the erased name"
    assert [kept.of(space, shown, "names", lambda: count("without it")) for _ in range(2)] == ["without it"] * 2
    assert asked == ["with the erased name", "without it"]

"""The section `about`: facts of the graph about what the question names, cited, within the budget, for each caller."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from muisti.core.conversations.context.counting import USUAL, counter
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.context import Context, Wanted
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.views.read import Request
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.graph.plain import toy_reader
from tests.stores import Stores

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
TITLE = "Facts about what is named\n"


@pytest.fixture
def engine(stores: Stores, clock: Clock) -> Iterator[Engine]:
    with open_engine(stores(), clock=clock, graph_reader=toy_reader) as opened:
        yield opened


def context(engine: Engine, question: str, caller: Caller | None = None, **asked: object) -> Context:
    view = engine.owner if caller is None else engine.seen_by(caller)
    given: dict[str, object] = {"token_budget": 400, "encoding": USUAL, "sections": {"about": Wanted()}, **asked}
    return view.context.build(SPACE, Request(query=question, **given))  # pyright: ignore[reportArgumentType]


def lines(found: Context) -> list[str]:
    return [found.text[one.start : one.stop] for one in found.citations if one.section == "about"]


def move(engine: Engine) -> list[str]:
    drafts = [
        Draft(content="I live in Turku, where it rains", author="Ann", event_at=MAY),
        Draft(content="I live in Oslo, at last", author="Ann", event_at=JUNE),
        Draft(content="Bob like Kemi", event_at=JUNE),
    ]
    return [one.id for one in engine.owner.write.add(SPACE, drafts, on_conflict="keep").memories]


def test_facts_about_the_named_are_told_with_their_days_and_cited(engine: Engine):
    turku, oslo, _ = move(engine)
    found = context(engine, "Where does Ann live?")
    assert TITLE in found.text
    cited = {one.id: found.text[one.start : one.stop] for one in found.citations}
    assert cited == {
        turku: "Ann: lives in Turku (2026-05-01 to 2026-06-01)",
        oslo: "Ann: lives in Oslo (since 2026-06-01)",
    }
    assert all(one.cut for one in found.citations)
    assert found.tokens == counter(USUAL).count(found.text) <= 400
    assert lines(context(engine, "who is in Kemi")) == ["Bob: likes Kemi (since 2026-06-01)"]


def test_i_is_the_user(engine: Engine):
    add(engine, "I live in Turku")
    (line,) = lines(context(engine, "where do I live?"))
    assert line.startswith("user: lives in Turku")


def test_memories_are_shown_whole_beside_the_facts_about_them(engine: Engine):
    turku, oslo, _ = move(engine)
    sections = {"about": Wanted(), "memories": Wanted()}
    found = context(engine, "Ann live in Oslo at last", sections=sections, min_evidence="none")
    whole = {one.id for one in found.citations if one.section == "memories"}
    assert {turku, oslo} <= whole
    assert "I live in Oslo, at last" in found.text
    assert {one.id for one in found.citations if one.section == "about"} == {turku, oslo}


def test_there_is_no_section_without_being_asked_for_or_without_names(engine: Engine):
    move(engine)
    assert TITLE not in context(engine, "Ann in Oslo", sections=None).text
    assert context(engine, "nothing that is known").text == ""
    assert context(engine, "Zoe").citations == ()


def test_the_budget_of_the_section_holds(engine: Engine):
    engine.owner.write.add(
        SPACE, [Draft(content=f"Ann like Place{number}", event_at=MAY) for number in range(30)], on_conflict="keep"
    )
    found = context(engine, "Ann", sections={"about": Wanted(max_tokens=60)})
    (section,) = found.sections
    assert 0 < section.tokens <= 60 and 1 <= section.memories < 30


def test_facts_are_those_of_the_caller_of_the_filter_and_of_then(engine: Engine):
    a = Draft(content="Ann live in Turku", category="a", event_at=MAY)
    engine.owner.write.add(SPACE, [a], on_conflict="keep")
    then = engine.spaces.get(SPACE).seq
    b = Draft(content="Ann live in Oslo", category="b", event_at=JUNE)
    engine.owner.write.add(SPACE, [b], on_conflict="keep")
    assert len(lines(context(engine, "Ann"))) == 2
    assert lines(context(engine, "Ann", Caller("a", category="a"))) == ["Ann: lives in Turku (since 2026-05-01)"]
    assert lines(context(engine, "Ann", filter=parse({"category": "b"}))) == ["Ann: lives in Oslo (since 2026-06-01)"]
    assert lines(context(engine, "Ann", filter=parse({"entity": "Oslo"}))) == ["Ann: lives in Oslo (since 2026-06-01)"]
    assert lines(context(engine, "Ann", as_of=AsOf(number=then))) == ["Ann: lives in Turku (since 2026-05-01)"]


def test_without_a_graph_the_context_says_so(engine: Engine):
    move(engine)
    engine.spaces.set_policy(SPACE, {"graph": "off"})
    found = context(engine, "Ann")
    assert (found.citations, len(found.degraded)) == ((), 1) and "is off" in found.degraded[0]

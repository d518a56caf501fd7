"""Questions for a time or a place prefer turns that have one, in conversations only."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.hits import Hit
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.search.answering import GAIN, kind_of
from tests.core.fakes import SPACE

TALK = (
    "Ann called Bob about the boat",
    "Ann called Bob about the boat yesterday",
    "Ann saw the boat in a harbour town",
)


def fill(engine: Engine, *, session: str | None, category: str | None = None) -> None:
    drafts = [
        Draft(content=text, category=category, metadata={} if session is None else {"session": session, "turn": turn})
        for turn, text in enumerate(TALK)
    ]
    engine.owner.write.add(SPACE, drafts, on_conflict="keep")


def factors(hits: tuple[Hit, ...]) -> dict[str, object]:
    assert all(hit.explain for hit in hits)
    return {hit.memory.content: hit.explain.answer for hit in hits if hit.explain}


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Ann call Bob?", "time"),
        ("what year was the boat built", "time"),
        ("Where's the boat?", "place"),
        ("Which city does Bob live in?", "place"),
        ("What does Ann do when it rains?", None),
        ("Go where you want", None),
        ("Why did Ann call?", None),
        ("When did it happen? " * 100, None),
    ],
)
def test_the_kind_of_a_question(question: str, kind: str | None):
    assert kind_of(question) == kind


@pytest.mark.parametrize(("question", "has"), [("When did Ann call Bob?", TALK[1]), ("Where did Ann see it?", TALK[2])])
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_turns_with_such_an_answer_gain(engine: Engine, question: str, has: str, mode: str):
    fill(engine, session="a")
    hits = engine.owner.read.search(SPACE, Query(text=question, mode=mode, explain=True)).hits  # pyright: ignore
    assert {text for text, factor in factors(hits).items() if factor == 1 + GAIN} == {has}
    for hit in hits:
        assert hit.explain is not None and sum(hit.explain.parts.values()) == pytest.approx(hit.score, abs=1e-9)


def test_other_memories_and_other_questions_keep_their_score(engine: Engine):
    fill(engine, session=None)
    hits = engine.owner.read.search(SPACE, Query(text="When did Ann call Bob?", explain=True)).hits
    assert not any(isinstance(factor, float) for factor in factors(hits).values())
    fill(engine, session="a")
    fill(engine, session="b")
    hits = engine.owner.read.search(SPACE, Query(text="Who did Ann call?", explain=True)).hits
    assert not any(isinstance(factor, float) for factor in factors(hits).values())


def test_turns_that_a_caller_does_not_see_change_nothing(engine: Engine):
    fill(engine, session=None, category="open")
    before = engine.seen_by(Caller("x", category="open")).read.search(SPACE, Query(text="When did Ann call Bob?"))
    for session in "abc":
        fill(engine, session=session, category="hidden")
    after = engine.seen_by(Caller("x", category="open")).read.search(SPACE, Query(text="When did Ann call Bob?"))
    assert [(hit.memory.id, hit.score) for hit in before.hits] == [(hit.memory.id, hit.score) for hit in after.hits]
    owner = engine.owner.read.search(SPACE, Query(text="When did Ann call Bob?", explain=True)).hits
    assert any(isinstance(factor, float) for factor in factors(owner).values())


@pytest.mark.parametrize("text", ["The boat leaks at the stern", "Then the boat leaks at the stern"])
def test_what_another_said_is_less_evidence_unless_it_names_the_person(engine: Engine, text: str):
    def strength(author: str, said: str, session: str) -> float:
        drafts = [
            Draft(content=content, author=one, metadata={"session": session, "turn": turn})
            for turn, (one, content) in enumerate([("Ann", "Good morning"), ("Bob", "Hello"), (author, said)])
        ]
        engine.spaces.create(session)
        engine.owner.write.add(session, drafts, on_conflict="keep")
        return engine.owner.read.search(session, Query(text="What did Ann say about the boat?")).strength

    hers, his = strength("Ann", text, "hers"), strength("Bob", text, "his")
    named = strength("Bob", f"{text}, said Ann", "named")
    assert his < hers and his < named

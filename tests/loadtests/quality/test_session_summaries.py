"""Session summaries, as a way to fill a prompt that contexts are compared with."""

import pytest

from loadtests.quality.contexts import Question, judged, opened, questions
from loadtests.quality.packing import WAYS
from muisti.service.evaluation.dataset import Dataset, Document, Query
from tests.core.fakes import WordEncoder

SUBJECTS = {"boats": "We repaired the wooden boat in harbour", "bread": "We baked rye bread in kitchen"}


def document(session: str, number: int) -> Document:
    meta = {"session": session, "speaker": "Ann", "timestamp": f"2026-01-0{1 + (session == 'bread')}T10:00:00"}
    text = f"Ann: {SUBJECTS[session]} number {number}. Then there was tea again."
    return Document(id=f"{session}{number}", part=0, text=text, meta=meta)


@pytest.fixture(scope="module")
def question() -> Question:
    documents = tuple(document(session, number) for session in SUBJECTS for number in range(20))
    query = Query(
        id="q",
        text="Who repaired something, and baked rye bread in kitchen?",
        group="g",
        category="",
        answer="rye bread in kitchen",
    )
    data = Dataset(name="x", documents={"g": documents}, queries={"g": (query,)}, qrels={"q": {"bread3": 1}}, notes=())
    with opened(WordEncoder()) as engine:
        return next(questions(engine, data, "g", "g0"))


@pytest.mark.parametrize("budget", [20, 40, 80, 200, 4_000])
def test_the_session_with_the_best_hit_comes_first_and_nothing_is_over_the_budget(question: Question, budget: int):
    asked = question.asked
    kept = WAYS["session summaries"](asked, budget)
    assert kept
    days = {asked.conversation[id_].memory.event_at for id_ in kept}
    text = "".join(f"{line}\n" for line in kept.values()) + "2026-01-01\n" * len(days)
    assert asked.counter.count(text) <= budget
    first = asked.conversation[next(iter(kept))].memory
    assert first.metadata["session"] == "bread"
    every = {str(asked.conversation[id_].memory.metadata["session"]) for id_ in kept}
    assert budget < 4_000 or every == {"bread", "boats"}


def test_lines_of_a_summary_count_for_the_memories_that_they_are_from(question: Question):
    kept = WAYS["session summaries"](question.asked, 4_000)
    assert 0 < judged(question, kept).words <= 1
    for id_, line in kept.items():
        said = question.asked.conversation[id_].memory.content
        assert line.removeprefix("Ann: ").split(".")[0] in said

"""The probability that hits answer a question, and the cut by it: in one space, in several, and for callers of keys."""

from collections.abc import Iterator
from typing import Any

import pytest

from muisti.core.conversations.context.counting import USUAL
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.hits import Answer
from muisti.core.query.query import Options, Part, Query
from muisti.core.views.read import Request
from tests.core.fakes import SPACE, add, open_engine
from tests.core.search.test_judged import Fitted
from tests.stores import Stores

TEXTS = ("the boat is blue", "the boat has a red sail", "tea in the morning", "Ann hates cold soup")
ABOUT = "which boat is blue"
FACTS = ("Atlas keeps its invoices in Postgres", "Otto owns the roadmap of Beacon", "the Atlas API allows 90 calls")
DOUBTFUL = "does Bob like warm soup?"


@pytest.fixture
def engine(stores: Stores) -> Iterator[Engine]:
    with open_engine(stores(), calibration=Fitted()) as opened:
        add(opened, *TEXTS)
        yield opened


@pytest.fixture
def facts(stores: Stores) -> Iterator[Engine]:
    with open_engine(stores(), calibration=Fitted(), encoder=StaticEncoder()) as opened:
        add(opened, *FACTS)
        yield opened


def ask(engine: Engine, text: str, **asked: Any) -> Answer:
    return engine.owner.read.search(SPACE, Query(text=text, **asked))


def probabilities(answer: Answer) -> list[float]:
    return [hit.applies for hit in answer.hits if hit.applies is not None]


@pytest.mark.parametrize("asked", [{}, {"mode": "keyword"}, {"mode": "semantic"}, {"fusion": "rrf"}])
def test_the_best_hit_has_the_probability_of_the_answer_and_the_others_less(engine: Engine, asked: dict[str, Any]):
    answer = ask(engine, ABOUT, **asked)
    found = probabilities(answer)
    assert len(found) == len(answer.hits) > 0
    assert answer.applies == found[0] and found == sorted(found, reverse=True)
    assert all(0 <= one <= 1 for one in found)


def test_it_does_not_depend_on_the_number_of_hits_or_on_explanations(engine: Engine):
    whole = ask(engine, ABOUT)
    for asked in ({"limit": 1}, {"limit": 2, "explain": True}, {"options": Options(context_window=1)}):
        some = ask(engine, ABOUT, **asked)
        assert some.applies == whole.applies
        assert probabilities(some) == probabilities(whole)[: len(some.hits)]


@pytest.mark.parametrize("asked", [{"mode": "metadata"}, {"mode": "recent"}, {"text": ""}])
def test_lists_of_memories_have_no_probability_and_are_never_cut(engine: Engine, asked: dict[str, Any]):
    answer = engine.owner.read.search(SPACE, Query(**{"text": "boat", "mode": "metadata", "applies": 0.9} | asked))
    assert answer.applies is None and not probabilities(answer) and not answer.left_out


def test_a_cut_keeps_the_hits_near_the_best_and_counts_the_others(engine: Engine):
    every = ask(engine, ABOUT)
    for least in (0.0, 0.3, every.applies or 0.0, 1.0):
        cut = ask(engine, ABOUT, applies=least)
        border = least * probabilities(every)[0] if probabilities(every)[0] >= least else 2
        assert probabilities(cut) == [one for one in probabilities(every) if one >= border]
        assert cut.left_out == len(every.hits) - len(cut.hits)
        assert (cut.nearest is None) == bool(cut.hits)
    assert ask(engine, DOUBTFUL, applies=1.0).nearest == ask(engine, DOUBTFUL).hits[0]


def test_a_question_about_a_person_whom_nobody_names_is_less_likely_answered(engine: Engine):
    known, stranger = (ask(engine, f"does {name} hate cold soup?").applies or 0.0 for name in ("Ann", "Bob"))
    assert stranger < known


def test_an_explanation_says_that_a_memory_was_left_out(engine: Engine):
    every = ask(engine, DOUBTFUL)
    explained = ask(engine, DOUBTFUL, applies=1.0, options=Options(explain_ids=(every.hits[0].memory.id,)))
    assert [one.reason for one in explained.explained] == ["applies"]


def test_several_spaces_are_cut_together(engine: Engine):
    engine.spaces.create("other")
    add(engine, "the house is green", space="other")
    query, parts = Query(text=ABOUT, applies=0.4), [Part(SPACE), Part("other", 0.5)]
    joint = engine.owner.read.search_spaces(parts, query)
    assert joint.applies == ask(engine, ABOUT).applies
    found = [hit.applies or 0.0 for hit in joint.hits]
    assert all(one >= 0.4 * max(found) for one in found) and joint.left_out


@pytest.mark.parametrize("text", [ABOUT, "does Bob like warm soup?"])
def test_it_says_nothing_of_memories_that_a_key_does_not_open(engine: Engine, text: str):
    add(engine, "the boat is green", "soup is for supper", category="open")
    keyed = engine.seen_by(Caller(category="open")).read
    before = keyed.search(SPACE, Query(text=text))
    add(engine, "Bob likes the blue boat", "Bob's warm soup", category="closed", author="Bob")
    after = keyed.search(SPACE, Query(text=text))
    assert probabilities(after) == probabilities(before) and after.applies == before.applies


@pytest.mark.parametrize(
    ("answered", "near"),
    [
        ("Who owns the roadmap of Beacon?", "Who owns the roadmap of Atlas?"),
        ("How many calls does the Atlas API allow?", "How many calls does the Beacon API allow?"),
        ("Does Atlas keep invoices in Postgres?", "Does Atlas keep salmon in Postgres?"),
        ("How do I read the roadmap of Beacon?", "How do I read the roadmap of Zanzibar?"),
    ],
)
def test_a_question_about_another_thing_of_the_kind_is_less_likely_answered(facts: Engine, answered: str, near: str):
    right, wrong = (ask(facts, text) for text in (answered, near))
    doubts = [1 - (answer.applies or 0.0) for answer in (right, wrong)]
    assert doubts[1] > 10 * doubts[0]
    assert [hit.memory.id for hit in right.hits[:1]] == [
        hit.memory.id for hit in wrong.hits[:1]
    ]  # order is another thing


@pytest.mark.parametrize(("text", "surfaces"), [("who chose pg?", [FACTS[0]]), ("what is pg short for?", None)])
def test_a_statement_of_another_name_surfaces_where_the_name_is_asked_for(
    engine: Engine, text: str, surfaces: list[str] | None
):
    stated = "pg is short for Postgres"
    add(engine, stated, *FACTS)
    found = [hit.memory.content for hit in ask(engine, text, applies=0.4).hits]
    assert found == surfaces if surfaces else stated in found


@pytest.mark.parametrize("authors", [("Ann", "Bob"), (None, None)])
def test_evidence_about_another_person_is_weaker(engine: Engine, authors: tuple[str | None, str | None]):
    ann, bob = authors
    add(engine, "Ann wants a larger harbour", author=ann)
    add(engine, "Bob wants a longer railway", author=bob)
    right, wrong = (ask(engine, f"What did {name} say about the railway?").strength for name in ("Bob", "Ann"))
    assert wrong < right


def test_a_name_that_is_lacking_does_not_empty_a_context(facts: Engine):
    request = Request(query="Does the Zanzibar API allow eels?", token_budget=500, encoding=USUAL)
    assert FACTS[2] in facts.owner.context.build(SPACE, request).text

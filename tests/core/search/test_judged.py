"""The evidence of questions that ask for advice, in a space, and the reason that an answer gives for its level."""

from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from muisti.core.model.hits import Answer, Thresholds
from muisti.core.query.evidence import Calibration, Nearest, Unrelated, advised
from muisti.core.query.points import AsOf
from muisti.core.query.query import Options, Query
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Stores

HYBRID = Thresholds(0.7, 1.5)
USUAL = Unrelated(first=0.1, growth=0.05)
ADVICE = "would you recommend a film"
FACT = "who watched a film"
TEXTS = ("a film without violence", "the boat is blue", "tea in the morning")


class Fitted(Calibration):
    """A calibration for every model."""

    def thresholds(self, mode: str, generation: str | None, space: str) -> Thresholds | None:
        return HYBRID if mode in ("hybrid", "semantic", "keyword") else None

    def unrelated(self, generation: str | None, space: str) -> Unrelated | None:
        return USUAL


class Plain(Fitted):
    """Build a calibration without the cosines of unrelated questions."""

    def unrelated(self, generation: str | None, space: str) -> Unrelated | None:
        return None


@pytest.fixture
def engine(stores: Stores) -> Iterator[Engine]:
    with open_engine(stores(), calibration=Fitted()) as opened:
        add(opened, *TEXTS)
        yield opened


@pytest.fixture
def plain(stores: Stores) -> Iterator[Engine]:
    with open_engine(stores(), calibration=Plain()) as opened:
        add(opened, *TEXTS)
        yield opened


def ask(engine: Engine, text: str, **asked: object) -> Answer:
    return engine.owner.read.search(SPACE, Query(text=text, **asked))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("fusion", ["absolute", "convex"])
def test_a_question_for_advice_is_judged_by_its_nearest_passage(engine: Engine, plain: Engine, fusion: str):
    answer, before = (ask(one, ADVICE, explain=True, fusion=fusion) for one in (engine, plain))
    cosine = max(hit.explain.cosine or 0.0 for hit in answer.hits if hit.explain is not None)
    assert answer.strength == pytest.approx(
        advised(before.strength, HYBRID.weak, Nearest(cosine, len(TEXTS)), USUAL), abs=1e-6
    )
    assert [hit.score for hit in answer.hits] == [hit.score for hit in before.hits]


@pytest.mark.parametrize(
    "asked", [{"text": FACT}, {"text": ADVICE, "mode": "semantic"}, {"text": ADVICE, "mode": "keyword"}]
)
def test_a_question_for_a_fact_and_other_modes_are_judged_as_ever(engine: Engine, plain: Engine, asked: dict[str, str]):
    assert ask(engine, **asked).strength == ask(plain, **asked).strength


def test_a_memory_that_is_the_query_asks_for_nothing(engine: Engine, plain: Engine):
    ids = [add(one, ADVICE)[0] for one in (engine, plain)]
    likes = [Options(similar_to=one) for one in ids]
    found = [
        one.owner.read.search(SPACE, Query(options=like)) for one, like in zip((engine, plain), likes, strict=True)
    ]
    assert found[0].strength == found[1].strength


def test_the_past_is_judged_by_what_was_there(engine: Engine):
    before = ask(engine, ADVICE)
    add(engine, "would you recommend a good film", *(f"note {number}" for number in range(20)))
    past = ask(engine, ADVICE, as_of=AsOf(epoch=before.seq.epoch, number=before.seq.number))
    assert ask(engine, ADVICE).strength != before.strength == past.strength


def test_an_answer_says_why_its_evidence_has_its_level(engine: Engine):
    assert ask(engine, FACT).evidence_reason is None
    fact = ask(engine, FACT, explain=True)
    assert fact.evidence_reason is not None
    assert f"{fact.strength:.2f}" in fact.evidence_reason and "advice" not in fact.evidence_reason
    advice = ask(engine, ADVICE, explain=True).evidence_reason
    assert advice is not None and "asks for advice" in advice and "of 3 passages" in advice
    whole = ask(engine, "boat blue", explain=True, mode="keyword")
    assert whole.evidence != "none"
    assert ask(engine, "", explain=True, mode="recent").evidence_reason is None


def test_without_thresholds_the_reason_says_so(stores: Stores):
    with open_engine(stores()) as opened:
        add(opened, *TEXTS)
        answer = ask(opened, ADVICE, explain=True)
    assert answer.evidence == "uncalibrated" and "calibrate" in (answer.evidence_reason or "")

"""Relations between names by the model."""

import numpy as np

from muisti.core.graph.facts import between
from muisti.core.graph.facts.between import BUCKETS, KINDS, Judge, Span
from muisti.core.graph.facts.lexicon import words
from tests.graph.facts.saying import mention, said


def _sentence(text: str, *spans: Span):
    return list(between.pairs(words(text, 0, len(text)), spans))


def test_the_shipped_weights_know_a_place_in_a_country_and_tie_nothing_else():
    text = "The airport of Oslo, Norway was closed."
    assert said(text, [mention(text, name, "place") for name in ("Oslo", "Norway")]) == ["Oslo located_in Norway"]
    text = "Ann likes the new logo that Acme has."
    names = [mention(text, "Ann", "person"), mention(text, "Acme", "organisation")]
    assert not [one for one in said(text, names) if "works_at" in one]
    assert all(least >= 0.85 for least in between.shipped().sure.values())
    assert between.WEIGHTS.stat().st_size < 200_000


def test_kinds_of_near_names_decide_the_relation():
    found = _sentence(
        "Ann of Acme in Oslo", Span(0, "person", 0, 1), Span(1, "organisation", 2, 3), Span(2, "place", 4, 5)
    )
    told = {(one.subject, one.kind, one.object) for one in found}
    assert told == {(0, "works_at", 1), (0, "lives_in", 2), (1, "based_in", 2)}
    assert _sentence("Ann " + "and " * 60 + "Acme", Span(0, "person", 0, 1), Span(1, "organisation", 61, 62)) == []


def test_two_names_of_one_kind_make_two_pairs_with_features_of_their_order():
    one, other = _sentence("Oslo , Norway", Span(0, "place", 0, 1), Span(1, "place", 2, 3))
    assert (one.subject, one.object, other.subject, other.object) == (0, 1, 1, 0)
    assert set(one.features) != set(other.features)
    assert all(0 <= bucket < BUCKETS for bucket in one.features)


def test_a_probability_grows_with_the_weights():
    weights = np.zeros(BUCKETS, np.int8)
    weights[7] = 100
    judge = Judge(weights, 0.02, {kind: 0.5 for kind in KINDS.values()})
    assert judge.probability([1]) == 0.5
    assert 0.5 < judge.probability([7]) < judge.probability([7, 7]) < 1

"""Which names merge by a rule, from how they are written."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.names import norm
from muisti.core.graph.merging import NEAR, Candidate, Sketch, Stated, grouped
from muisti.core.model.graph import AliasSource, EntityKind


def sketch(text: str, kind: EntityKind = "person") -> Sketch:
    return Sketch(text, kind, 1.0, text.isupper(), text[0].islower(), changes=(1,))


def merged(candidates: Sequence[Candidate], names: Sequence[str], stated: Sequence[tuple[int, int]] = ()) -> set[int]:
    """Return the names that belong to the first one."""
    said = {pair: Stated(*pair, apart=False, version=1, memory=b"", text="", kind="other") for pair in stated}
    sketches = {number: sketch(text) for number, text in enumerate(names)}
    norms = {number: norm(text) for number, text in enumerate(names)}
    return {*grouped(range(len(names)), norms, said, candidates, sketches)[0].members}


@pytest.mark.parametrize(
    ("rule", "short", "long", "together"),
    [
        ("name_part", "Ann", "Ann Lee", True),
        ("name_part", "ann", "Ann Lee", False),
        ("name_part", "BUSH", "ROSE BUSH", False),
        ("name_part", "EVA", "Eva Mode", False),
        ("name_part", "Ann", "ANN LEE", False),
        ("name_part", "Piper", "Piper nigrum", False),
        ("name_part", "Noah", "Noah Webster Sr.", False),
        ("name_part", "Noah", "Noah Webster", True),
        ("acronym", "HP", "Harry Potter", True),
        ("acronym", "hp", "Harry Potter", False),
        ("acronym", "SAM", "SHOUTED AS MUCH", False),
        ("acronym", "PC", "PhD C", False),
        ("acronym", "IBM", "I B M", True),
        ("acronym", "AGM", "African green monkey", False),
        ("spelling", "OSLO", "Oslo", True),
        ("spelling", "White house", "White House", True),
        ("spelling", "harry potter", "Harry Potter", True),
        ("spelling", "dave", "Dave", False),
        ("spelling", "SoxS", "soxS", False),
        ("spelling", "The Fall", "Fall", False),
    ],
)
def test_a_rule_looks_at_how_both_names_are_written(rule: AliasSource, short: str, long: str, together: bool):
    assert (merged([Candidate(0, rule, (1,))], [short, long]) == {0, 1}) == together


@pytest.mark.parametrize(("kind", "confidence"), [("organisation", 1.0), ("person", 0.8)])
def test_a_part_of_a_name_must_surely_be_a_person(kind: EntityKind, confidence: float):
    sketches = {0: sketch("Mark")._replace(confidence=confidence), 1: sketch("Mark It", kind)}
    found = grouped([0, 1], {0: "Mark", 1: "Mark It"}, {}, [Candidate(0, "name_part", (1,))], sketches)
    assert found[0] is not found[1]


@pytest.mark.parametrize(("kinds", "clear"), [(["person"], True), (["person", "place"], False)])
def test_a_part_of_a_name_is_a_person_in_most_of_its_mentions(kinds: Sequence[str], clear: bool):
    short = Sketch.of(json.dumps([[kind, "Jordan", 0.9, "recogniser", 1] for kind in kinds]), "jordan")
    assert short is not None
    assert (short.kind, short.clear) == ("person", clear)
    sketches = {0: short, 1: sketch("Ann Jordan")}
    found = grouped([0, 1], {0: "Jordan", 1: "Ann Jordan"}, {}, [Candidate(0, "name_part", (1,))], sketches)
    assert (found[0] is found[1]) == clear


@pytest.mark.parametrize(("long", "together"), [("New York City", True), ("Nora Yvonne Carr", False)])
def test_an_acronym_has_the_kind_of_its_name(long: str, together: bool):
    sketches = {0: sketch("NYC", "place"), 1: sketch(long, "place" if together else "person")}
    found = grouped([0, 1], {0: "NYC", 1: norm(long)}, {}, [Candidate(0, "acronym", (1,))], sketches)
    assert (found[0] is found[1]) == together


@pytest.mark.parametrize(
    ("changes", "speaks", "together"),
    [((1 + NEAR,), False, True), ((2 + NEAR, 999), False, False), ((2 + NEAR,), True, True)],
)
def test_a_name_is_mentioned_near_its_part_unless_it_speaks(changes: tuple[int, ...], speaks: bool, together: bool):
    sketches = {0: sketch("Ann"), 1: sketch("Ann Lee")._replace(changes=changes, speaks=speaks)}
    found = grouped([0, 1], {0: "Ann", 1: "Ann Lee"}, {}, [Candidate(0, "name_part", (1,))], sketches)
    assert (found[0] is found[1]) == together


@given(st.sets(st.integers(0, 99), max_size=5), st.sets(st.integers(0, 99), max_size=5))
def test_nearness_is_that_of_the_two_closest_mentions(some: set[int], others: set[int]):
    one = sketch("Ann")._replace(changes=tuple(sorted(some)))
    other = sketch("Ann Lee")._replace(changes=tuple(sorted(others)))
    near = any(abs(a - b) <= NEAR for a in some for b in others)
    assert one.is_near(other) == other.is_near(one) == near


@pytest.mark.parametrize(
    ("changed", "together"),
    [
        ({}, True),
        ({"changes": (2 + NEAR,)}, False),
        ({"changes": (2 + NEAR,), "speaks": True}, True),
        ({"changes": (2 + NEAR,), "stated": True}, True),
        ({"changes": (2 + NEAR,), "kind": "date"}, False),
        ({"kind": "symbol"}, False),
        ({"kind": "identifier"}, False),
    ],
)
def test_a_name_merges_with_another_spelling_near_it(changed: dict[str, object], together: bool):
    sketches = {0: sketch("Oslo", "place"), 1: sketch("OSLO", "place")._replace(**changed)}
    found = grouped([0, 1], {0: "Oslo", 1: "OSLO"}, {}, [Candidate(1, "spelling", (0,))], sketches)
    assert (found[0] is found[1]) == together
    assert found[0].head == 0


def test_a_speaker_written_small_and_words_for_times_merge_with_another_spelling():
    cases: Sequence[tuple[str, EntityKind, bool]] = (("elise", "person", True), ("monday", "date", False))
    for small, kind, speaks in cases:
        sketches = {0: sketch(small.title(), kind), 1: sketch(small, kind)._replace(speaks=speaks, changes=(999,))}
        found = grouped([0, 1], {0: small.title(), 1: small}, {}, [Candidate(0, "spelling", (1,))], sketches)
        assert found[1].joined == {1: ("spelling", None)}


def test_a_spelling_that_people_keep_apart_stays_apart():
    apart = {(0, 1): Stated(0, 1, apart=True, version=1, memory=b"", text="", kind="other")}
    sketches = {0: sketch("Oslo"), 1: sketch("OSLO")}
    found = grouped([0, 1], {0: "Oslo", 1: "OSLO"}, apart, [Candidate(1, "spelling", (0,))], sketches)
    assert found[0] is not found[1]


def test_two_speakers_are_two_persons():
    sketches = {0: sketch("Ann")._replace(speaks=True), 1: sketch("Ann Lee")._replace(speaks=True)}
    found = grouped([0, 1], {0: "Ann", 1: "Ann Lee"}, {}, [Candidate(0, "name_part", (1,))], sketches)
    assert found[0] is not found[1]


PARTS = [Candidate(1, "name_part", (0,)), Candidate(2, "name_part", (0,))]


def test_a_name_whose_words_are_both_persons_merges_with_neither():
    names = ["Morgan Brian", "Morgan", "Brian"]
    assert merged(PARTS[:1], names) == {0, 1}
    assert merged(PARTS, names) == {0}


def test_the_other_word_counts_when_it_may_be_of_several_names():
    names = ["Morgan Brian", "Morgan", "Brian", "Brian Kingsbury"]
    assert merged([PARTS[0], Candidate(2, "name_part", (0, 3))], names) == {0}


def test_words_that_people_have_merged_with_a_name_are_one_person():
    assert merged(PARTS, ["Jerry Feldman", "Jerry", "Feldman"], stated=[(0, 1)]) == {0, 1, 2}

"""Which names merge by a rule, from how they are written."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.name_keys import norm
from muisti.core.graph.merging import NEAR, Candidate, Sketch, Stated, grouped
from muisti.core.graph.model import AliasSource, EntityKind


def sketch(text: str, kind: EntityKind = "person") -> Sketch:
    return Sketch(text, kind, 1.0, text.isupper(), text[0].islower(), changes=(1,))


def merged(candidates: Sequence[Candidate], names: Sequence[str], stated: Sequence[tuple[int, int]] = ()) -> set[int]:
    """Return the names that belong to the first one."""
    said = {pair: Stated(*pair, apart=False, version=1, memory=b"", text="", kind="other") for pair in stated}
    sketches = {number: sketch(text) for number, text in enumerate(names)}
    norms = {number: norm(text) for number, text in enumerate(names)}
    return {*grouped(range(len(names)), norms, said, candidates, sketches)[0].members}


WRITTEN: Sequence[tuple[AliasSource, str, str, bool]] = (  # rule, short, long, and whether they are one
    ("name_part", "Ann", "Ann Lee", True), ("name_part", "ann", "Ann Lee", False),
    ("name_part", "BUSH", "ROSE BUSH", False), ("name_part", "EVA", "Eva Mode", False),
    ("name_part", "Ann", "ANN LEE", False), ("name_part", "Piper", "Piper nigrum", False),
    ("name_part", "Noah", "Noah Webster Sr.", False), ("name_part", "Noah", "Noah Webster", True),
    ("acronym", "HP", "Harry Potter", True), ("acronym", "hp", "Harry Potter", False),
    ("acronym", "SAM", "SHOUTED AS MUCH", False), ("acronym", "PC", "PhD C", False),
    ("acronym", "IBM", "I B M", True), ("acronym", "AGM", "African green monkey", False),
    ("spelling", "OSLO", "Oslo", True), ("spelling", "White house", "White House", True),
    ("spelling", "harry potter", "Harry Potter", True), ("spelling", "dave", "Dave", False),
    ("spelling", "SoxS", "soxS", False), ("spelling", "The Fall", "Fall", False),
)  # fmt: skip
PLACE = {"kind": "place"}
Changed = dict[str, object]


FAR = {"changes": (2 + NEAR,)}
FAR_SPEAKING = {**FAR, "speaks": True}


@pytest.mark.parametrize(("rule", "short", "long", "short_has", "long_has", "together"), [
    *((*names, {}, {}, together) for *names, together in WRITTEN),
    # a part of a name is surely a person, mentioned near it unless it speaks, and two speakers are two persons
    ("name_part", "Mark", "Mark It", {}, {"kind": "organisation"}, False),
    ("name_part", "Mark", "Mark It", {"confidence": 0.8}, {}, False),
    ("name_part", "Ann", "Ann Lee", {}, {"changes": (1 + NEAR,)}, True),
    ("name_part", "Ann", "Ann Lee", {}, {"changes": (2 + NEAR, 999)}, False),
    ("name_part", "Ann", "Ann Lee", {}, FAR_SPEAKING, True),
    ("name_part", "Ann", "Ann Lee", {"speaks": True}, {"speaks": True}, False),
    # an acronym has the kind of its name
    ("acronym", "NYC", "New York City", {"kind": "place"}, {"kind": "place"}, True),
    ("acronym", "NYC", "Nora Yvonne Carr", {"kind": "place"}, {}, False),
    # another spelling is near, stated, or written small by a speaker or in words for times
    ("spelling", "OSLO", "Oslo", PLACE, PLACE, True),
    ("spelling", "OSLO", "Oslo", {**PLACE, **FAR}, PLACE, False),
    ("spelling", "OSLO", "Oslo", {**PLACE, **FAR_SPEAKING}, PLACE, True),
    ("spelling", "OSLO", "Oslo", {**PLACE, **FAR, "stated": True}, PLACE, True),
    ("spelling", "OSLO", "Oslo", {**FAR, "kind": "date"}, PLACE, False),
    ("spelling", "OSLO", "Oslo", {"kind": "symbol"}, PLACE, False),
    ("spelling", "OSLO", "Oslo", {"kind": "identifier"}, PLACE, False),
    ("spelling", "Elise", "elise", {}, {"speaks": True, "changes": (999,)}, True),
    ("spelling", "Monday", "monday", {"kind": "date"}, {"kind": "date", "changes": (999,)}, True),
])  # fmt: skip
def test_a_rule_looks_at_both_names(
    rule: AliasSource, short: str, long: str, short_has: Changed, long_has: Changed, together: bool
):
    sketches = {0: sketch(short)._replace(**short_has), 1: sketch(long)._replace(**long_has)}
    found = grouped([0, 1], {0: norm(short), 1: norm(long)}, {}, [Candidate(0, rule, (1,))], sketches)
    assert (found[0] is found[1]) == together


@pytest.mark.parametrize(("kinds", "clear"), [(["person"], True), (["person", "place"], False)])
def test_a_part_of_a_name_is_a_person_in_most_of_its_mentions(kinds: Sequence[str], clear: bool):
    short = Sketch.of(json.dumps([[kind, "Jordan", 0.9, "recogniser", 1] for kind in kinds]), "jordan")
    assert short is not None
    assert (short.kind, short.clear) == ("person", clear)
    sketches = {0: short, 1: sketch("Ann Jordan")}
    found = grouped([0, 1], {0: "Jordan", 1: "Ann Jordan"}, {}, [Candidate(0, "name_part", (1,))], sketches)
    assert (found[0] is found[1]) == clear


@given(st.sets(st.integers(0, 99), max_size=5), st.sets(st.integers(0, 99), max_size=5))
def test_nearness_is_that_of_the_two_closest_mentions(some: set[int], others: set[int]):
    one = sketch("Ann")._replace(changes=tuple(sorted(some)))
    other = sketch("Ann Lee")._replace(changes=tuple(sorted(others)))
    near = any(abs(a - b) <= NEAR for a in some for b in others)
    assert one.is_near(other) == other.is_near(one) == near


def test_a_spelling_that_people_keep_apart_stays_apart():
    apart = {(0, 1): Stated(0, 1, apart=True, version=1, memory=b"", text="", kind="other")}
    sketches = {0: sketch("Oslo"), 1: sketch("OSLO")}
    found = grouped([0, 1], {0: "Oslo", 1: "OSLO"}, apart, [Candidate(1, "spelling", (0,))], sketches)
    assert found[0] is not found[1]


PARTS = [Candidate(1, "name_part", (0,)), Candidate(2, "name_part", (0,))]


def test_a_name_whose_words_are_both_persons_merges_with_neither_until_people_say_so():
    names = ["Morgan Brian", "Morgan", "Brian"]
    assert merged(PARTS[:1], names) == {0, 1}
    assert merged(PARTS, names) == {0}
    assert merged([PARTS[0], Candidate(2, "name_part", (0, 3))], [*names, "Brian Kingsbury"]) == {0}
    assert merged(PARTS, ["Jerry Feldman", "Jerry", "Feldman"], stated=[(0, 1)]) == {0, 1, 2}

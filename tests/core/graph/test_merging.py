"""Which names merge by a rule, from how they are written."""

import pytest

from muisti.core.graph.merging import Candidate, Sketch, grouped
from muisti.core.model.graph import AliasSource, EntityKind


@pytest.mark.parametrize(
    ("rule", "short", "long", "merged"),
    [
        ("name_part", "Ann", "Ann Lee", True),
        ("name_part", "ann", "Ann Lee", False),
        ("name_part", "BUSH", "ROSE BUSH", False),
        ("name_part", "EVA", "Eva Mode", False),
        ("name_part", "Ann", "ANN LEE", False),
        ("acronym", "HP", "Harry Potter", True),
        ("acronym", "hp", "Harry Potter", False),
        ("acronym", "SAM", "SHOUTED AS MUCH", False),
        ("acronym", "PC", "PhD C", False),
        ("acronym", "IBM", "I B M", True),
    ],
)
def test_a_rule_looks_at_how_both_names_are_written(rule: AliasSource, short: str, long: str, merged: bool):
    kind: EntityKind = "person" if rule == "name_part" else "organisation"
    sketches = {
        number: Sketch(text, kind, 1.0, text.isupper(), text[0].islower()) for number, text in enumerate((short, long))
    }
    norms = {0: short.casefold(), 1: long.casefold()}
    found = grouped([0, 1], norms, {}, [Candidate(0, rule, (1,))], sketches)
    assert (found[0] is found[1]) == merged


@pytest.mark.parametrize(("kind", "confidence"), [("organisation", 1.0), ("person", 0.6)])
def test_a_part_of_a_name_must_surely_be_a_person(kind: EntityKind, confidence: float):
    sketches = {
        0: Sketch("Mark", "person", confidence, capitals=False),
        1: Sketch("Mark It", kind, 1.0, capitals=False),
    }
    found = grouped([0, 1], {0: "mark", 1: "mark it"}, {}, [Candidate(0, "name_part", (1,))], sketches)
    assert found[0] is not found[1]

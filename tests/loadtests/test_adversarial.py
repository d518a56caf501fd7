"""No text of a user takes more than linear time, whatever it contains."""

import re

import pytest

from loadtests.adversarial import patterns, texts
from loadtests.adversarial.growth import fault
from loadtests.adversarial.readers import READERS, Reader
from loadtests.adversarial.texts import Family


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_of_text_takes_linear_time(reader: Reader):
    found = {name: fault(reader.call, family, reader.top) for name, family in texts.FAMILIES.items()}
    assert {name: said for name, said in found.items() if said} == {}


def test_every_pattern_takes_linear_time_on_texts_made_against_it():
    """A new pattern in the source is tried automatically, or the test fails until `ELSEWHERE` has an entry."""
    found = {
        f"{one.place} on {name}": fault(one.on, family, one.top)
        for one in patterns.used()
        for name, family in patterns.families(one.pattern).items()
    }
    assert {name: said for name, said in found.items() if said} == {}


def test_every_exception_is_of_a_pattern_that_is_there():
    assert set(patterns.ELSEWHERE) - set(patterns.places()) == set()


@pytest.mark.parametrize(
    "pattern", [r"[.!?]+\s+", r"eyJ\w*\.", r"\s*[a-z]+\s*(?:;q)?\s*$", r"(?:a+)+$", r".*[^/]@", r"a.*b"]
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str):
    one = patterns.Used("here", re.compile(pattern), "search")
    assert any(fault(one.on, family, 10_000) for family in patterns.families(one.pattern).values())


def test_a_quadratic_function_is_found_and_a_linear_one_is_not():
    family: Family = texts.repeated("a")
    assert fault(lambda text: [text[at:] for at in range(len(text))], family, 50_000)
    assert fault(lambda text: [char for _ in range(20) for char in text], family) is None

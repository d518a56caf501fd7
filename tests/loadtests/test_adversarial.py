"""No text of a user takes more than linear time, whatever it contains."""

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtests.adversarial import files, patterns, reached, texts
from loadtests.adversarial.growth import fault
from loadtests.adversarial.readers import READERS, Reader
from loadtests.adversarial.texts import Family


@pytest.mark.prove
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_of_text_takes_linear_time(reader: Reader):
    found = {name: fault(reader.call, family, reader.top) for name, family in texts.FAMILIES.items()}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.prove
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


def test_a_reader_runs_every_module_that_reads_text():
    """A new module that reads text gets a row in `READERS`, or a reason in `ELSEWHERE`."""
    excepted = [name for names in reached.ELSEWHERE.values() for name in names]
    assert set(reached.modules()) - reached.run() - set(excepted) == set()
    assert set(excepted) - set(reached.modules()) == set()


def test_a_module_of_text_is_found_by_its_libraries_and_by_its_functions():
    assert reached.why(ast.parse("import csv\nfrom xml.etree import ElementTree")) == "csv, xml"
    assert reached.why(ast.parse("def f(text: str) -> int: ...")) == "f"
    assert not reached.why(ast.parse("import math\ndef f(number: int) -> int: ..."))


@pytest.mark.prove
def test_a_live_server_answers_hostile_and_mutated_files_and_health_meanwhile(tmp_path: Path):
    """A slice of `python -m loadtests.adversarial.files`."""
    chosen = [*files.hostile_files()][-1:] + [*files.generated_files(len(files.SAMPLES), 7)][::3]
    with files.watched(tmp_path / "m.db") as (client, watch):
        found = files.measured(client, watch, chosen)
    assert sum(seen.files for seen in found.values()) == len(chosen)
    assert [one for seen in found.values() for one in seen.faults] == []
    assert watch.asked > 0 and watch.unanswered == 0


def test_generated_files_are_those_of_their_seed():
    made = [[make() for _, make in files.generated_files(len(files.SAMPLES), seed)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


@pytest.mark.prove
@pytest.mark.parametrize(
    "pattern", [r"[.!?]+\s+", r"eyJ\w*\.", r"\s*[a-z]+\s*(?:;q)?\s*$", r"(?:a+)+$", r".*[^/]@", r"a.*b"]
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str):
    one = patterns.Used("here", re.compile(pattern), "search")
    assert any(fault(one.on, family, 10_000) for family in patterns.families(one.pattern).values())


@pytest.mark.prove
def test_a_quadratic_function_is_found_and_a_linear_one_is_not():
    family: Family = texts.repeated("a")
    assert fault(lambda text: [text[at:] for at in range(len(text))], family, 50_000)
    assert fault(lambda text: [char for _ in range(20) for char in text], family) is None


class Clock:
    """A clock of processor time that calls advance by what they cost."""

    def __init__(self) -> None:
        self.now = 0.0

    def call(self, cost: Callable[[int], float]) -> Callable[[str], None]:
        def run(text: str) -> None:
            self.now += cost(len(text))

        return run


@pytest.mark.parametrize(
    ("cost", "is_fault"),
    [
        (lambda size: 1e-6 * size, False),
        (lambda size: 1e-7 * size * math.log(size), False),
        (lambda size: (3e-7 if size < 60_000 else 1.5e-6) * size, False),  # two speeds, both linear
        (lambda size: 1e-10 * size**2, True),
        (lambda size: 1.8e-11 * size**2, True),  # too quick to be called slow at the longest text
        (lambda size: 1.8e-11 * min(size, 100_000) ** 2, True),  # reads only so much of a text
        (lambda size: 1e-8 * 2**size if size < 30 else 1.0, True),
    ],
    ids=["linear", "n log n", "two speeds", "quadratic", "slowly quadratic", "quadratic to a limit", "exponential"],
)
def test_a_fault_is_told_from_a_step_between_two_speeds(
    cost: Callable[[int], float], is_fault: bool, monkeypatch: pytest.MonkeyPatch
):
    clock = Clock()
    monkeypatch.setattr("loadtests.adversarial.growth.process_time", lambda: clock.now)
    assert (fault(clock.call(cost), texts.repeated("a")) is not None) is is_fault

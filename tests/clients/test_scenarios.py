"""One suite for all Python clients: each scenario on the library and on the client, sync and async.

`python -m tests.clients.scenario` prints how many there are.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from loadtests.services.muisti import serving
from tests.clients.scenario import Scenario, scenarios
from tests.clients.targets import TARGETS, Runner, target

SCENARIOS = [*scenarios()]
VERBS = {
    *("remember", "remember_many", "recall", "search", "context", "get", "list"),
    *("update", "supersede", "forget", "history", "undo", "changes"),
}
_numbers = count(1)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("scenarios") / "muisti.db") as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.fixture(scope="module", params=TARGETS)
def runner(request: pytest.FixtureRequest, url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with ExitStack() as stack:
        yield stack.enter_context(target(request.param, url, tmp_path_factory.mktemp("library") / "notes.db"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_a_scenario_holds(runner: Runner, scenario: Scenario):
    runner(scenario, f"scenario-{next(_numbers)}")


def test_the_suite_covers_every_verb():
    called = Counter(step["call"] for one in SCENARIOS for step in one.steps if "call" in step)
    assert {*called} >= VERBS

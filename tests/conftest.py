"""Options and fixtures that all tests share."""

import gc
import itertools
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from deploy.cluster.sqld import Sqld
from muisti.service.settings.places import users_database
from tests.core.fakes import Clock
from tests.stores import Everything, FileStore, RemoteStore, Shared, Store, Stores

# The same examples each time, so that a change is judged by what it changed; a deadline would be a timed assertion.
settings.register_profile("muisti", deadline=None, print_blob=True, derandomize=True, max_examples=17)
settings.register_profile("prove", settings.get_profile("muisti"), max_examples=50)
# Other examples each time, and more.
settings.register_profile("long", deadline=None, print_blob=True, max_examples=500)
settings.load_profile("muisti")

# What is about the store itself runs on both stores in `make test`; the rest runs on sqld in `make prove` only.
ABOUT_STORES = ("tests/core/store/", "tests/core/test_engine.py", "tests/remote/")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="more examples, power cuts, kills and faults: an hour or two")
    parser.addoption("--cluster-seconds", type=float, default=6.0, help="how long the tests of a cluster go on")
    parser.addoption("--lives", type=int, default=200, help="with --long: lifecycles of a space, of 100 steps each")
    parser.addoption("--mcp-requests", type=int, default=400, help="how many a server gets that must keep none of them")
    parser.addoption("--browser", action="store_true", help="the console in a real Chromium (make console-test)")
    parser.addoption("--shots", type=Path, help="with --browser: write a picture of each page into this folder")
    parser.addoption("--renew", action="store_true", help="write into sessions of commands what they print now")
    parser.addoption("--store", choices=["both", "file", "sqld"], default="both", help="what tests of both run on")
    parser.addoption("--slice", default="1/1", metavar="K/N", help="each Nth function of those chosen, from the Kth on")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark property tests, and what else `make prove` runs on sqld. Then `-m` chooses, and `--slice` takes its part."""
    wanted = config.getoption("store")

    def kept(item: pytest.Item) -> bool:
        store = _store_of(item)
        if wanted == "both":
            return store != "sqld" or not item.get_closest_marker("one_store")
        return store in (wanted, None)

    _keep(config, items, kept)
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("property")
        if wanted == "both" and _store_of(item) == "sqld" and not item.nodeid.startswith(ABOUT_STORES):
            item.add_marker("prove")
    yield
    place, of = map(int, config.getoption("slice").split("/"))
    functions = {name: number for number, name in enumerate(dict.fromkeys(map(_function_of, items)))}
    _keep(config, items, lambda item: functions[_function_of(item)] % of == place - 1)


def _keep(config: pytest.Config, items: list[pytest.Item], kept: Callable[[pytest.Item], bool]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not kept(item)])
    items[:] = filter(kept, items)


def _function_of(item: pytest.Item) -> str:
    """The test without its parameters, which share what their module has prepared."""
    return item.nodeid.partition("[")[0]


def _store_of(item: pytest.Item) -> str | None:
    """The store that a test is bound to, None when it is to none."""
    if item.get_closest_marker("file_only"):
        return "file"
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get("stores")


REAL_DATABASE = users_database(os.environ)  # of whoever runs the tests
HOMES = ("HOME", "XDG_DATA_HOME")


def at_home(folder: Path) -> dict[str, str]:
    """Variables with which a program finds the user's data in a folder."""
    return dict.fromkeys(HOMES, str(folder))


def _touched() -> tuple[int, int] | None:
    """Return the time and size of the developer's own database; None when there is none."""
    if REAL_DATABASE is None or not REAL_DATABASE.exists():
        return None
    found = REAL_DATABASE.stat()
    return found.st_mtime_ns, found.st_size


BEFORE = _touched()


@pytest.fixture(scope="session", autouse=True)
def no_home_of_a_person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Hide the developer's own data from fixtures of the session and the processes that they start.

    Gives names of homes for the tests. `mktemp` would look through the homes of all earlier tests for each number.
    """
    tests = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in at_home(tmp_path_factory.mktemp("session-home")).items():
            patch.setenv(name, value)
        yield (tests / str(number) for number in itertools.count())
    assert _touched() == BEFORE, "a test has changed the database of whoever runs the tests"


@pytest.fixture(autouse=True)
def home(no_home_of_a_person: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for each test and for the processes that it starts."""
    folder = next(no_home_of_a_person)
    folder.mkdir()
    for name, value in at_home(folder).items():
        monkeypatch.setenv(name, value)
    return folder


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("long"):
        settings.load_profile("long")


# What is loaded while tests are collected stays. To look through it for garbage takes 4 s of processor time.
gc.disable()
GARBAGE = 50_000  # objects made between two garbage collections; an application takes 30,000


def pytest_collection_finish() -> None:
    """As the server does: what is loaded by now stays, and looking through it for garbage took a tenth of the suite."""
    gc.freeze()
    gc.set_threshold(GARBAGE)
    gc.enable()


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """Whether there is time for more."""
    return request.config.getoption("long")


@pytest.fixture(scope="session")
def lives(request: pytest.FixtureRequest) -> int:
    """Number of lifecycles of a space to run with `--long`."""
    return request.config.getoption("lives")


@pytest.fixture(scope="session")
def sqld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sqld]:
    """A server for remote databases. Without one the tests fail: nothing is skipped."""
    with Shared.by_tests(Sqld(tmp_path_factory.mktemp("sqld"))) as running:
        yield running


LOST = "shared sqld"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start shared servers again that ended since the last test; sqld ends by itself when nobody asks it."""
    for said in Shared.started_again():
        item.add_report_section("setup", LOST, f"Before this test: {said}\n")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Start shared servers again that ended during a test, and name them in its report: later tests need them."""
    report = yield
    report.sections += [
        (f"Captured {LOST} {call.when}", f"During this test: {said}\n") for said in Shared.started_again()
    ]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that lost a shared server, also those that passed."""
    reports = [one for ones in terminalreporter.stats.values() for one in ones if isinstance(one, pytest.TestReport)]
    lost = {f"{one.nodeid}: {text}" for one in reports for name, text in one.sections if LOST in name}
    for line in sorted(lost):
        terminalreporter.write(line, yellow=True)


@pytest.fixture(scope="session", autouse=True)
def everything(request: pytest.FixtureRequest) -> None:
    """With `--store sqld`, tests that take any file for their store get a database on the server instead."""
    if request.config.getoption("store") == "sqld":
        Everything.sqld = request.getfixturevalue("sqld")


@pytest.fixture(scope="session", params=["file", "sqld"])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """Makes stores, all on a file or all on sqld. What is tested with it holds for both."""
    if request.param == "file":
        return lambda: FileStore(tmp_path_factory.mktemp("store") / "muisti.db")
    running: Sqld = request.getfixturevalue("sqld")
    return lambda: RemoteStore(running)


@pytest.fixture
def store(stores: Stores) -> Store:
    return stores()


@pytest.fixture
def clock() -> Clock:
    return Clock()

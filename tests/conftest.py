"""What all tests share."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from deploy.cluster.sqld import Sqld
from service.server import GARBAGE
from tests.stores import Everything, FileStore, RemoteStore, Stores

# The same examples each time, so that a change is judged by what it changed; a deadline would be a timed assertion.
settings.register_profile("muisti", deadline=None, print_blob=True, derandomize=True, max_examples=50)
# Other examples each time, and more.
settings.register_profile("long", deadline=None, print_blob=True, max_examples=500)
settings.load_profile("muisti")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="more examples, power cuts, kills and faults: an hour or two")
    parser.addoption("--cluster-seconds", type=float, default=6.0, help="how long the tests of a cluster go on")
    parser.addoption("--lives", type=int, default=200, help="with --long: how many lives of a space, of 100 steps each")
    parser.addoption("--mcp-requests", type=int, default=400, help="how many a server gets that must keep none of them")
    parser.addoption("--store", choices=["both", "file", "sqld"], default="both", help="what tests of both run on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs on the other store, and what one store is enough for when there are both."""
    wanted = config.getoption("store")

    def kept(item: pytest.Item) -> bool:
        store = _store_of(item)
        if wanted == "both":
            return store != "sqld" or not item.get_closest_marker("one_store")
        return store in (wanted, None)

    config.hook.pytest_deselected(items=[item for item in items if not kept(item)])
    items[:] = [item for item in items if kept(item)]


def _store_of(item: pytest.Item) -> str | None:
    """The store that a test is bound to, None when it is to none."""
    if item.get_closest_marker("file_only"):
        return "file"
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get("stores")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("long"):
        settings.load_profile("long")


def pytest_collection_finish() -> None:
    """As the server does: what is loaded by now stays, and looking through it for garbage took a tenth of the suite."""
    gc.freeze()
    gc.set_threshold(GARBAGE)


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """Whether there is time for more."""
    return request.config.getoption("long")


@pytest.fixture(scope="session")
def lives(request: pytest.FixtureRequest) -> int:
    """How many lives of a space are lived with `--long`."""
    return request.config.getoption("lives")


@pytest.fixture(scope="session")
def sqld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sqld]:
    """A server for remote databases. Without one the tests fail: nothing is skipped."""
    with Sqld(tmp_path_factory.mktemp("sqld")) as running:
        yield running


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

"""A browser, and servers to look at. All modules here are left out unless `--browser` is given."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.served import ADMIN, Served, filled, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if config.getoption("browser") else True


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    sync_playwright: Any = pytest.importorskip("playwright.sync_api").sync_playwright
    if not Path(CHROMIUM).exists():
        pytest.fail(f"there is no {CHROMIUM}: install Debian's package chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def on_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without keys, on a file."""
    with serving(tmp_path_factory.mktemp("open"), {}) as url:
        yield filled(Served(url))


@pytest.fixture(scope="session")
def with_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with keys."""
    with serving(tmp_path_factory.mktemp("keys"), {"MUISTI_ADMIN_KEY": ADMIN}) as url:
        yield filled(Served(url, ADMIN))

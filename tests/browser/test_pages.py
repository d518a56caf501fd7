"""Every page in a real browser: light and dark, narrow and wide, on a server with keys and on one without."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.pages import OPEN_PAGES, PAGES, Page
from tests.browser.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

WIDTHS = (360, 1440)
TALL = 1600  # pixels of a page that a picture shows at most
Theme = Literal["light", "dark"]
# What axe calls best practice is asked as well as WCAG 2.2 AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


class Looking:
    """A tab that remembers what went wrong in it."""

    def __init__(self, tab: "Tab", served: Served) -> None:
        self.tab, self.served = tab, served
        self.problems: list[str] = []
        tab.on("console", lambda message: self._note(message.type, message.text))
        tab.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        tab.on("requestfailed", lambda request: self._failed(request))
        tab.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(f"{kind}: {text}")

    def _failed(self, request: Any) -> None:
        if "text/event-stream" not in request.headers.get("accept", ""):  # ended when the page was left
            self.problems.append(f"failed: {request.url}")

    def open(self, page: Page) -> None:
        answer = self.tab.goto(self.served.url + page.path.format(**self.served.ids))
        assert answer is not None and answer.status == 200, (page.name, answer and answer.status)
        self.tab.wait_for_selector(page.settle)


def looking(browser: "Browser", served: Served, theme: Theme, width: int) -> Iterator[Looking]:
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900}, timezone_id="UTC")
    tab = context.new_page()
    if served.key is not None:
        tab.goto(f"{served.url}/console/sign-in")
        tab.get_by_role("textbox", name="Key").fill(served.key)
        tab.get_by_role("button", name="Sign in").click()
        tab.wait_for_selector("main h1")
    yield Looking(tab, served)
    context.close()


@pytest.fixture(scope="module", params=[(theme, width) for theme in ("light", "dark") for width in WIDTHS], ids=str)
def look(request: pytest.FixtureRequest, browser: "Browser", on_file: Served) -> Iterator[Looking]:
    yield from looking(browser, on_file, *request.param)


@pytest.fixture(scope="module")
def look_with_key(browser: "Browser", with_keys: Served) -> Iterator[Looking]:
    yield from looking(browser, with_keys, "light", 1440)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_is_whole_and_open_to_everybody(look: Looking, page: Page, request: pytest.FixtureRequest) -> None:
    look.problems.clear()
    look.open(page)
    assert page.shows in look.tab.locator("body").inner_text()
    _picture(look.tab, page.name, request.config.getoption("shots"))
    assert look.tab.evaluate("document.documentElement.scrollWidth") <= look.tab.evaluate("innerWidth")
    found = Axe().run(look.tab, options=RULES)
    assert found.violations_count == 0, found.generate_report()
    assert look.problems == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_is_there_for_a_session(look_with_key: Looking, page: Page) -> None:
    look_with_key.problems.clear()
    look_with_key.open(page)
    assert page.shows in look_with_key.tab.locator("body").inner_text()
    assert look_with_key.problems == []


@pytest.mark.parametrize("page", OPEN_PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_without_a_session(
    browser: "Browser", with_keys: Served, page: Page, theme: Theme, width: int, request: pytest.FixtureRequest
) -> None:
    for look in looking(browser, Served(with_keys.url), theme, width):
        look.open(page)
        _picture(look.tab, page.name, request.config.getoption("shots"))
        found = Axe().run(look.tab, options=RULES)
        assert found.violations_count == 0, found.generate_report()
        assert look.problems == []


def _picture(tab: "Tab", name: str, folder: Path | None) -> None:
    """Photograph a page, light only: the dark one is looked at, not kept."""
    if folder is None:
        return
    dark = tab.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    width = tab.evaluate("innerWidth")
    into = folder / "dark" if dark else folder
    into.mkdir(parents=True, exist_ok=True)
    height = min(tab.evaluate("document.documentElement.scrollHeight"), TALL)
    whole = {"x": 0, "y": 0, "width": width, "height": height}
    tab.screenshot(path=into / f"{name}-{width}.png", full_page=True, clip=whole, animations="disabled")

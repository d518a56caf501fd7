"""Hostile texts in every field that the API stores: no page runs them, and no page asks another server for anything."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muisti.client import MuistiError
from tests.browser.pages import PAGES, Page
from tests.browser.served import SPACE, Served, filled, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

RUN = "window.owned=1"
TEXTS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"\"'><svg onload={RUN}>",
    f"</textarea></title><script>{RUN}</script>",
    f"[click](javascript:{RUN}) ![pixel](https://evil.example/x.png) <https://evil.example>",
    f"{{{{ 7*7 }}}} {{% raw %}} </script><script>{RUN}</script>",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose space has hostile texts wherever the API takes a text."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    with serving(folder, {"MUISTI_READ_LOG": "questions"}) as url:
        served = filled(Served(url))
        with served.client() as api:
            for number, text in enumerate(TEXTS):
                api.add_memory(SPACE, {
                    **{"content": f"{text} of {number}", "author": text, "reason": text, "source": text},
                    **{"tags": [text], "category": text[:60], "key": f"{text[:60]}{number}"}, "metadata": {text: text},
                }, on_conflict="keep")  # fmt: skip
                api.search(SPACE, {"query": f"{text} zebra", "receipt": True})
                api.add_exchanges(SPACE, f"talk {number}", {"items": [{"user": text, "system": text, "author": text}]})
                api.add_probe(SPACE, {"query": text, "memory_id": served.ids["memory"]})
                try:
                    name = f"notes/{text.replace('/', '')[:60]}.md"
                    api.put_document(SPACE, name, {"content": f"# {text}\n\n{text}", "media_type": "text/markdown"})
                except MuistiError as refused:
                    assert refused.status in (400, 422)
            api.update_memory(SPACE, served.ids["memory"], {"content": " ".join(TEXTS), "author": TEXTS[1]})
        yield served


@pytest.fixture(scope="module")
def tab(browser: "Browser") -> "Iterator[Tab]":
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_runs_what_a_text_says(tab: "Tab", hostile: Served, page: Page) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    answer = tab.goto(hostile.url + page.path.format(**hostile.ids))
    assert answer is not None and answer.status == 200
    tab.wait_for_timeout(150)
    assert tab.evaluate("window.owned") is None
    assert [url for url in asked if not url.startswith((hostile.url, "data:"))] == []
    assert tab.locator("main script, main iframe, main object, main [onerror], main [onload]").count() == 0
    assert tab.locator("a[href^='javascript:']").count() == 0

"""Journeys in a browser: decide a contradiction with the keyboard and undo it; what was known before."""

from typing import TYPE_CHECKING

from tests.browser.pages import S
from tests.browser.served import SPACE, Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_decide_a_contradiction_and_undo_it(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/review")
    with on_file.client() as api:
        before = [one["id"] for one in api.list_conflicts(SPACE)["items"]]
        tab.keyboard.press("j")
        with tab.expect_navigation():
            tab.keyboard.press("r")
        tab.wait_for_selector(".said")
        assert len(api.list_conflicts(SPACE)["items"]) == len(before) - 1
        with tab.expect_navigation():
            tab.keyboard.press("u")
        tab.wait_for_selector(".dispute")
        assert [one["id"] for one in api.list_conflicts(SPACE)["items"]] == before
    tab.keyboard.press("?")
    assert "Keep the existing one" in tab.locator("#keys-list").inner_text()
    tab.close()


def test_what_did_it_know_before(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/memories/{on_file.ids['memory']}")
    assert "Wednesdays" in tab.locator("article.prose").inner_text()
    tab.locator(".clock > summary").click()
    tab.get_by_role("slider").wait_for()
    tab.locator(".clock").get_by_role("link", name="before-the-storm").click()
    tab.wait_for_selector(".then")
    assert "Tuesdays" in tab.locator("article.prose").inner_text()
    tab.get_by_role("link", name="Back to now").first.click()
    tab.wait_for_url(lambda url: "as_of" not in url)
    assert "Wednesdays" in tab.locator("article.prose").inner_text()
    tab.close()

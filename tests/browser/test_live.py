"""Live in a real browser: EventSource works with the cookie of a session, and texts of memories are texts."""

from typing import TYPE_CHECKING

from tests.browser.served import SPACE, Served
from tests.browser.test_pages import looking

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = "<img src=x onerror=document.title='owned'> Nauvo has a new pier"


def test_a_change_appears_for_a_session(browser: "Browser", with_keys: Served) -> None:
    for look in looking(browser, with_keys, "light", 1440):
        look.tab.goto(f"{with_keys.url}/console/spaces/{SPACE}/live")
        look.tab.get_by_text("Connected.").first.wait_for()
        with with_keys.client() as api:
            made = api.add_memory(SPACE, {"content": HOSTILE})
        link = look.tab.locator(f"a[href$='{made['id']}']")
        link.wait_for()
        assert link.inner_text() == HOSTILE
        assert look.tab.title() != "owned"
        assert look.problems == []


def test_a_pause_keeps_what_arrives(browser: "Browser", on_file: Served) -> None:
    for look in looking(browser, on_file, "dark", 1440):
        look.tab.goto(f"{on_file.url}/console/spaces/{SPACE}/live")
        look.tab.get_by_text("Connected.").first.wait_for()
        look.tab.keyboard.press("p")
        with on_file.client() as api:
            made = [
                api.add_memory(SPACE, {"content": f"The pier number {n} is new"}, on_conflict="keep") for n in (1, 2)
            ]
        look.tab.wait_for_timeout(500)
        assert look.tab.locator(f"a[href$='{made[1]['id']}']").count() == 0
        look.tab.keyboard.press("p")
        look.tab.locator(f"a[href$='{made[1]['id']}']").wait_for()
        assert look.tab.locator(f"a[href$='{made[0]['id']}']").count() == 1


def test_an_ingest_is_one_row(browser: "Browser", on_file: Served) -> None:
    for look in looking(browser, on_file, "light", 390):
        look.tab.goto(f"{on_file.url}/console/spaces/{SPACE}/live")
        look.tab.get_by_text("Connected.").first.wait_for()
        before = look.tab.locator("tbody[data-stream-name=changes] tr").count()
        with on_file.client() as api:
            parts = "\n\n".join(f"# Part {number}\n\n{'word ' * 300}" for number in range(5))
            api.put_document(SPACE, "notes/piers.md", {"content": parts})
        look.tab.locator("tbody th", has_text="notes/piers.md and ").wait_for()
        assert look.tab.locator("tbody[data-stream-name=changes] tr").count() == before + 1

"""Forms in a browser: edits happen in the page, and nothing that was typed is lost when the server refuses it."""

from typing import TYPE_CHECKING

from tests.browser.pages import S
from tests.browser.served import SPACE, Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_an_edit_in_place_shows_who_came_first_and_where_the_texts_differ(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    with on_file.client() as api:
        made = api.add_memory(SPACE, {"content": "The lock of the shed is green."}, on_conflict="keep")
        tab.goto(f"{on_file.url}{S}/memories/{made['id']}")
        tab.locator("[data-key=e][data-htmx-powered]").wait_for()  # before that, the link leaves the page
        tab.keyboard.press("e")
        text = tab.get_by_label("Content")
        text.fill("The lock of the shed is blue.")
        api.update_memory(SPACE, made["id"], {"content": "The lock of the shed is red."})
        text.press("Control+Enter")
        tab.get_by_text("Somebody else has changed it in the meantime").wait_for()
        assert tab.locator(".diff del").inner_text() == "red" and tab.locator(".diff ins").inner_text() == "blue"
        assert tab.url.endswith(made["id"]) and tab.get_by_label("Content").input_value().endswith("blue.")
        tab.get_by_role("button", name="Overwrite with mine").click()
        tab.get_by_text("The memory was changed.").wait_for()
        assert api.get_memory(SPACE, made["id"])["content"] == "The lock of the shed is blue."
    tab.close()


def test_a_refusal_names_the_field_and_keeps_the_rest(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/memories/new")
    tab.get_by_label("Content").fill("The gate opens at six.")
    tab.get_by_text("More fields").click()
    tab.get_by_label("Valid from").fill("soon")
    tab.get_by_role("button", name="Remember").click()
    tab.locator("[role=alert] li", has_text="Valid from").wait_for()
    assert tab.evaluate("document.activeElement.name") == "valid_from"
    assert tab.get_by_label("Content").input_value() == "The gate opens at six."
    tab.goto(f"{on_file.url}{S}/time")
    tab.get_by_label("Name of a new checkpoint").fill("before-the-storm")
    tab.get_by_label("Purpose").fill("A second one")
    tab.get_by_role("button", name="Create a checkpoint").click()
    tab.locator("form .refusal").wait_for()
    assert tab.get_by_label("Purpose").input_value() == "A second one" and tab.url.endswith("/time")
    tab.close()


def test_known_names_are_offered_and_complete_the_last_of_a_list(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/memories/new")
    tags = tab.get_by_label("Tags")
    tags.focus()
    tab.locator("#names-tags option").first.wait_for(state="attached")
    assert "Ann" in tab.locator("#names-author option").evaluate_all("all => all.map(one => one.value)")
    tags.press_sequentially("mine, ")
    offered = tab.locator("#names-tags option").evaluate_all("all => all.map(one => one.value)")
    assert offered and all(one.startswith("mine, ") for one in offered)
    tab.close()

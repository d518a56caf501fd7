"""Documents in a browser: a folder that is dropped on the page is stored with its paths, and one undo takes it back."""

from typing import TYPE_CHECKING

from tests.browser.pages import S
from tests.browser.served import SPACE, Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DROP = """([one, two]) => {
  const data = new DataTransfer();
  for (const [name, text] of [one, two]) data.items.add(new File([text], name));
  document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
}"""


def test_dropped_files_are_stored_at_their_paths(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/documents?folder=piers/")
    tab.evaluate(DROP, [["north.md", "# North\n\nThe pier is long."], ["south.md", "# South\n\nThe pier is new."]])
    tab.get_by_text("The files were stored").wait_for()
    with on_file.client() as api:
        paths = [one["path"] for one in api.list_documents(SPACE, folder="piers/")["items"]]
        assert paths == ["piers/north.md", "piers/south.md"]
        tab.get_by_role("button", name="Undo").click()
        tab.get_by_text("Undone").wait_for()
        assert api.list_documents(SPACE, folder="piers/")["items"] == []
    tab.close()


def test_the_tree_folds_by_keyboard(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/documents")
    leaf = tab.get_by_role("link", name="storms.md")
    assert leaf.is_visible()
    tab.locator("summary", has_text="handbook/").press("Enter")
    assert not leaf.is_visible()
    tab.close()

"""The line of time in a browser: it is moved by keys and pointer, and shows the space as it was."""

import re
from typing import TYPE_CHECKING

from tests.browser.pages import S
from tests.browser.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_line_is_moved_by_keys_and_dragged(browser: "Browser", on_file: Served) -> None:
    tab = browser.new_page()
    tab.goto(f"{on_file.url}{S}/time")
    line = tab.get_by_role("slider")
    line.press("PageDown")
    tab.get_by_text("Newest memories at that time").wait_for()
    assert "second=" in tab.url and tab.get_by_role("button", name="Open the space as it was").is_visible()
    line.press("End")
    tab.get_by_text("Drag the slider").wait_for()
    box = line.bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + box["width"] - 10, box["y"] + box["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    tab.mouse.up()
    tab.get_by_text(re.compile("Since then|forgotten")).wait_for()
    tab.close()

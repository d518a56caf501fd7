"""`python -m loadtests.console_tasks`: five tasks in the console, each as somebody does it who uses only a browser.

Each task begins on the first page and ends when the server has what was wanted. A step is a click, or a text that is
typed. A mistake is a message of refusal on the way.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from muisti.client import Muisti
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.served import SPACE, Served, filled, serving

ROUNDS = 3
TAGGED = 40
PATIENCE = 120_000  # milliseconds that a step may take
WRONG, RIGHT = "The kiosk in Utö opens at nine.", "The kiosk in Utö opens at ten."
PERSON = "Marek"


@dataclass(slots=True)
class Hand:
    """A person's hand on the browser, whose steps are counted."""

    tab: Page
    clicks: int = 0
    typed: int = 0
    mistakes: int = 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1
        self.tab.wait_for_load_state()
        self.mistakes += self.tab.locator("[role=alert]:visible").count()

    def write(self, where: Locator, text: str) -> None:
        where.fill(text)
        self.typed += 1

    def link(self, name: str, *, exact: bool = True) -> Locator:
        return self.tab.get_by_role("link", name=name, exact=exact).first

    def button(self, name: str) -> Locator:
        return self.tab.get_by_role("button", name=name, exact=True).first

    def section(self, space: str, name: str) -> None:
        """Go from the first page to a section of a space."""
        self.click(self.link(space))
        self.click(self.tab.get_by_role("navigation", name="Sections").get_by_role("link", name=name, exact=True))


Task = Callable[[Hand, Muisti, int], bool]  # returns whether the server has what was wanted


def mend_a_wrong_fact(hand: Hand, api: Muisti, number: int) -> bool:
    """Find a fact by its words and correct it."""
    made = api.add_memory(SPACE, {"content": f"{WRONG[:-1]} on pier {number}."}, on_conflict="keep")
    hand.section(SPACE, "Memories")
    hand.write(hand.tab.get_by_role("searchbox", name="Find"), f"kiosk Utö pier {number}")
    hand.click(hand.tab.locator(".rows tbody tr").first.locator("th a", has_text=f"pier {number}"))
    hand.click(hand.tab.get_by_role("button", name="Edit", exact=True).or_(hand.link("Edit")).first)
    hand.write(hand.tab.locator("textarea[name=content]").first, RIGHT)
    hand.click(hand.tab.locator("form:has(textarea[name=content]) button").first)
    hand.tab.locator(".said").wait_for()
    return api.get_memory(SPACE, made["id"])["content"].strip() == RIGHT


def see_why_an_answer_was_missed(hand: Hand, api: Muisti, number: int) -> bool:
    """Ask, and name the memory that was expected by its words."""
    del api, number
    hand.section(SPACE, "Ask")
    hand.write(hand.tab.get_by_role("searchbox", name="Question"), "when do we deploy")
    hand.click(hand.tab.locator("summary", has_text="Expected another memory?"))
    hand.write(hand.tab.locator("input[name=expect]"), "the kiosk in Nagu takes no cash")
    hand.tab.locator(".expected").wait_for()
    return "Why not" in hand.tab.locator(".expected").inner_text()


def undo_an_import(hand: Hand, api: Muisti, number: int) -> bool:
    """Take back the last import of a space."""
    space = f"import{number}"
    api.create_space({"name": space})
    lines = b"".join(api.export_space(SPACE, vectors=False))
    api.import_memories(space, lines)
    hand.tab.reload()
    hand.section(space, "Imports and exports")
    hand.click(hand.link("Undo…"))
    hand.click(hand.button("Undo the import"))
    hand.tab.locator(".said").wait_for()
    return api.list_memories(space)["items"] == []


def see_who_said_what_about_a_person(hand: Hand, api: Muisti, number: int) -> bool:
    """Read in one list what memories say of a person, and who said it."""
    del api, number
    hand.section(SPACE, "Memories")
    hand.write(hand.tab.get_by_role("searchbox", name="Find"), PERSON)
    row = hand.tab.locator(".rows tbody tr", has_text=PERSON).first
    hand.tab.wait_for_url(lambda url: f"q={PERSON}" in url)
    return row.locator("td").nth(2).inner_text() != ""


def tag_forty_memories(hand: Hand, api: Muisti, number: int) -> bool:
    """Give all memories of a page a tag."""
    hand.section(SPACE, "Memories")
    hand.click(hand.tab.get_by_role("checkbox", name="Select all on this page"))
    hand.write(hand.tab.get_by_placeholder("Category, tag or importance"), f"seen{number}")
    hand.click(hand.button("Add tag"))
    hand.tab.locator(".said").wait_for()
    return len(api.list_memories(SPACE, filters={"tags": f"seen{number}"}, limit=100)["items"]) >= TAGGED


TASKS: Mapping[str, Task] = {
    "find and mend a wrong fact": mend_a_wrong_fact,
    "see why an answer was missed": see_why_an_answer_was_missed,
    "undo yesterday's import": undo_an_import,
    "who said what about a person": see_who_said_what_about_a_person,
    "tag forty memories": tag_forty_memories,
}


def main() -> int:
    """Do each task several times, and print what it took."""
    parser = argparse.ArgumentParser(description="Do five tasks in the console with a real browser.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    table = Table("task", "done", "clicks", "texts typed", "seconds", "mistakes", title=f"{rounds} rounds")
    failed = 0
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), {}) as url, sync_playwright() as playwright:
        served = filled(Served(url))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with served.client() as api:
            for name, task in TASKS.items():
                done = 0
                hands: list[tuple[Hand, float]] = []
                for number in range(rounds):
                    hand = Hand(browser.new_page(viewport={"width": 1440, "height": 900}))
                    hand.tab.set_default_timeout(PATIENCE)
                    hand.tab.goto(url)
                    began = time.perf_counter()
                    done += task(hand, api, number)
                    hands.append((hand, time.perf_counter() - began))
                    hand.tab.close()
                failed += rounds - done
                table.add_row(name, f"{done} of {rounds}", *_numbers(hands))
        browser.close()
    Console(width=110).print(table)
    return 1 if failed else 0


def _numbers(hands: list[tuple[Hand, float]]) -> list[str]:
    seconds = statistics.median(took for _, took in hands)
    counts = [max(one.clicks for one, _ in hands), max(one.typed for one, _ in hands)]
    return [*map(str, counts), f"{seconds:.1f}", str(sum(one.mistakes for one, _ in hands))]


if __name__ == "__main__":
    raise SystemExit(main())

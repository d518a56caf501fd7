"""`python -m loadtests.console`: bytes, requests, first content and interactions of the pages of the console.

The pages show a space of 100,000 memories in a real Chromium, which has cached nothing. Pages of one object, such as a
document, show a small space beside it. `--database` names a database that `loadtests.fill` has made. An interaction is
measured until the next paint, and until its answer is in the page. A page may send its frame first and the rest
later; its bytes are those that came within a minute. A folder of another dashboard,
such as the build of qdrant-web-ui, is measured in the same run when it is given: `NAME=FOLDER`. The times of both are
those of the page alone, because a folder has no database behind it. `NAME=URL` is a page that a server has.
"""

import argparse
import functools
import gzip
import statistics
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import TimeoutError as Late
from rich.console import Console
from rich.table import Table

from loadtests.fill import SPACE as LARGE
from loadtests.fill import fill
from loadtests.texts import invented
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.pages import PAGES, Page
from tests.browser.served import SPACE, Served, filled, serving

MEMORIES = 100_000
ROUNDS = 7
WAITS = 30  # of 300 ms for an answer
LONGEST = 60_000.0  # milliseconds that a page may take
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


@dataclass(frozen=True, slots=True)
class Measured:
    """A page as a browser loaded it without a cache. Bytes are as sent, with their compression."""

    name: str
    requests: int
    bytes: int
    first_content: float  # milliseconds, the median of all rounds
    longest: float
    whole: float  # until all of the page is there


@dataclass(frozen=True, slots=True)
class Interaction:
    """A key that is typed, or a click, at a place in a page. `asks`: the server answers it."""

    name: str
    path: str
    place: str
    typed: str = ""
    asks: bool = False


INTERACTIONS = (
    Interaction("type a letter in the list", f"/console/spaces/{LARGE}/memories", "input[name=q]", "a", asks=True),
    Interaction("type a letter in Ask", f"/console/spaces/{LARGE}/ask", "input[name=q]", "a", asks=True),
    Interaction(
        "type a letter in Playground", f"/console/spaces/{LARGE}/ask/playground", "input[name=q]", "a", asks=True
    ),
    Interaction("select all of a page", f"/console/spaces/{LARGE}/memories", "[data-all]"),
    Interaction("open the palette", f"/console/spaces/{LARGE}", "[data-open-palette]"),
)
WATCH = """
window.paints = [0]; window.answers = [];
new PerformanceObserver((list) => list.getEntries().forEach((one) => paints.push(one.duration)))
  .observe({ type: "event", durationThreshold: 16, buffered: true });
let asked = 0;
document.addEventListener("htmx:before:request", () => { asked = performance.now(); });
document.addEventListener("htmx:after:swap", () => answers.push(performance.now() - asked));
"""


CATEGORIES, AUTHORS, TAGS = 40, 500, 300


def described(row: int) -> Mapping[str, Any]:
    """The fields that pages list, count and filter by, of a memory by its number: a few common values, many rare."""
    spread = row * 2654435761 % (1 << 32) / (1 << 32)
    names = {"category": CATEGORIES, "author": AUTHORS, "tags": TAGS}
    found = {
        name: f"{name}-{int(count ** ((spread * 7919 * place) % 1)):03}"
        for place, (name, count) in enumerate(names.items(), 1)
    }
    return {**found, "tags": (found["tags"], "imported") if row % 3 else ()}


def main() -> int:
    asked = _options().parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = asked.database or Path(folder, "large.db")
        if not database.exists():
            fill(database, invented(asked.memories)[0], fields=described)
        with serving(Path(folder), {"MUISTI_DATABASE_URL": f"file:{database}"}) as url:
            served = Served(url)
            with served.client() as api:
                if any(one["name"] == SPACE for one in api.list_spaces()["items"]):
                    api.delete_space(SPACE, confirm=SPACE)
                    api.delete_space("copy", confirm="copy")
                filled(served)
                api.search(LARGE, {"query": "warm"})
                memories = api.get_stats(LARGE)["memories"]
            _measure_all(playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS), served, asked, memories)
    return 0


def _measure_all(browser: Browser, served: Served, asked: argparse.Namespace, memories: int) -> None:
    pages = [page for page in PAGES if not asked.only or page.name in asked.only]
    rows = [measure(browser, page.name, served.url + _path(page, served), asked.rounds) for page in pages]
    for other in asked.beside:
        name, _, place = other.partition("=")
        with nullcontext(place) if "://" in place else files(Path(place)) as there:
            rows.append(measure(browser, name, there, asked.rounds))
    _show(rows, memories)
    table = Table("interaction", "next paint, ms", "answer in the page, ms", title="medians")
    for one in INTERACTIONS:
        paint, answer = interact(browser, one, served.url, asked.rounds)
        table.add_row(one.name, f"{paint:.0f}", "" if answer is None else f"{answer:.0f}")
    Console(width=110).print(table)
    browser.close()


def _path(page: Page, served: Served) -> str:
    """Return the path of a page: of the large space, unless it names an object."""
    return page.path.format(**served.ids) if "{" in page.path else page.path.replace(f"/{SPACE}", f"/{LARGE}")


def interact(browser: Browser, one: Interaction, url: str, rounds: int) -> tuple[float, float | None]:
    """Return the median milliseconds until the next paint, and until the answer of the server is in the page."""
    paints: list[float] = []
    answers: list[float] = []
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.add_init_script(WATCH)
    for _ in range(rounds):
        tab.goto(url + one.path, wait_until="load")
        place = tab.locator(one.place).first
        place.press(one.typed) if one.typed else place.click()
        for _ in range(WAITS if one.asks else 1):  # the policy of the pages forbids to wait by a function
            tab.wait_for_timeout(300)
            if tab.evaluate("answers.length"):
                break
        paints.append(float(tab.evaluate("Math.max(...paints)")))
        answers += [float(each) for each in tab.evaluate("answers.slice(0, 1)")]
    tab.close()
    return statistics.median(paints), statistics.median(answers) if answers else None


def measure(browser: Browser, name: str, url: str, rounds: int) -> Measured:
    """Load a page several times, each time in a new profile."""
    paints: list[float] = []
    whole: list[float] = []
    requests = sent = 0
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        tab = context.new_page()
        sizes: list[int] = []
        session = context.new_cdp_session(tab)
        session.send("Network.enable")
        session.on("Network.loadingFinished", lambda event, into=sizes: into.append(int(event["encodedDataLength"])))
        began = perf_counter()
        tab.goto(url, wait_until="commit", timeout=LONGEST)
        with suppress(Late):
            tab.wait_for_load_state("load", timeout=LONGEST)
        whole.append(1000 * (perf_counter() - began))
        tab.wait_for_timeout(300)
        paint: Any = tab.evaluate(PAINT)
        paints.append(float("nan") if paint is None else float(paint))
        requests, sent = len(sizes), sum(sizes)
        context.close()
    return Measured(name, requests, sent, statistics.median(paints), max(paints), statistics.median(whole))


@contextmanager
def files(folder: Path) -> Iterator[str]:
    """Serve a folder as it is, gzipped as servers do, and yield its URL."""
    handler = functools.partial(_Files, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Files(SimpleHTTPRequestHandler):
    """Sends a file with gzip where that makes it smaller, and no log."""

    def log_message(self, format: str, *args: Any) -> None:
        del format, args

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        content = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _show(rows: Sequence[Measured], memories: int) -> None:
    titles = ("page", "requests", "kB sent", "first content, ms", "longest", "whole page, ms")
    table = Table(*titles, title=f"{memories:,} memories")
    for one in rows:
        times = [f"{each:.0f}" for each in (one.first_content, one.longest, one.whole)]
        table.add_row(one.name, str(one.requests), f"{one.bytes / 1000:.1f}", *times)
    Console(width=110).print(table)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the pages of the console in a real browser.")
    parser.add_argument("beside", nargs="*", metavar="NAME=PLACE", help="folder or URL of another dashboard")
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--database", type=Path, help="made by loadtests.fill; created when it is missing")
    parser.add_argument("--only", nargs="*", metavar="PAGE", help="names of tests/browser/pages.py; all by default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

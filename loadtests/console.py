"""`python -m loadtests.console`: bytes, requests and time to the first content of each page of the console.

The pages show a space of 100,000 memories in a real Chromium, which has cached nothing. A folder of another dashboard,
such as the build of qdrant-web-ui, is measured in the same run when it is given: `NAME=FOLDER`. The times of both are
those of the page alone, because a folder has no database behind it.
"""

import argparse
import functools
import gzip
import statistics
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.table import Table

from loadtests.texts import invented
from muisti.client import Muisti
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.pages import PAGES
from tests.browser.served import SPACE, Served, filled, serving

MEMORIES = 100_000
BATCH = 1_000
ROUNDS = 7
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


@dataclass(frozen=True, slots=True)
class Measured:
    """A page as a browser loaded it without a cache. Bytes are as sent, with their compression."""

    name: str
    requests: int
    bytes: int
    first_content: float  # milliseconds, the median of all rounds
    longest: float


def main() -> int:
    asked = _options().parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), {}) as url, sync_playwright() as playwright:
        served = filled(Served(url))
        _fill(served, asked.memories)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        rows = [measure(browser, page.name, url + page.path.format(**served.ids), asked.rounds) for page in PAGES]
        for other in asked.beside:
            name, _, place = other.partition("=")
            with files(Path(place)) as there:
                rows.append(measure(browser, name, there, asked.rounds))
        browser.close()
    _show(rows, asked.memories)
    return 0


def measure(browser: Browser, name: str, url: str, rounds: int) -> Measured:
    """Load a page several times, each time in a new profile."""
    paints: list[float] = []
    requests = sent = 0
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        tab = context.new_page()
        sizes: list[int] = []
        session = context.new_cdp_session(tab)
        session.send("Network.enable")
        session.on("Network.loadingFinished", lambda event, into=sizes: into.append(int(event["encodedDataLength"])))
        tab.goto(url, wait_until="load")
        tab.wait_for_timeout(300)
        paint: Any = tab.evaluate(PAINT)
        paints.append(float("nan") if paint is None else float(paint))
        requests, sent = len(sizes), sum(sizes)
        context.close()
    return Measured(name, requests, sent, statistics.median(paints), max(paints))


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


def _fill(served: Served, memories: int) -> None:
    texts, _ = invented(memories)
    with Muisti(served.url, timeout=600) as api:
        for at in range(0, len(texts), BATCH):
            batch = [{"content": text} for text in texts[at : at + BATCH]]
            api.add_memories(SPACE, {"memories": batch, "on_conflict": "keep"})
            sys.stderr.write(f"\r{min(at + BATCH, memories):,} of {memories:,} memories")
        api.search(SPACE, {"query": "warm"})
    sys.stderr.write("\n")


def _show(rows: Sequence[Measured], memories: int) -> None:
    table = Table("page", "requests", "kB sent", "first content, ms", "longest", title=f"{memories:,} memories")
    for one in rows:
        cells = (str(one.requests), f"{one.bytes / 1000:.1f}", f"{one.first_content:.0f}", f"{one.longest:.0f}")
        table.add_row(one.name, *cells)
    Console(width=110).print(table)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the pages of the console in a real browser.")
    parser.add_argument("beside", nargs="*", metavar="NAME=FOLDER", help="built files of another dashboard")
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

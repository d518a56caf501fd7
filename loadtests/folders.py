"""A repository as documents: the first index, a look after one change, and the time from saving to finding.

    python -m loadtests.folders [FOLDER] [--files 5000] [--saves 10]

Without a folder the files are made: modules of Python and texts, with as many files that git ignores. The commands of
`muisti ingest` run in this process on a database file. Times are wall-clock and processor seconds.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Event, Timer

from rich.console import Console
from rich.table import Table

from loadtests.chunking import prose
from muisti.client import calls
from muisti.service.cli import Globals  # with the application
from muisti.service.documents import folder_sync
from muisti.service.documents.folder_sync import Folder, Look
from muisti.service.documents.ingest_work import Watching
from muisti.service.folders import git
from muisti.service.folders.choosing import files
from muisti.service.terminal.opening import Session
from muisti.service.terminal.session import session

console = Console(width=120)
IGNORED = "node_modules/\n*.log\n"


def make(top: Path, count: int) -> None:
    """Write a repository of `count` files, a third of them text, and as many ignored ones."""
    rng = random.Random(4)
    paragraphs = list(islice(prose(4_000_000), 3_000))
    for number in range(count):
        folder = top / f"part{number % 40}" / f"inner{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        if number % 3 == 0:
            (folder / f"text{number}.md").write_text(
                "# Title\n\n" + "".join(rng.sample(paragraphs, rng.randint(2, 12)))
            )
        else:
            (folder / f"module{number}.py").write_text(_module(rng, number))
        other = top / "node_modules" / f"package{number % 300}"
        other.mkdir(parents=True, exist_ok=True)
        (other / f"{number}.js").write_text("x")
    (top / ".gitignore").write_text(IGNORED)
    subprocess.run(["git", "init", "-q", str(top)], check=True)


def _module(rng: random.Random, number: int) -> str:
    lines = [f'"""Module {number}."""\n\nimport math\n\n']
    for one in range(rng.randint(3, 14)):
        lines.append(f"\ndef function_{number}_{one}(value, other):\n    total = math.sqrt(value) + other * {one}\n")
        lines += [
            f"    total += function_{number}_{max(0, one - 1)}(total, {step})\n" for step in range(rng.randint(2, 9))
        ]
        lines.append("    return total\n\n")
    return "".join(lines)


@contextmanager
def timed(rows: list[tuple[str, ...]], name: str, count: Callable[[], int]) -> Iterator[None]:
    """Add a row with the times of what is done inside, and the files per second."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    done = count()
    rows.append((name, f"{done:,}", f"{wall:.2f}", f"{processor:.2f}", f"{done / wall:,.0f}" if done else ""))


def measure(top: Path, saves: int) -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    rows: list[tuple[str, ...]] = []
    database = top.parent / "bench.db"
    how = folder_sync.how_of(
        name=None, category=None, tags=(), strategy="auto", chunk_size=512, overlap=50, largest=100, sync=True,
        watch=False, dry_run=False, preview=False, main_content=False, languages=(),
        no_tests=False,
    )  # fmt: skip
    options = Globals(database=str(database), space="bench")
    folder, found = Folder.of(top, how), Look()
    with session(options, create=True) as opened:
        with timed(rows, "first index", lambda: len(found.wanted)):
            found = folder.look(opened, lambda done, total: None)
        if found.failed:
            console.print(f"{len(found.failed):,} files failed, such as {found.failed[0]}")
        listed = {path.rstrip("/") for path in git.files(top) or ()}
        seen = files(top)
        same = listed == {*seen.found, *(one.path for one in seen.skipped)}
        console.print(f"the same files as git ls-files -co --exclude-standard: {same}")
        with timed(rows, "second look, no change", lambda: len(found.wanted)):
            found = folder.look(opened, lambda done, total: None)
        _save(top, seen.found, 1)
        with timed(rows, "look after one change", lambda: len(found.wanted)):
            found = folder.look(opened, lambda done, total: None)
        rows += _watched(options, opened, folder, seen.found, saves)
    return rows


def _save(top: Path, paths: Collection[str], seed: int) -> tuple[str, float]:
    """Change a file, as editors do in one step; return a word that is new in it, and when it was saved."""
    rng = random.Random(seed)
    place = top / rng.choice([path for path in sorted(paths) if path.endswith((".py", ".md"))])
    word = f"saved{seed}x{rng.randrange(10**9)}"
    beside = place.with_name(f".{place.name}.tmp")
    beside.write_text(f"{place.read_text()}\n# {word}\n")
    began = time.perf_counter()
    os.replace(beside, place)
    return word, began


def _watched(
    options: Globals, opened: Session, folder: Folder, paths: Collection[str], saves: int
) -> Iterator[tuple[str, ...]]:
    """Yield a row with the median and the most of the seconds from saving to finding."""
    stop, saved = Event(), list[tuple[str, float]]()
    took: list[float] = []
    for number, _ in enumerate(Watching(options, opened, folder).looks(stop)):
        if number:
            word, began = saved[-1]
            request = calls.search(opened.space, {"query": word, "limit": 1})
            hits = opened.client.send(request).data["hits"]
            took.append(time.perf_counter() - began)
            if not hits or word not in hits[0]["memory"]["content"]:
                console.print(f"{word} was not found")
        if number == saves:
            stop.set()
        else:
            Timer(0.3, lambda seed=number + 2: saved.append(_save(folder.place, paths, seed))).start()
    if took:
        took.sort()
        yield ("saved to found, median", "1", f"{took[len(took) // 2]:.3f}", "", "")
        yield ("saved to found, most", "1", f"{took[-1]:.3f}", "", "")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.folders", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="a repository, which is copied first; a made one without")
    parser.add_argument("--files", type=int, default=5_000, help="files of the made repository")
    parser.add_argument("--saves", type=int, default=10, help="files that are changed under watch")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch).resolve() / "repository"
        if asked.folder is None:
            top.mkdir()
            make(top, asked.files)
        else:
            shutil.copytree(asked.folder, top, symlinks=True)
        table = Table(title="a folder as documents")
        for head in ("step", "files", "seconds", "processor", "files/s"):
            table.add_column(head, justify="left" if head == "step" else "right")
        for row in measure(top, asked.saves):
            table.add_row(*row)
        console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())

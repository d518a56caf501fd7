"""Ingest of 200 MB of text and of 5,000 source files, by this tree and by another checkout of Muisti in turn.

    python -m loadtests.ingests OTHER [--megabytes 200] [--files 5000] [--rounds 1]

Texts are made; source files are those of Python's library and of the installed packages. Each round has a process of
its own and an empty database. Seconds are of the processor, with those of processes that read files: a busy machine
changes them less than the time that passes.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import click
from rich.console import Console

from loadtests.checkout import THIS, Checkout
from loadtests.chunking import prose
from loadtests.tables import Table, rich_table

MEGA = 1_000_000
TEXTS = 20  # files that the text is in


@click.command(help=__doc__)
@click.argument("other", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--megabytes", default=200, help="Of text.")
@click.option("--files", default=5_000, help="Of source code.")
@click.option("--rounds", default=1)
def main(other: Path, megabytes: int, files: int, rounds: int) -> None:
    """Print a table of seconds and ratios."""
    trees = {"this": THIS, "other": Checkout(other)}
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as place:
        folders = {"text": Path(place) / "text", "source code": Path(place) / "source"}
        for folder in folders.values():
            folder.mkdir()
        for number in range(TEXTS):
            text = "".join(prose(megabytes * MEGA // TEXTS, seed=number))
            (folders["text"] / f"{number}.txt").write_text(text, "utf-8")
        for number, path in enumerate(islice(_sources(), files)):
            (folders["source code"] / f"{number}_{path.name}").write_bytes(path.read_bytes())
        for tree in trees.values():
            tree.prepare()
        for name, folder in folders.items():
            taken = [[_seconds(tree, folder, Path(place)) for tree in trees.values()] for _ in range(rounds)]
            ratio = median(ours / theirs for ours, theirs in taken)
            sizes = [one.stat().st_size for one in folder.iterdir()]
            means = (f"{median(column):,.1f}" for column in zip(*taken, strict=True))
            rows.append((name, f"{len(sizes):,}", f"{sum(sizes) / MEGA:,.0f}", *means, f"{ratio:.2f}"))
    header = ("", "files", "MB", *(f"{name}, s" for name in trees), "ratio")
    Console(width=100).print(rich_table(Table("ingest", "Ingest", header, rows)))


def _sources() -> Iterator[Path]:
    """Yield the source files of Python's library, then those of packages, in order."""
    found = (sorted(Path(sysconfig.get_path(name)).rglob("*.py")) for name in ("stdlib", "purelib"))
    return (one for one in chain.from_iterable(found) if one.stat().st_size)


def _seconds(tree: Checkout, folder: Path, place: Path) -> float:
    """Return the processor time of an ingest. A file that is refused, as one with a secret, counts as read."""
    database = place / "muisti.db"
    command = [
        sys.executable,
        "-m",
        tree.service,
        "--database",
        str(database),
        "--space",
        "load",
        "ingest",
        str(folder),
    ]
    before = getrusage(RUSAGE_CHILDREN)
    done = subprocess.run(
        command, env={**os.environ, **tree.environment}, cwd=place, capture_output=True, text=True, check=False
    )
    after = getrusage(RUSAGE_CHILDREN)
    if "stored\t" not in done.stdout:
        raise SystemExit(done.stderr)
    for one in place.glob(f"{database.name}*"):
        one.unlink()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

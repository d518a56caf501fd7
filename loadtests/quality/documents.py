"""Measure how documents come in: a long text, and one sentence more in files of several kinds.

    python -m loadtests.quality.documents --megabytes 200

The first table has the speed and the memory of one text from a file to the database. It says whether its chunks join
to the same bytes. The second has the new chunks after a sentence was put into the middle of each file.
"""

import argparse
import hashlib
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

import click

from muisti.core.databases import open_file
from muisti.core.documents.view import Held, Job
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.places import DocumentName
from muisti.core.model.times import system_clock
from muisti.core.query.query import Query

SPACE = "default"
SENTENCE = "This sentence was not here before, and says so. "


def prose(size: int, seed: int = 1) -> Iterator[bytes]:
    """Yield paragraphs of words until they have about `size` bytes."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(2, 11))) for _ in range(8_000)]
    made = 0
    while made < size:
        sentences = (" ".join(rng.choices(words, k=rng.randrange(5, 18))).capitalize() + ". " for _ in range(6))
        paragraph = ("".join(sentences).rstrip() + "\n\n").encode()
        made += len(paragraph)
        yield paragraph


def peak() -> float:
    """Return the largest resident memory of this process until now, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def long_text(engine: Engine, megabytes: int, folder: Path) -> None:
    """Print how a long text comes in."""
    file = folder / "long.txt"
    with file.open("wb") as out:
        out.writelines(prose(megabytes << 20))
    before, began, cpu = peak(), perf_counter(), process_time()
    with Held.of_path(file) as held:
        (put,) = engine.owner.documents.ingest(SPACE, "long.txt", held, Job()).items
        wanted, size = held.sha256, held.size
    took, worked, after = perf_counter() - began, process_time() - cpu, peak()
    _, pieces = engine.owner.documents.text(SPACE, DocumentName(name="long.txt"))
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece.encode())
    click.echo("| text | chunks | seconds | CPU s | MB per second | MB per CPU s | more memory | the same bytes |")
    click.echo("| --- | --- | --- | --- | --- | --- | --- | --- |")
    click.echo(
        f"| {size >> 20} MB | {put.added:,} | {took:.1f} | {worked:.1f} | {size / took / 1e6:.1f} "
        f"| {size / worked / 1e6:.1f} | {after - before:.0f} MB | {digest.hexdigest() == wanted} |"
    )
    began, held = perf_counter(), peak()
    answer = engine.owner.read.search(SPACE, Query(text=_last_words(file), limit=1))
    found = bool(answer.hits) and answer.hits[0].memory.document == "long.txt"
    click.echo(
        f"\nThe first search for its last words loads the index: {perf_counter() - began:.1f} s, "
        f"{peak() - held:.0f} MB more, found: {found}"
    )


def _last_words(file: Path) -> str:
    """Return the last words of a text."""
    with file.open("rb") as text:
        text.seek(max(0, file.stat().st_size - 60))
        return " ".join(text.read().decode().split()[1:])


def one_sentence(engine: Engine, files: dict[str, str]) -> None:
    """Print how many chunks are new after a sentence was put into the middle of each file."""
    click.echo("\n| file | size | chunks | new | kept | ended |")
    click.echo("| --- | --- | --- | --- | --- | --- |")
    for name, text in files.items():
        with Held([text.encode()]) as held:
            engine.owner.documents.ingest(SPACE, name, held, Job())
        middle = text.index("\n", len(text) // 2) + 1
        longer = text[:middle] + (f"# {SENTENCE}\n" if name.endswith(".py") else SENTENCE) + text[middle:]
        with Held([longer.encode()]) as held:
            (put,) = engine.owner.documents.ingest(SPACE, name, held, Job()).items
        chunks = put.document.chunks
        click.echo(f"| {name} | {len(text) // 1000} kB | {chunks} | {put.added} | {put.kept} | {put.ended} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how documents come in.")
    parser.add_argument("--megabytes", type=int, default=200, help="size of the long text")
    parser.add_argument("files", nargs="*", type=Path, help="texts into which a sentence is put")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(open_file(Path(folder) / "documents.db"), StaticEncoder(), system_clock) as engine,
    ):
        engine.warm()
        if given.megabytes:
            long_text(engine, given.megabytes, Path(folder))
        files = {"prose.txt": b"".join(prose(200_000, 2)).decode()}
        files |= {path.name: path.read_text(encoding="utf-8") for path in given.files}
        one_sentence(engine, files)


if __name__ == "__main__":
    main()

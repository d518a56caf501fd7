"""Chunks of documents: how many change after one inserted sentence, and the memory and speed for a long text.

    python -m loadtests.chunking [FILE ...] [--only stability,speed] [--megabytes 200]

Without files the documents have random words. Code is recognised by the ending of its name. Seconds are of
the processor; memory is the growth of the peak resident size of a process that only cuts.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from loadtests import texts
from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.chunking.options import Chunking, Strategy
from muisti.core.parsing.code.grammars import language_of
from muisti.core.parsing.pieces import Piece
from muisti.core.text.terms import count_tokens

SHOWN: tuple[Strategy, ...] = ("auto", "recursive", "heading", "sentence", "fixed")
INSERTED = "This sentence was put in here later. "
WINDOW = 1 << 20  # characters of a piece of a long text

console = Console(width=140)


class Document(NamedTuple):
    """A text, with the sort of piece that a parser makes of it."""

    name: str
    text: str
    language: str | None = None

    def piece(self, text: str) -> Piece:
        return Piece(text=text, kind="code" if self.language else "text", language=self.language)


def prose(size: int, seed: int = 5) -> Iterator[str]:
    """Yield paragraphs of made sentences, `size` characters at least."""
    rng, length = random.Random(seed), 0
    sentences = (sentence.capitalize() + ". " for sentence in texts.made((4, 30), seed))
    while length < size:
        paragraph = "".join(islice(sentences, rng.randint(1, 9))) + "\n\n"
        length += len(paragraph)
        yield paragraph


# Documents of made words, by name: prose, reStructuredText with titles and lists, and a module of Python.
MADE: Mapping[str, Callable[[], Document]] = {
    "prose": lambda: Document("prose", "".join(prose(200_000))[:200_000]),
    "titles.rst": lambda: Document("titles.rst", _titled(120_000)),
    "module.py": lambda: Document("module.py", _module(141_000), "python"),
}


def _titled(size: int) -> str:
    rng, parts, length = random.Random(7), list[str](), 0
    for number, paragraph in enumerate(prose(size, 7)):
        words = paragraph.split()[:4]
        if number % 5 == 0:
            title = " ".join(words)
            paragraph = f"{title}\n{'=' * len(title)}\n\n{paragraph}"
        elif number % 3 == 0:
            paragraph = "".join(f"* {word}\n" for word in rng.sample(words, len(words))) + "\n"
        parts.append(paragraph)
        length += len(paragraph)
    return "".join(parts)[:size]


def _module(size: int) -> str:
    rng, parts, length = random.Random(9), ['"""A made module."""\n\nimport math\n'], 0
    words = [word for sentence in islice(texts.made((9, 10), 9), 400) for word in sentence.split() if word.isalpha()]
    while length < size:
        methods: list[str] = []
        for _ in range(rng.randint(1, 6)):
            lines = [f"        {rng.choice(words)} = {rng.choice(words)} + {rng.randint(0, 9)}\n" for _ in range(12)]
            doc = f'        """{" ".join(rng.sample(words, 8))}."""\n'
            methods.append(f"    def {rng.choice(words)}(self, {rng.choice(words)}):\n{doc}{''.join(lines)}\n")
        parts.append(f"\nclass {rng.choice(words).title()}:\n{''.join(methods)}")
        length += len(parts[-1])
    return "".join(parts)


def changed(document: Document, options: Chunking, edits: int, seed: int = 3) -> tuple[list[int], list[int]]:
    """Return how many chunks are new after each of some single inserted sentences, and the tokens of all chunks."""
    rng = random.Random(seed)
    before = Counter(one.text for one in cut([document.piece(document.text)], options))
    found: list[int] = []
    for _ in range(edits):
        place = document.text.find(" ", rng.randrange(len(document.text) * 9 // 10)) + 1
        text = document.text[:place] + INSERTED + document.text[place:]
        found.append(sum((Counter(one.text for one in cut([document.piece(text)], options)) - before).values()))
    return found, [count_tokens(one) for one in before]


def _stability(documents: list[Document], edits: int) -> None:
    table = Table(title=f"new chunks after one inserted sentence, {edits} edits")
    for head in ("document", "characters", "strategy", "chunks", "tokens", "mean", "most", "share with at most 4"):
        table.add_column(head, justify="left" if head in ("document", "strategy") else "right")
    for document in documents:
        for strategy in SHOWN:
            found, sizes = changed(document, Chunking(strategy=strategy), edits)
            few = sum(one <= 4 for one in found) / edits
            mean = f"{sum(found) / edits:.1f}"
            size = f"{len(document.text):,}"
            table.add_row(
                document.name,
                size,
                strategy,
                f"{len(sizes):,}",
                f"{sum(sizes) / len(sizes):.0f}",
                mean,
                f"{max(found):,}",
                f"{few:.3f}",
            )
    console.print(table)


def _speed(megabytes: int, source: Path | None) -> None:
    table = Table(title=f"{megabytes} MB of text in pieces of 1 MB")
    for head in ("strategy", "MB/s", "memory", "chunks", "joins exactly"):
        table.add_column(head, justify="left" if head == "strategy" else "right")
    for strategy in SHOWN:
        command = [sys.executable, "-m", "loadtests.chunking", "--cut", strategy, "--megabytes", str(megabytes)]
        command += [str(source)] if source else []
        took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        table.add_row(
            strategy, f"{took['rate']:.1f}", f"+{took['grown']:.0f} MB", f"{took['chunks']:,}", str(took["exact"])
        )
    console.print(table)


def _windows(base: str, characters: int) -> Iterator[str]:
    """Yield a long text that repeats a shorter one, in pieces whose ends have no meaning."""
    buffer, left, number = "", characters, 0
    while left > 0:
        while len(buffer) < WINDOW:
            number += 1
            buffer += f"Part {number}.\n\n{base}\n\n"
        piece, buffer = buffer[: min(WINDOW, left)], buffer[WINDOW:]
        left -= len(piece)
        yield piece


def _cut(strategy: Strategy, megabytes: int, base: str) -> dict[str, object]:
    """Cut a long text and measure this process."""
    list(cut([Piece(text=base)], Chunking(strategy=strategy)))  # what is loaded and compiled on first use
    before, given, got, count, taken = _peak(), sha256(), sha256(), 0, 0.0

    def pieces() -> Iterator[Piece]:
        for text in _windows(base, megabytes * 1_000_000):
            given.update(text.encode())
            yield Piece(text=text)

    began = time.process_time()
    for one in cut(pieces(), Chunking(strategy=strategy)):
        got.update(one.text[one.overlap :].encode())
        count += 1
    taken = time.process_time() - began
    return {
        "rate": megabytes / taken,
        "grown": _peak() - before,
        "chunks": count,
        "exact": given.digest() == got.digest(),
    }


def _peak() -> float:
    """Return the peak resident size of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.chunking", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="*", type=Path, help="documents; made ones without")
    parser.add_argument("--only", default="stability,speed", help="stability, speed or both (default)")
    parser.add_argument("--edits", type=int, default=100, help="sentences that are inserted, one at a time")
    parser.add_argument("--megabytes", type=int, default=200, help="length of the long text")
    parser.add_argument("--cut", choices=SHOWN, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.cut:
        base = asked.file[0].read_text("utf-8") if asked.file else "".join(prose(2_000_000))
        sys.stdout.write(json.dumps(_cut(asked.cut, asked.megabytes, base)))
        return 0
    documents = [Document(path.name, path.read_text("utf-8", "replace"), language_of(path.name)) for path in asked.file]
    if "stability" in asked.only.split(","):
        _stability(documents or [made() for made in MADE.values()], asked.edits)
    if "speed" in asked.only.split(","):
        _speed(asked.megabytes, asked.file[0] if asked.file else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())

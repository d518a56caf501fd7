"""A table of the documents: sentences of each page, those that are too long, and words to replace."""

from collections.abc import Iterator
from pathlib import Path, PurePath

from tests.language.prose import blocks
from tests.language.rules import LIMIT, LONG, findings
from tests.language.sentences import plain, sentences, words
from tests.language.tree import DOCS


def table(root: Path) -> str:
    """Return a line for each page, worst first, then a line for all."""
    rows = sorted((_row(root, path) for path in pages(root)), key=lambda row: (-row[2] - row[4], row[0]))
    _, counts, long, longest, terms = zip(*rows, strict=True)
    rows.append(("all", sum(counts), sum(long), max(longest), sum(terms)))
    head = f"{'page':<44}{'sentences':>10}{f'over {LIMIT}':>9}{'longest':>9}{'words':>7}"
    return "\n".join([head, *("{:<44}{:>10}{:>9}{:>9}{:>7}".format(*row) for row in rows)])


def pages(root: Path) -> Iterator[PurePath]:
    """Yield the README and the documents of a copy of the repository, relative to it."""
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        yield PurePath(path.relative_to(root))


def _row(root: Path, path: PurePath) -> tuple[str, int, int, int, int]:
    lines = (root / path).read_text("utf-8").splitlines()
    found = [*blocks(enumerate(lines, 1))]
    lengths = [len(words(one)) for block in found for _, one in sentences(plain(block.text))]
    rules = [one.rule for block in found for one in findings(DOCS, path, block)]
    terms = sum(rule != LONG for rule in rules)
    return path.as_posix(), len(lengths), sum(length > LIMIT for length in lengths), max(lengths, default=0), terms

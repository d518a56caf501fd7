"""Parsers on files of the public: quality, speed, memory and refusals, beside other libraries.

    make build/parsers/.made                                              # the other libraries, once
    python -m loadtests.quality.parsing DIR ... [--files] [--only pdf]

Each DIR is a checkout of a public repository of test files. Measured were microsoft/markitdown, py-pdf/sample-files,
docling-project/docling, kreuzberg-dev/kreuzberg and pdfminer/pdfminer.six.
A file is judged where the repository has the expected Markdown: `groundtruth/NAME.md` beside `sources/NAME`, or
`expected_outputs/STEM.md` beside a PDF. The score is the F1 of pairs of neighbouring words. Comments, pictures, targets
of links and escapes of Markdown count on neither side.

Every library reads the files of a format in a process of its own. Its processor time contains its imports.
"""

import hashlib
import html
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from loadtests.quality import parsing_run

PEERS = Path("build/parsers/bin/python")
MUISTI = "muisti"
FORMATS = ("pdf", "docx", "pptx", "xlsx", "html", "epub", "csv", "eml", "ipynb")
SUFFIXES = {".htm": "html", ".xlsm": "xlsx", ".docm": "docx", ".tsv": "csv"}
# The formats that a library is measured on. Others raise for every file.
LIBRARIES: Mapping[str, frozenset[str]] = {
    MUISTI: frozenset(FORMATS),
    "markitdown": frozenset(FORMATS),
    "kreuzberg": frozenset(FORMATS),
    "pypdf": frozenset({"pdf"}),
}
WORDS = 3  # that an expected text must have to be judged
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\](?:\([^)]*\))?")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)")
_ESCAPE = re.compile(r"\\([_*|#\[\]<>`-])")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sample:
    """A file, its format by its name, and the text that is expected of it, if the repository has it."""

    path: Path
    form: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of a library for the files of a format by path, its processor time in seconds, and its memory."""

    results: Mapping[str, parsing_run.Result]
    seconds: float
    memory: int  # MB


def words(text: str) -> list[str]:
    """Return the words that are compared: lower case, without what Markdown adds.

    >>> words("**A** [link](http://x.org) ![p](p.png) <!-- c --> b\\\\_c")
    ['a', 'link', 'b_c']
    """
    text = _PICTURE.sub(" ", _COMMENT.sub(" ", text))
    text = _ESCAPE.sub(r"\1", _LINK.sub(r"\1", text))
    return _WORD.findall(html.unescape(text).lower())


def score(text: str, expected: str, run: int = 2) -> float:
    """Return the F1 of runs of neighbouring words, which counts their order too.

    >>> round(score("one two three", "one two four"), 2)
    0.5
    """
    ours, theirs = _runs(words(text), run), _runs(words(expected), run)
    both = sum((ours & theirs).values())
    return 2 * both / max(1, sum(ours.values()) + sum(theirs.values()))


def _runs(found: Sequence[str], run: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(found[at:] for at in range(run)), strict=False))


def samples(folders: Sequence[Path]) -> Iterator[Sample]:
    """Yield the files below folders, each content once; one with an expected text is preferred."""
    found: dict[str, Sample] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            form = SUFFIXES.get(path.suffix.lower(), path.suffix.lower()[1:])
            if form not in FORMATS or not path.is_file() or "groundtruth" in path.parts:
                continue
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            expected = _expected(path)
            if content not in found or (expected and not found[content].expected):
                found[content] = Sample(path, form, expected)
    yield from found.values()


def _expected(path: Path) -> str | None:
    candidates = [path.parent / "expected_outputs" / f"{path.stem}.md"] if path.suffix == ".pdf" else []
    if "sources" in path.parts:
        at = len(path.parts) - 1 - path.parts[::-1].index("sources")
        beside = Path(*path.parts[:at], "groundtruth", *path.parts[at + 1 :])
        candidates += [beside.with_name(f"{path.name}.md"), beside.with_suffix(".md")]
    for candidate in candidates:
        if candidate.is_file():
            text = candidate.read_text("utf-8", "replace")
            return text if len(words(text)) >= WORDS else None
    return None


def measured(library: str, files: Sequence[Sample]) -> Outcome:
    """Let a library read files in a process of its own."""
    python = sys.executable if library == MUISTI else str(PEERS.absolute())
    process = subprocess.Popen(
        [python, "-P", "-W", "ignore", str(Path(parsing_run.__file__)), library],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n".join(str(one.path) for one in files))
    process.stdin.close()
    results: dict[str, parsing_run.Result] = {}
    memory = 0
    for line in process.stdout:
        answer = json.loads(line)
        memory = max(memory, answer.pop("memory", 0))
        if "path" in answer:
            path = answer.pop("path")
            results[path] = parsing_run.Result(**answer)
    process.stdout.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Outcome(results, usage.ru_utime + usage.ru_stime, memory)


def table(files: Sequence[Sample], outcomes: Mapping[str, Outcome], form: str) -> Iterator[str]:
    """Yield a table of the libraries for one format."""
    judged = [one for one in files if one.expected]
    pages = sum(result.pages for result in outcomes[MUISTI].results.values()) if MUISTI in outcomes else 0
    unit, amount = ("pages", pages) if form == "pdf" else ("files", len(files))
    yield f"{form}: {len(files)} files, {len(judged)} judged" + (f", {pages:,} pages read" if form == "pdf" else "")
    yield f"| library | bigram F1 | word F1 | processor s | {unit}/s | MB | refused | without text, yet ok |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for library, outcome in outcomes.items():
        scores = [f"{mean(outcome, judged, run):.3f}" if judged else "" for run in (2, 1)]
        errors = Counter(result.error for result in outcome.results.values() if result.error)
        told = ", ".join(f"{count} {code}" for code, count in sorted(errors.items())) or "0"
        silent = sum(not result.error and not result.text.strip() for result in outcome.results.values())
        rate = amount / max(outcome.seconds, 1e-9)
        cells = [*scores, f"{outcome.seconds:.1f}", f"{rate:,.0f}", str(outcome.memory), told, str(silent)]
        yield f"| {library} | {' | '.join(cells)} |"


def mean(outcome: Outcome, judged: Sequence[Sample], run: int) -> float:
    """Return the mean score over judged files; a file that a library refused counts 0."""
    return sum(_scored(outcome, one, run) for one in judged) / max(1, len(judged))


def _scored(outcome: Outcome, sample: Sample, run: int = 2) -> float:
    result = outcome.results.get(str(sample.path))
    return score(result.text, sample.expected or "", run) if result else 0.0


def by_file(files: Sequence[Sample], outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield a table with a row for each file: the score or the refusal of each library."""
    yield "| file | " + " | ".join(outcomes) + " |"
    yield "| --- |" + " --- |" * len(outcomes)
    for one in files:
        yield f"| {one.path.name} | " + " | ".join(_cell(outcome, one) for outcome in outcomes.values()) + " |"


def _cell(outcome: Outcome, sample: Sample) -> str:
    result = outcome.results.get(str(sample.path))
    if result is None or result.error:
        return result.error if result else "no answer"
    length = f"{len(result.text):,} characters, {result.seconds:.2f} s"
    return f"{_scored(outcome, sample):.3f} ({length})" if sample.expected else length


@click.command(help=__doc__)
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--files", "each", is_flag=True, help="A row for each file as well.")
@click.option("--only", multiple=True, type=click.Choice(FORMATS), help="Measure these formats alone.")
@click.option("--library", multiple=True, type=click.Choice(list(LIBRARIES)), help="Measure these libraries alone.")
def main(folders: tuple[Path, ...], each: bool, only: tuple[str, ...], library: tuple[str, ...]) -> None:
    """Print a table for each format."""
    grouped: dict[str, list[Sample]] = defaultdict(list)
    for one in samples(folders):
        grouped[one.form].append(one)
    wanted = [one for one in library or LIBRARIES if one == MUISTI or PEERS.exists()]
    for form in only or FORMATS:
        if grouped[form]:
            outcomes = {one: measured(one, grouped[form]) for one in wanted if form in LIBRARIES[one]}
            click.echo("\n".join([*table(grouped[form], outcomes, form), ""]))
            if each:
                click.echo("\n".join([*by_file(grouped[form], outcomes), ""]))


if __name__ == "__main__":
    main()

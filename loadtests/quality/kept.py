"""Words that Muisti keeps of real files, against readers that share no code with it.

    python -m loadtests.quality.kept build/corpus --fetch [--each] [--only docx]

Each FOLDER has files of the public, such as unpacked source distributions. `--fetch` first downloads those of
`PACKAGES` into the first folder, which takes minutes; none of their files is committed. The independent readers are
`pdftotext` (PDF), `pandoc` (DOCX, ODT, EPUB, HTML, notebooks), LibreOffice (slides, sheets) and Python's `email`.
A format whose reader is not installed is left out.

A word counts as kept as often as both have it. A file that loses more than 2 % of its words without a note and without
a refusal is a silent loss.
"""

import html
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from statistics import median
from typing import cast

import click

from muisti.core.model.unreadable import Unreadable
from muisti.core.parsing.parsed import Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers

PACKAGES = (
    "charset-normalizer", "docutils", "ebooklib", "ezodf", "mail-parser", "mammoth", "markitdown", "nbconvert",
    "nbformat", "odfpy", "openpyxl", "pandas-ods-reader", "pdfplumber", "pikepdf", "py3o.template", "pyexcel-ods3",
    "python-docx", "python-pptx", "relatorio", "secretary", "Sphinx",
)  # fmt: skip
LOSS = 0.02  # share of words
LEAST = 5  # words that the other reader must find
SECONDS = 120  # for a file, and for each of those that LibreOffice converts together
TOGETHER = 20
_UNSEEN = re.compile(
    r"<office:meta>.*?</office:meta>|<(?:office:binary-data|text:page-number|presentation:footer-decl|text:list-level[^>]*|draw:image|svg:d)\b[^>]*>"
    r"(?:[A-Za-z0-9+/=\s]*</office:binary-data>)?|<(/?)text:span\b[^>]*>|<draw:(?:enhanced|glue)[^>]*>"
)
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<(?:script|style|head)\b.*?</(?:script|style|head)>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def words(text: str, numbers: bool) -> Counter[str]:
    """Return the words of a text; numbers alone count in sheets only, as labels of lists and axes are drawn elsewhere.

    >>> words("A ![red_cat](b.png) 12", numbers=False)
    Counter({'a': 1, 'red': 1, 'cat': 1, 'b': 1, 'png': 1})
    """
    return Counter(word for word in _WORD.findall(text.lower()) if numbers or not word.isnumeric())


@dataclass(frozen=True, slots=True)
class Outcome:
    """Share of words kept of a file, and what was said about the others."""

    path: Path
    kept: float
    said: str  # the notes, or the refusal
    refused: bool

    @property
    def silent(self) -> bool:
        """Return whether words were lost without a word about them."""
        return not self.said and 1 - self.kept > LOSS


def fetched(folder: Path) -> None:
    """Download and unpack the source distributions of `PACKAGES`; one that cannot be had is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        with tempfile.TemporaryDirectory() as place:
            asked = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--no-binary",
                ":all:",
                "-d",
                place,
                name,
            ]
            if subprocess.run(asked, check=False, capture_output=True).returncode:
                click.echo(f"{name} cannot be fetched.", err=True)
            for packed in Path(place).glob("*.tar.gz"):
                with tarfile.open(packed) as archive:
                    archive.extractall(folder, filter="data")


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout.decode("utf-8", "replace")


def _pandoc(path: Path) -> str:
    return _run("pandoc", "-t", "plain", "--wrap=none", "--track-changes=accept", str(path))


def _bodies(path: Path) -> str:
    """Return the texts of an e-mail that its reader shows, and its subject."""
    message = cast(EmailMessage, message_from_bytes(path.read_bytes(), policy=policy.default))
    found = [str(message["subject"] or "")]
    for part in message.walk():
        if part.get_content_maintype() == "text" and part.get_content_type() in ("text/plain", "text/html"):
            text = str(part.get_content())
            found.append(_TAG.sub(" ", text) if part.get_content_type() == "text/html" else text)
            if part.get_content_type() == "text/plain" and message.get_content_type() == "multipart/alternative":
                break
    return "\n".join(found)


READERS: Mapping[str, tuple[str, Callable[[Path], str]]] = {
    "pdf": ("pdftotext", lambda path: _run("pdftotext", str(path), "-")),
    **{form: ("pandoc", _pandoc) for form in ("docx", "odt", "epub", "ipynb", "html")},
    "eml": ("python3", _bodies),
}
CONVERTED = {"pptx": "fodp", "odp": "fodp", "xlsx": "html", "ods": "html", "fodt": "txt:Text", "fods": "html"}


def others(form: str, files: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield what the independent reader finds in each file that it can read."""
    if form in CONVERTED:
        for at in range(0, len(files), TOGETHER):
            yield from _converted(files[at : at + TOGETHER], CONVERTED[form])
        return
    tool, read = READERS[form]
    for path in files if shutil.which(tool) else ():
        try:
            yield path, read(path)
        except (subprocess.SubprocessError, LookupError, ValueError):
            continue


def _converted(files: Sequence[Path], target: str) -> Iterator[tuple[Path, str]]:
    """Yield the text of files that LibreOffice converts, all of a batch in one run."""
    with tempfile.TemporaryDirectory() as place:
        named = {path: Path(place) / f"{number}{path.suffix}" for number, path in enumerate(files)}
        for path, copy in named.items():
            shutil.copy(path, copy)
        profile = f"-env:UserInstallation=file://{place}/profile"
        command = ["soffice", profile, "--headless", "--convert-to", target, "--outdir", f"{place}/out"]
        try:
            _ = subprocess.run(
                [*command, *map(str, named.values())], capture_output=True, check=False, timeout=SECONDS * len(files)
            )
        except (OSError, subprocess.SubprocessError):
            return
        for path, copy in named.items():
            result = Path(place) / "out" / f"{copy.stem}.{target.partition(':')[0]}"
            if result.is_file():
                text = result.read_text("utf-8", "replace")
                if target == "fodp":
                    text = _UNSEEN.sub("", text.replace("&lt;number&gt;", "")[text.find("<office:body") :])
                yield path, html.unescape(_TAG.sub(" ", text)) if target in ("html", "fodp") else text


def compared(path: Path, expected: str, workers: Workers) -> Outcome | None:
    """Return what Muisti keeps of a file; None where the other reader finds no words."""
    numbers = path.suffix in (".xlsx", ".ods", ".fods")
    theirs = words(expected, numbers)
    if theirs.total() < LEAST:
        return None
    try:
        with parse(path, path.name, Options(), workers) as document:
            ours = words("".join(piece.text for piece in document), numbers)
        said, refused = " ".join(document.notes), False
    except Unreadable as refusal:
        ours, said, refused = Counter[str](), f"{refusal.code}: {refusal}", True
    return Outcome(path, (ours & theirs).total() / theirs.total(), said, refused)


def row(form: str, outcomes: Sequence[Outcome]) -> str:
    """Return a row of the table for a format."""
    shares = [one.kept for one in outcomes if not one.refused]
    if not shares:
        return f"| {form} | {len(outcomes)} | | | {len(outcomes)} | | |"
    silent = sum(one.silent for one in outcomes)
    noted = sum(bool(one.said) and not one.refused for one in outcomes)
    refused = sum(one.refused for one in outcomes)
    return f"| {form} | {len(outcomes)} | {median(shares):.3f} | {min(shares):.3f} | {refused} | {noted} | {silent} |"


@click.command(help=__doc__)
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False))
@click.option("--fetch", is_flag=True, help="Download the source distributions first.")
@click.option("--each", is_flag=True, help="A row for each file that lost words.")
@click.option("--only", multiple=True, help="Measure these formats alone.")
@click.option("--most", default=100, help="Files of a format.")
def main(folders: tuple[Path, ...], fetch: bool, each: bool, only: tuple[str, ...], most: int) -> None:
    """Print a table of the formats."""
    if fetch:
        fetched(folders[0])
    grouped: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(one for folder in folders for one in folder.rglob("*") if one.is_file()):
        form = path.suffix[1:].lower()
        if form in READERS or form in CONVERTED:
            grouped[form].append(path)
    click.echo("| format | files | median kept | worst | refused | with notes | silent losses above 2 % |")
    click.echo("| --- | --- | --- | --- | --- | --- | --- |")
    workers = Workers()
    for form in only or sorted(grouped):
        pairs = others(form, grouped[form][:most])
        outcomes = [one for path, text in pairs if (one := compared(path, text, workers)) is not None]
        if outcomes:
            click.echo(row(form, outcomes))
        for one in sorted(outcomes, key=lambda one: one.kept) if each else ():
            if 1 - one.kept > LOSS:
                click.echo(f"    {one.path} {one.kept:.3f} {one.said[:200]}", err=True)
    workers.close()


if __name__ == "__main__":
    main()

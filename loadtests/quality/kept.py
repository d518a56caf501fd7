"""Words that Muisti keeps of real files, against readers that share no code with it.

    python -m loadtests.quality.kept build/corpus --fetch [--each] [--only docx]

Each FOLDER has files of the public. `--fetch` first downloads sources of public packages and repositories into the
first folder, which takes minutes; none of their files is committed. The independent readers are `pdftotext` (PDF),
`pandoc` (DOCX, ODT, EPUB, HTML, notebooks), LibreOffice (slides, sheets, RTF, DOC), `msgconvert` (MSG), and Python's
`email` and `mailbox`. Of calendars and contacts the properties that people read are compared. Formats of text are only
decoded. A format whose reader is not installed is left out.

A word counts as kept as often as both have it, also where one of them joins or parts it. A file that loses more than
2 % of its words without a note and without a refusal is a silent loss. So is a file of a format that is never read,
where it is not refused.
"""

import html
import mailbox
import quopri
import random
import re
import shutil
import subprocess
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from statistics import median
from typing import cast
from xml.etree import ElementTree

import charset_normalizer
import click

from loadtests.quality import kept_files
from muisti.core.model.unreadable import Unreadable
from muisti.core.parsing.parsed import Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers

LOSS = 0.02  # share of words
LEAST = 5  # words that the other reader must find
SECONDS = 120  # for a file, and for each of those that LibreOffice converts together
TOGETHER = 20
_UNSEEN = re.compile(
    r"<office:(meta|settings|styles|automatic-styles|master-styles)>.*?</office:\1>|<(?:office:binary-data|text:page-number|presentation:footer-decl|text:list-level[^>]*|draw:image|svg:d)\b[^>]*>"
    r"(?:[A-Za-z0-9+/=\s]*</office:binary-data>)?|</?text:span\b[^>]*>|<dc:date>[^<]*</dc:date>|<draw:(?:enhanced|glue)[^>]*>|"
    r"<text:(?P<now>date|time)\b(?![^>]*text:fixed=.true)[^>]*>[^<]*</text:(?P=now)>",  # which are of today there
    re.DOTALL,
)
_WORD = re.compile(r"[^\W_]+")
_TEX = re.compile(r"\\(?:begin|end)\{\w+\}|\\[A-Za-z]+")
_TAG = re.compile(r"<(?:script|style|head)\b.*?</(?:script|style|head)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_NO_CELLS = ("}object", "}annotation", "}shapes")
_READ = re.compile(
    r"(?:[\w-]+\.)?(?:SUMMARY|DESCRIPTION|LOCATION|COMMENT|CONTACT|CATEGORIES|RESOURCES|FN|ORG|TITLE|ROLE|NOTE|ADR|N|"
    r"NICKNAME|EMAIL|TEL)[:;]",
    re.IGNORECASE,
)
_OF_TODAY = re.compile(r"\b(?:TODAY|NOW|RAND)\w*\(")
_HOURS = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:\.\d+)?S")
_INVENTED = re.compile(r"<text:p[^>]*>(?:(?:Series|Column|Row) ?\d+|NaN)</text:p>|Error: Reference source not found")
STEMS = frozenset("甲乙丙丁戊己庚辛壬癸")  # which number lists in Chinese
_SPACED = re.compile(r"\b\w(?: \w)+\b")  # letters that are drawn apart
_NOT_CALCULATED = re.compile(r"Err:\d+|1899-12-30 ?")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}\b)")
SHEETS = frozenset({"xlsx", "xlsm", "xls", "ods", "fods"})
SLIDES = frozenset({".pptx", ".ppt", ".odp"})
NEVER = frozenset({"xlsb", "vsd"})  # formats that are refused


def words(text: str, numbers: bool) -> Counter[str]:
    """Return the words of a text; numbers alone count in sheets only, as labels of lists and axes are drawn elsewhere.

    >>> words("A ![red_cat](b.png) 12 x² 甲", numbers=False)
    Counter({'a': 1, 'red': 1, 'cat': 1, 'b': 1, 'png': 1, 'x2': 1})
    """
    text = _TEX.sub(" ", _GROUPED.sub("", text) if numbers else text)
    plain = unicodedata.normalize("NFKC", text.replace("\u00ad", "")).lower()
    return Counter(word for word in _WORD.findall(plain) if numbers or not (word.isnumeric() or word in STEMS))


def share_kept(ours: Counter[str], theirs: Counter[str]) -> float:
    """Return the share of words that both have. A word that one joins to another, or parts, counts as kept.

    >>> share_kept(Counter(["water", "red"]), Counter(["wa", "ter", "red", "blue"]))
    0.75
    """
    more, lost = ours - theirs, theirs - ours
    joined = " ".join(more)
    found = sum(count for word, count in lost.items() if len(word) > 1 and word in joined)
    parted = sum(
        count
        for word, count in lost.items()
        if word not in joined and any(len(one) > 2 and one in word for one in more)
    )
    return ((ours & theirs).total() + found + parted) / theirs.total()


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


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout.decode("utf-8", "replace")


def _together(found: re.Match[str]) -> str:
    return found[0].replace(" ", "")


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


def _mailbox(path: Path) -> str:
    with tempfile.TemporaryDirectory() as place:
        found: list[str] = []
        for number, message in enumerate(mailbox.mbox(path)):
            one = Path(place) / str(number)
            one.write_bytes(message.as_bytes())
            found.append(_bodies(one))
    return "\n".join(found)


def _outlook(path: Path) -> str:
    """Return the texts of a message of Outlook, by `msgconvert`, a program in Perl."""
    with tempfile.TemporaryDirectory() as place:
        message = Path(place) / "a.eml"
        _ = _run("msgconvert", "--outfile", str(message), str(path))
        return _bodies(message)


def _properties(path: Path) -> str:
    """Return the values of a calendar or of contacts that people read."""
    lines = re.sub(r"=?\r?\n[ \t]", "", _plain(path)).splitlines()
    pairs = [line.partition(":")[::2] for line in lines if _READ.match(line) and "ENCODING=B" not in line.upper()]
    values = [
        quopri.decodestring(value.encode()).decode("utf-8", "replace") if "QUOTED" in name.upper() else value
        for name, value in pairs
    ]
    return "\n".join(values).replace("\\n", "\n").replace("\\N", "\n")


def _plain(path: Path) -> str:
    """Return a text in the encoding that its folder is named after, or it states, or UTF-8."""
    data = path.read_bytes()
    for codec in (path.parent.name.partition("-")[0] if "-" not in path.parent.name else path.parent.name, "utf-8"):
        try:
            return data.decode(codec)
        except (LookupError, UnicodeError):
            continue
    best = charset_normalizer.from_bytes(data).best()
    return str(best) if best is not None else ""


PLAIN = (
    "txt", "md", "rst", "adoc", "asciidoc", "org", "tex", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "xml",
    "srt", "vtt", "po", "1",
)  # fmt: skip
READERS: Mapping[str, tuple[str, Callable[[Path], str]]] = {
    "pdf": ("pdftotext", lambda path: _SPACED.sub(_together, _run("pdftotext", str(path), "-"))),
    **{form: ("pandoc", _pandoc) for form in ("docx", "odt", "epub", "ipynb", "html")},
    "eml": ("python3", _bodies),
    "mbox": ("python3", _mailbox),
    "msg": ("msgconvert", _outlook),
    "ics": ("python3", _properties),
    "vcf": ("python3", _properties),
    **{form: ("python3", _plain) for form in PLAIN},
}
CONVERTED = {
    **dict.fromkeys(("pptx", "ppt", "odp"), "fodp"), **dict.fromkeys(("fodt", "rtf", "doc"), "txt:Text"),
    **dict.fromkeys(SHEETS, "fods"),
}  # fmt: skip


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
                yield path, _shown(result.read_text("utf-8", "replace"), target, path.suffix.lower() == ".xlsx")


def _shown(text: str, target: str, typed: bool) -> str:
    """Return the text of what LibreOffice wrote."""
    if target == "fods":
        return _NOT_CALCULATED.sub("", "\n".join(_cells(ElementTree.fromstring(text), typed)))
    if target != "fodp":
        return _INVENTED.sub("", text)
    body = _INVENTED.sub("", text[text.find("<office:body") :].replace("&lt;number&gt;", ""))
    return html.unescape(_TAG.sub(" ", _UNSEEN.sub("", body)))


def _cells(book: ElementTree.Element, typed: bool) -> Iterator[str]:
    """Yield the cells of a book, of days, times and truth the values, since each program shows them in its own way.

    Without `typed` these are left out, and results of formulas, which LibreOffice may calculate again. It also keeps
    copies of the sheets of other files, which are no cells of this one, and draws pivot tables in its own words.
    """
    drawn = {
        (one.get(f"{_TABLE}target-range-address") or "").partition(".")[0].strip("'$")
        for one in book.iter(f"{_TABLE}data-pilot-table")
    }
    for parent in [*book.iter()]:
        for one in [
            one
            for one in parent
            if one.tag.endswith(_NO_CELLS)
            or one.get(f"{_TABLE}name", "").startswith("'file:")
            or (one.tag == f"{_TABLE}table" and one.get(f"{_TABLE}name") in drawn)
        ]:
            parent.remove(one)
    for cell in book.iter(f"{_TABLE}table-cell"):
        named = {key.rpartition("}")[2]: value for key, value in cell.attrib.items()}
        value = named.get("date-value") or named.get("time-value") or named.get("boolean-value")
        formula = named.get("formula", "")
        if not _OF_TODAY.search(formula) if typed else not (value or formula):
            times = min(int(named.get("number-columns-repeated", "1")), TOGETHER)
            texts = ["".join(one.itertext()) for one in cell.iter() if one.tag.endswith("}p")]
            yield from [_HOURS.sub(r"\1:\2:\3", value).replace("T", " ") if value else " ".join(texts)] * times


def compared(path: Path, expected: str, workers: Workers) -> Outcome | None:
    """Return what Muisti keeps of a file; None where the other reader finds no words."""
    numbers = path.suffix[1:].lower() in SHEETS
    theirs = words(expected, numbers)
    if theirs.total() < LEAST:
        return None
    try:
        with parse(path, path.name, Options(), workers) as document:
            text = "".join(piece.text for piece in document)
        ours = words(f"{document.title or ''} {text}", numbers)
        if path.suffix.lower() in SLIDES:  # whose charts LibreOffice labels more than once
            ours, theirs = Counter(set(ours)), Counter(set(theirs))
        said, refused = " ".join(document.notes), False
    except Unreadable as refusal:
        ours, said, refused = Counter[str](), f"{refusal.code}: {refusal}", True
    return Outcome(path, share_kept(ours, theirs), said, refused)


def refused(path: Path, workers: Workers) -> Outcome:
    """Return how a file of a format is answered that is never read."""
    try:
        with parse(path, path.name, Options(), workers) as document:
            return Outcome(path, float(any(piece.text.strip() for piece in document)), " ".join(document.notes), False)
    except Unreadable as refusal:
        return Outcome(path, 0.0, f"{refusal.code}: {refusal}", True)


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
        kept_files.fetched(folders[0], {*READERS, *CONVERTED, *NEVER})
    grouped: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(one for folder in folders for one in folder.rglob("*") if one.is_file()):
        form = path.suffix[1:].lower()
        if form in READERS or form in CONVERTED or form in NEVER:
            grouped[form].append(path)
    click.echo("| format | files | median kept | worst | refused | with notes | silent losses above 2 % |")
    click.echo("| --- | --- | --- | --- | --- | --- | --- |")
    workers = Workers()
    for form in only or sorted(grouped):
        files = random.Random(form).sample(grouped[form], min(most, len(grouped[form])))
        pairs = others(form, files) if form not in NEVER else ()
        outcomes = [one for path, text in pairs if (one := compared(path, text, workers)) is not None]
        outcomes += [refused(path, workers) for path in files if form in NEVER]
        if outcomes:
            click.echo(row(form, outcomes))
        for one in sorted(outcomes, key=lambda one: one.kept) if each else ():
            if 1 - one.kept > LOSS:
                click.echo(f"    {one.path} {one.kept:.3f} {one.said[:200]}", err=True)
    workers.close()


if __name__ == "__main__":
    main()

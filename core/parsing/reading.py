"""Read a file: detect its format, then stream its pieces, in this process or from a worker."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile

from muisti.core.model.unreadable import Broken, Empty, Encrypted, NoText, UnknownFormat, Unreadable
from muisti.core.model.values import is_blank
from muisti.core.parsing.containers import ENCRYPTED, inside_container
from muisti.core.parsing.detect import (
    ARCHIVES,
    HEAD,
    IMAGES,
    RECOGNISED,
    STREAMED,
    Format,
    detect,
    programming_language,
    signature_of,
)
from muisti.core.parsing.encodings import codec_of
from muisti.core.parsing.parsed import Options, Parsed, installed, refusal, row, rule
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.text import MarkdownReader, decoded, lines, windows
from muisti.core.parsing.workers import Workers
from muisti.core.parsing.zipped import format_of_zip

# Read CSV and its kin to rows of a table in Markdown, in bounded memory

DELIMITERS = ",;\t|"
SAMPLE = 20  # lines that decide the delimiter
BATCH = 1 << 14  # characters of a piece
_STATED = re.compile(r"sep=([^\w\s\"]|\t)\s*", re.IGNORECASE)  # the first line of files that Excel wrote
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def delimiter_of(lines: Iterable[str], name: str = "") -> str:
    """Return the delimiter that most lines have equally often, outside quotes; a comma when there is none.

    >>> delimiter_of(["a;b,c;d", "1;2;3,5"]), delimiter_of(["one"])
    (';', ',')
    """
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    bare = [_QUOTED.sub("", line) for line in lines if line.strip()]
    best, score = ",", 0.0
    for mark in DELIMITERS:
        counts = [line.count(mark) for line in bare]
        usual = max(set(counts), key=lambda count: (counts.count(count), count), default=0)
        agreed = counts.count(usual) / len(counts) if usual else 0.0
        if agreed + min(usual, 50) / 1000 > score:
            best, score = mark, agreed + min(usual, 50) / 1000
    return best


def table_pieces(lines: Iterator[str], name: str) -> Iterator[Piece]:
    """Yield the rows of a separated file as pieces of one table, whose head is the first row.

    Raises `Broken` where a field never ends.
    """
    first = [*islice(lines, SAMPLE)]
    stated = _STATED.fullmatch(first[0]) if first else None
    mark = delimiter_of(first, name) if stated is None else stated[1]
    if stated is not None:
        del first[0]
    text, begun = "", False
    try:
        for cells in csv.reader(chain(first, lines), delimiter=mark, skipinitialspace=True):
            if not any(cell.strip() for cell in cells):
                continue
            text += row(cells) if begun else row(cells) + rule(len(cells))
            begun = True
            if len(text) > BATCH:
                yield Piece(text=text, kind="table")
                text = ""
    except csv.Error as error:
        raise Broken(f"The rows cannot be read: {error}.") from error
    if text:
        yield Piece(text=text, kind="table")


CODE = 1 << 20  # characters of a piece of code at most: most files are one piece


def parse(source: bytes | Path | BinaryIO, name: str, options: Options, workers: Workers) -> Parsed:
    """Open a document and return it as a stream of pieces, all of which, joined, are its text.

    `source` is the content, a path, or an open binary file at its start; the caller closes an open file after the last
    piece. `name` is the name or path that the document goes by. `workers` read the formats that need a process of
    their own; text, Markdown, CSV and code are read here.

    Raises subclasses of `Unreadable`: `Empty`, `UnknownFormat`, and `UnknownFormat` for an archive, whose members
    `archives.members` yields. The others come while pieces are read. A document without text always raises.
    """
    if isinstance(source, bytes):
        return _opened(io.BytesIO(source), name, options, workers)
    if not isinstance(source, Path):
        return _opened(source, name, options, workers)
    stream = source.open("rb")
    try:
        return _opened(stream, name, options, workers, ours=True)
    except Unreadable:
        stream.close()
        raise


def _opened(stream: BinaryIO, name: str, options: Options, workers: Workers, *, ours: bool = False) -> Parsed:
    head = stream.read(HEAD)
    if not head.strip(b"\xef\xbb\xbf \t\r\n\f\v") and len(head) < HEAD:
        raise Empty("The file holds blanks alone." if head else "The file is empty.")
    if options.encoding is not None and codec_of(options.encoding) is None:
        raise UnknownFormat(f"The encoding {options.encoding!r} is not known.")
    form = _format(head, stream, name, options)
    parsed = Parsed(name=name, format=form)
    if form in STREAMED:
        pieces = _streamed(head, stream, options, parsed)
    else:
        pieces = workers.read(form.value, head, stream, name, options, parsed)
    parsed.pieces = _with_text(_closing(pieces, stream) if ours else pieces)
    return parsed


def _format(head: bytes, stream: BinaryIO, name: str, options: Options) -> Format:
    form = detect(head, name, options.media_type)
    if form is Format.ZIP:
        try:
            form = format_of_zip(stream)
        except BadZipFile as error:
            raise Broken("The file begins as a ZIP file, and its directory is missing or damaged.") from error
        stream.seek(len(head))
    if form in ARCHIVES:
        raise UnknownFormat("The file is an archive: its members are documents, not the archive itself.")
    if form is Format.UNKNOWN:
        what = signature_of(head)
        if what in RECOGNISED and installed():
            return RECOGNISED[what]
        what, instead = inside_container(head, stream) or (what, "")
        if isinstance(what, Format):
            return what
        if what == ENCRYPTED:
            raise Encrypted("The office file is encrypted; it needs a password.")
        if what in IMAGES:
            raise NoText(f"The file is {what}. {refusal()}")
        advice = f", which is not read. Save it as {instead}, and send that" if instead else ""
        raise UnknownFormat(f"The file is {what or 'in no format that is read'}{advice}.")
    return form


def _streamed(head: bytes, stream: BinaryIO, options: Options, about: Parsed) -> Iterator[Piece]:
    texts = decoded(head, stream, options.encoding, lambda found: about.note(found.note))
    if about.format is Format.MARKDOWN:
        reader = MarkdownReader()
        for piece in reader.pieces(lines(texts)):
            about.title = reader.title
            yield piece
    elif about.format is Format.CSV:
        newlines = io.IncrementalNewlineDecoder(None, translate=True)
        yield from table_pieces(lines(map(newlines.decode, texts)), about.name)
    elif about.format is Format.CODE:
        about.language = programming_language(about.name, head[:200].decode("latin-1"))
        for text in windows(texts, CODE):
            yield Piece(text=text, kind="code", language=about.language)
    else:
        for text in windows(texts):
            yield Piece(text=text)


def _with_text(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces; raise `Empty` when none of them has text."""
    found = False
    for piece in pieces:
        found = found or not is_blank(piece.text)
        yield piece
    if not found:
        raise Empty("The file holds no text.")


def _closing(pieces: Iterator[Piece], stream: BinaryIO) -> Iterator[Piece]:
    try:
        yield from pieces
    finally:
        stream.close()

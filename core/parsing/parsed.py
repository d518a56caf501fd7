"""Parts that readers of formats share: limits and choices, blocks of Markdown, and a document while it is read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import TracebackType

from msgspec import Struct

from muisti.core.parsing.detect import MEDIA_TYPES, Format
from muisti.core.parsing.pieces import Piece, PieceKind

MB = 1 << 20


class Options(Struct, frozen=True, kw_only=True):
    """Options of reading a file, and limits of what it may cost.

    `main_content` leaves menus and the like out of web pages; it needs the extra `web`. `encoding` is that of a text,
    where the sender states one. `media_type` is a hint, used where the content leaves a choice.

    `max_bytes` limits files that a worker process reads; text, Markdown, CSV and code stream, so they have no limit
    here. `max_characters`, `max_pages` and `max_cells` limit what comes out of such a file. `patience` is the
    processor time in seconds that a worker may use without giving a piece; `seconds` is that for the whole file.
    Each page whose text is recognised has more, and at most `max_recognised` pages of a file are.
    """

    main_content: bool = False
    encoding: str | None = None
    media_type: str | None = None
    max_bytes: int = 128 * MB
    max_characters: int = 50_000_000
    max_pages: int = 10_000
    max_cells: int = 500_000
    max_recognised: int = 300
    patience: int = 3
    seconds: int = 120


class ArchiveOptions(Struct, frozen=True, kw_only=True):
    """Limits of an archive.

    `max_entries` counts entries of all nested archives; `max_bytes` is the sum of what they unpack to, `max_member`
    that of one. `depth` is how many archives may be inside each other. `ratio` limits how much a member, and the
    whole archive, may expand, once it has unpacked to more than 4 MB.
    """

    max_entries: int = 50_000
    max_bytes: int = 8 << 30
    max_member: int = 1 << 30
    depth: int = 3
    ratio: int = 50


_NEEDED = ("rapidocr", "onnxruntime")


def installed() -> bool:
    """Return whether the packages are there."""
    return all(find_spec(name) is not None for name in _NEEDED)


def refusal() -> str:
    """Return the sentences that follow why a file of images holds no text: what to do, or that nothing was found."""
    if installed():
        return "No text was recognised in it."
    return (
        "It holds no text. To recognise text in images, install the extra `ocr` where the server runs: "
        'pip install "muisti[ocr]".'
    )


_CELL = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "\t": " "})


_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


def raised(text: str, *, down: bool = False) -> str:
    """Return a text that is set higher, or lower, in the letters of Unicode for that; as it is where some have none.

    >>> f"10{raised('-9')}", f"H{raised('2', down=True)}O", f"1{raised('st')}"
    ('10⁻⁹', 'H₂O', '1st')
    """
    known = _LOWERED if down else _RAISED
    return text.translate(known) if all(ord(letter) in known for letter in text) else text


class Outline:
    """The titles that the text is under, by level. `top` are titles above all of them."""

    def __init__(self, top: Sequence[str] = ()) -> None:
        self._top = tuple(top)
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """Return the titles, outermost first."""
        return self._top + tuple(title for _, title in self._open)

    def enter(self, level: int, title: str) -> None:
        """Begin a section. It ends those of its level and deeper ones."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))


def heading(outline: Outline, level: int, title: str, page: int | None = None) -> Piece:
    """Begin a section and return its heading as a piece. Its own title is the last of its headings."""
    title = " ".join(title.split())
    outline.enter(level, title)
    text = f"{'#' * min(max(level, 1), 6)} {title}\n\n"
    return Piece(text=text, kind="heading", page=page, headings=outline.path)


def block(outline: Outline, text: str, kind: PieceKind = "text", page: int | None = None) -> Piece:
    """Return a block of text, which a blank line ends, as a piece."""
    return Piece(text=text + "\n\n", kind=kind, page=page, headings=outline.path)


def row(cells: Iterable[str]) -> str:
    """Return a row of a table in Markdown.

    >>> row(["a|b", "c\\nd"])
    '| a\\\\|b | c d |\\n'
    """
    return "| " + " | ".join(cell.translate(_CELL).strip() for cell in cells) + " |\n"


def rule(columns: int) -> str:
    """Return the line that ends the head of a table."""
    return "|" + " --- |" * columns + "\n"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown whose first row is its head; shorter rows are filled up. Empty without a cell."""
    width = max((len(cells) for cells in rows), default=0)
    if not width:
        return ""
    full = [row([*cells, *[""] * (width - len(cells))]) for cells in rows]
    return full[0] + rule(width) + "".join(full[1:])


def spread(cells: Sequence[tuple[str, int, int]], above: dict[int, tuple[int, str]]) -> list[str]:
    """Return the texts of a row by column, of cells with the rows and columns that each takes.

    A cell that spans rows is in each of them. `above` has, by column, for how many rows more which text is there.

    >>> above: dict[int, tuple[int, str]] = {}
    >>> spread([("a", 2, 1), ("b", 1, 2)], above), spread([("c", 1, 1), ("d", 1, 1)], above)
    (['a', 'b', ''], ['a', 'c', 'd'])
    """
    out: list[str] = []

    def fill() -> None:
        while len(out) in above:
            left, text = above.pop(column := len(out))
            out.append(text)
            if left > 1:
                above[column] = left - 1, text

    for text, rows, columns in cells:
        fill()
        for number in range(columns):
            shown = text if not number else ""
            if rows > 1:
                above[len(out)] = rows - 1, shown
            out.append(shown)
    fill()
    return out


@dataclass(slots=True)
class About:
    """Facts about a document that its reader finds on the way. `language` is one that the file states.

    `images` tells that it holds pictures, which matters where it holds no text.
    `notes` say in words what was left out or done otherwise, for example that the main content was not found. `left`
    has the numbers of words in them.
    A reader calls `more_time` with the seconds of processor time that what comes next may take, where that is more
    than usual.
    """

    title: str | None = None
    pages: int | None = None
    language: str | None = None
    images: bool = False
    notes: list[str] = field(default_factory=list[str])
    left: dict[str, int] = field(default_factory=dict[str, int])
    more_time: Callable[[int], None] = lambda seconds: None

    def note(self, sentence: str) -> None:
        """Add a sentence to the notes, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def leave_out(self, what: str, words: int) -> None:
        """Note how many words of a kind were left out, of all of them together."""
        if words:
            said = f"{what} was left out: "
            count = self.left[what] = self.left.get(what, 0) + words
            self.notes = [note for note in self.notes if not note.startswith(said)]
            self.notes.append(f"{said}{count:,} word{'s' if count > 1 else ''}.")


@dataclass(slots=True)
class Parsed(About):
    """A document that is being read. Iterate it once for its pieces; the facts are complete after the last one.

    `name` and `format` are known from the start. Use it as a context manager, so that an unfinished reading frees its
    worker. Iteration raises a subclass of `Unreadable`, possibly after some pieces; then nothing may be kept.
    `language` is that of source code too, and `pages` counts slides and sheets.
    """

    name: str = ""
    format: Format = Format.UNKNOWN
    pieces: Iterator[Piece] = field(default_factory=lambda: iter(()))
    characters: int = 0

    def __iter__(self) -> Iterator[Piece]:
        for piece in self.pieces:
            self.characters += len(piece.text)
            yield piece

    def __enter__(self) -> "Parsed":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the reading. Without effect when it has ended."""
        close = getattr(self.pieces, "close", None)
        if close is not None:
            close()

    @property
    def media_type(self) -> str:
        """Return the media type of the file."""
        return MEDIA_TYPES[self.format]

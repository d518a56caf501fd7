"""Read PDF by pdfium: pages in order, headings from the outline, or else by the size of their letters."""

import ctypes
import logging
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pypdfium2 as pdfium  # pyright: ignore[reportMissingTypeStubs]  # annotated in part, without the marker
import pypdfium2.raw as raw  # pyright: ignore[reportMissingTypeStubs]  # generated from C headers, without stubs

from muisti.core.model.unreadable import Broken, Empty, Encrypted, FileTooLarge, NoText
from muisti.core.parsing.formats.image import SECONDS, SIDE, Recogniser, TooMuchMemory
from muisti.core.parsing.formats.pdf_marks import marks, note_besides
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, installed, refusal
from muisti.core.parsing.pieces import Piece

LARGER = 1.15  # times the usual height: a line of this height is a heading
LEVELS = ((1.8, 1), (1.4, 2), (LARGER, 3))
TITLE = 150  # characters of a heading at most
GAP = 1.6  # lines that lie further apart, in heights of a line, belong to two paragraphs
SAMPLE = 5  # pages that decide the usual height before the first of them is given
NAMED = 20  # pages that a note lists
LARGEST = 4.0  # pixels for a point of a page that is looked at, 288 dpi
OUTLINE = 20_000  # entries that are read
BROKEN = 0.3  # share of letters without a known code above which a page is not readable, and half of which a line is
SHORT = 4  # letters of a line that is kept as it is, such as a bullet
logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns of forms with programs, which are not run
TAIL = 0x10000 + 22  # bytes from the end in which an archive says that it is one
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})
_HYPHEN = "\x02"  # pdfium's mark of a hyphen at the end of a line, whose word it joins
_BROKEN_WORD = re.compile(r"([^\W\d_])[-\u00ad\u2010]\n([a-zß-ÿ]+[^\s\w]?) ?\n?")
_LIGATURE = re.compile("([اأإآ])ل")
_SPACES = re.compile(r"(?<![ \t\u00a0])[ \t\u00a0]++\n")
_WORDS = re.compile(r"\w+")
_NUMBER = re.compile(r"^(?:[\divxlc]++[.)]?+)++\s++", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page. `top` and `height` are in points, 0 where they are unknown."""

    text: str
    top: float
    height: float


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a PDF. Raises `Encrypted`, `Broken`, `FileTooLarge` by its pages, and `NoText` for a scan."""
    document = _open(bytes(data))
    try:
        cast(Any, document).init_forms()  # annotated in part
        about.pages = len(document)
        if about.pages > options.max_pages:
            raise FileTooLarge(f"The file has {about.pages:,} pages; at most {options.max_pages:,} are read.")
        note_besides(document, about)
        if data.rfind(b"PK\5\6", len(data) - TAIL if len(data) > TAIL else 0) > data.rfind(b"%%EOF"):
            about.note("The file is a ZIP archive too, whose members were not read.")
        about.title = document.get_metadata_dict(skip_empty=True).get("Title", "").strip() or None
        yield from _Reading(document, options, about).pieces()
    finally:
        document.close()


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise Encrypted("The PDF is encrypted; it needs a password.") from error
        raise Broken(f"The PDF is damaged: {error}") from error


class _Reading:
    def __init__(self, document: pdfium.PdfDocument, options: Options, about: About) -> None:
        self._document = document
        self._recogniser = Recogniser() if installed() else None
        self._recognisable = options.max_recognised
        self._about = about
        self._outline = Outline()
        self._entries = _entries(document)
        self._heights: Counter[float] = Counter()
        self._unreadable: list[int] = []
        self._blank: list[int] = []
        self._coded: list[int] = []  # pages whose letters have no known codes
        self._drawn = False  # whether a page has anything on it
        self._dropped = 0  # characters of lines that are of that kind
        self._notes: dict[int, list[str]] = {}

    def pieces(self) -> Iterator[Piece]:
        waiting: list[tuple[int, list[Line]]] = []
        for number in range(1, (self._about.pages or 0) + 1):
            lines = self._lines(number)
            if not lines and number not in self._notes:
                self._blank.append(number)
            self._heights.update({round(line.height, 1): 0 for line in lines})
            for line in lines:
                self._heights[round(line.height, 1)] += len(line.text)
            waiting.append((number, lines))
            if number < SAMPLE:
                continue
            for page, held in waiting:
                yield from self._page(page, held)
            waiting = []
        for page, held in waiting:
            yield from self._page(page, held)
        if len(self._blank) == self._about.pages:
            self._refuse()
        self._note_pages()

    def _note_pages(self) -> None:
        """Add notes of the pages and lines that were not read."""
        if self._dropped:
            what = f"{self._dropped:,} characters"
            self._about.note(f"Lines whose letters have no known codes were left out: {what}.")
        unread = {*self._unreadable, *self._coded}
        for what, numbers in (
            ("that cannot be read", self._unreadable),
            ("whose letters have no known codes", self._coded),
            ("without text, which may be scans", [one for one in self._blank if one not in unread]),
        ):
            if numbers:
                listed = ", ".join(map(str, numbers[:NAMED]))
                more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
                self._about.note(f"Pages {what}: {listed}{more}.")

    def _refuse(self) -> None:
        if len(self._unreadable) == self._about.pages:
            raise Broken("No page of the PDF can be read.")
        if self._coded:
            raise NoText(f"The letters of the PDF have no known codes, as its fonts lack them. {refusal()}")
        if not self._drawn:
            raise Empty("The pages of the PDF are blank.")
        raise NoText(f"The PDF holds images, drawings or empty fields only. {refusal()}")

    def _lines(self, number: int) -> list[Line]:
        try:
            page = self._document[number - 1]
        except pdfium.PdfiumError:
            self._unreadable.append(number)
            return []
        try:
            text_page = page.get_textpage()
        except pdfium.PdfiumError:
            self._unreadable.append(number)
            page.close()
            return []
        lines = self._readable(number, [*_lines_of(text_page)]) or self._recognised(number, page)
        self._drawn = self._drawn or raw.FPDFPage_CountObjects(page.raw) > 0 or raw.FPDFPage_GetAnnotCount(page.raw) > 0
        if notes := [*marks(page, self._document, self._about)]:
            self._notes[number] = notes
        text_page.close()
        page.close()
        return lines

    def _readable(self, number: int, lines: list[Line]) -> list[Line]:
        """Return the lines whose letters have known codes; none where too many of the page have none."""
        text = "".join(line.text for line in lines)
        if _broken(text) > BROKEN:
            self._coded.append(number)
            return []
        kept = [line for line in lines if len(line.text) < SHORT or _broken(line.text) <= 0.5]
        self._dropped += len(text) - sum(len(line.text) for line in kept)
        return kept

    def _recognised(self, number: int, page: Any) -> list[Line]:
        """Return the lines that are recognised in the picture of a page without text."""
        if self._recogniser is None or not self._recognisable or not raw.FPDFPage_CountObjects(page.raw):
            return []
        self._recognisable -= 1
        self._about.more_time(SECONDS)
        scale = min(LARGEST, SIDE / max(*page.get_size(), 1.0))
        height = page.get_height()
        try:
            seen = self._recogniser.lines(page.render(scale=scale).to_numpy())
        except TooMuchMemory:
            self._unreadable.append(number)
            return []
        return [Line(one.text, height - one.top / scale, one.height / scale) for one in seen]

    def _page(self, number: int, lines: Sequence[Line]) -> Iterator[Piece]:
        """Yield the pieces of a page: its headings, and the text between them."""
        usual = self._heights.most_common(1)[0][0] if self._heights else 0.0
        expected = dict(self._entries.get(number, ()))
        text: list[Line] = []
        at = 0
        while at < len(lines):
            level, taken, key = self._level(lines, at, usual, expected)
            if level:
                yield from self._block(text, number)
                text = []
                yield heading(self._outline, level, " ".join(line.text for line in lines[at : at + taken]), number)
                expected.pop(key, None)
            else:
                text.append(lines[at])
            at += taken
        yield from self._block(text, number)
        if notes := self._notes.pop(number, None):
            yield block(self._outline, "\n".join(notes), "note", number)
        for level, title in expected.values():  # sections of the outline that begin here, whose titles were not found
            self._outline.enter(level, title)

    def _level(
        self, lines: Sequence[Line], at: int, usual: float, expected: Mapping[str, tuple[int, str]]
    ) -> tuple[int, int, str]:
        """Return the level of the heading at a line, 0 for none; how many lines it takes; its key in the outline."""
        if self._entries:
            for taken in (1, 2, 3):
                key = _key(" ".join(line.text for line in lines[at : at + taken]))
                if key and key in expected and at + taken <= len(lines):
                    return expected[key][0], taken, key
            return 0, 1, ""
        level = _by_height(lines[at], usual)
        taken = 1
        while level and at + taken < len(lines) and taken < 3:
            after = lines[at + taken]
            if _by_height(after, usual) != level or abs(after.height - lines[at].height) > 0.5:
                break
            taken += 1
        return level, taken, ""

    def _block(self, lines: Sequence[Line], number: int) -> Iterator[Piece]:
        text = _joined(lines)
        if text:
            yield block(self._outline, text, page=number)


def _broken(text: str) -> float:
    """Return the share of letters that have no known code, of all that are not blanks.

    These are control characters, private ones, unassigned ones, and those of UTF-16 whose bytes were turned round.
    """
    letters = [letter for letter in text if not letter.isspace() and letter not in f"{_HYPHEN}\ufffe"]
    turned = sum(ord(letter) > 0xFF and not ord(letter) & 0xFF for letter in letters)
    lost = sum(letter == "\ufffd" or unicodedata.category(letter) in _NO_TEXT for letter in letters)
    return max(lost, turned) / max(len(letters), 1)


def _by_height(line: Line, usual: float) -> int:
    if not usual or line.height < LARGER * usual or not 2 < len(line.text) <= TITLE:
        return 0
    if line.text.rstrip()[-1:] in ".,;" or sum(map(str.isalpha, line.text)) < len(line.text) / 2:
        return 0
    return next(level for factor, level in LEVELS if line.height >= factor * usual)


def _entries(document: pdfium.PdfDocument) -> Mapping[int, list[tuple[str, tuple[int, str]]]]:
    """Return the entries of the outline by page: the key of each title, its level and the title."""
    found: dict[int, list[tuple[str, tuple[int, str]]]] = defaultdict(list)
    bookmarks: Iterator[Any] = cast(Any, document).get_toc(max_depth=6)  # annotated in part
    for bookmark, _ in zip(bookmarks, range(OUTLINE), strict=False):
        title = " ".join(str(bookmark.get_title()).split())
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        if title and page is not None:
            found[page + 1].append((_key(title), (bookmark.level + 1, title)))
    return found


def _key(title: str) -> str:
    """Return the words of a title without its number, to compare titles of the outline with lines of a page."""
    return " ".join(_WORDS.findall(_NUMBER.sub("", title.strip()).lower()))


def _lines_of(page: Any) -> Iterator[Line]:
    """Yield the lines of a page in pdfium's order, with the place of the first letter of each."""
    text = _ligatures_in_order(page.get_text_range(), page.raw)
    box = raw.FS_RECTF()
    handle, start = page.raw, 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            at = start + len(line) - len(line.lstrip())
            index = raw.FPDFText_GetCharIndexFromTextIndex(handle, at)
            known = index >= 0 and raw.FPDFText_GetLooseCharBox(handle, index, ctypes.byref(box))
            yield Line(stripped, box.top, box.top - box.bottom) if known else Line(stripped, 0.0, 0.0)
        start += len(line) + 1


def _ligatures_in_order(text: str, handle: Any) -> str:
    """Return a text whose ligatures of lam and alef read lam first. pdfium turns the letters of one glyph round.

    Two letters are of one glyph when they have one origin.
    """
    if not (found := [*_LIGATURE.finditer(text)]):
        return text
    parts: list[str] = []
    at = 0
    for one in found:
        if (origin := _origin(handle, one.start())) and origin == _origin(handle, one.start() + 1):
            parts += [text[at : one.start()], "ل", one[1]]
            at = one.end()
    return "".join([*parts, text[at:]])


def _origin(handle: Any, at: int) -> tuple[float, float] | None:
    index = raw.FPDFText_GetCharIndexFromTextIndex(handle, at)
    x, y = ctypes.c_double(), ctypes.c_double()
    found = raw.FPDFText_GetCharOrigin(handle, index, ctypes.byref(x), ctypes.byref(y))
    return (x.value, y.value) if found else None


def _joined(lines: Sequence[Line]) -> str:
    """Return lines as text: paragraphs apart, words that a hyphen breaks joined."""
    out: list[str] = []
    before: Line | None = None
    for line in lines:
        if before is not None:
            far = line.height and abs(before.top - line.top) > GAP * max(line.height, before.height)
            out.append("\n\n" if far else "\n")
        out.append(line.text)
        before = line
    text = "".join(out).replace(_HYPHEN, "").replace("\ufffe", "")
    return _SPACES.sub("\n", _BROKEN_WORD.sub(r"\1\2\n", text)).strip()

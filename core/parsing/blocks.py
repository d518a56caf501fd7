"""Blocks of Markdown that readers of formats make: headings with their path, paragraphs, tables, lists, code."""

from collections.abc import Iterable, Sequence

from muisti.core.model.documents import Piece, PieceKind

_CELL = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "\t": " "})


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

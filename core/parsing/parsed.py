"""A document while it is read: its pieces as a stream, and what is known about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType

from muisti.core.model.documents import Piece
from muisti.core.parsing.detect import MEDIA_TYPES, Format


@dataclass(slots=True)
class About:
    """Facts about a document that its reader finds on the way. `language` is one that the file states.

    `images` tells that it holds pictures, which matters where it holds no text.
    `notes` say in words what was left out or done otherwise, for example that the main content was not found.
    A reader calls `more_time` with the seconds of processor time that what comes next may take, where that is more
    than usual.
    """

    title: str | None = None
    pages: int | None = None
    language: str | None = None
    images: bool = False
    notes: list[str] = field(default_factory=list[str])
    more_time: Callable[[int], None] = lambda seconds: None


class Parsed:
    """A document that is being read. Iterate it once for its pieces; the facts are complete after the last one.

    `name` and `format` are known from the start. Use it as a context manager, so that an unfinished reading frees its
    worker. Iteration raises a subclass of `Unreadable`, possibly after some pieces; then nothing may be kept.
    """

    def __init__(self, name: str, form: Format, pieces: Iterator[Piece], about: About) -> None:
        self.name = name
        self.format = form
        self.characters = 0
        self._about = about
        self._pieces = pieces

    def __iter__(self) -> Iterator[Piece]:
        for piece in self._pieces:
            self.characters += len(piece.text)
            yield piece

    def __enter__(self) -> "Parsed":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the reading. Without effect when it has ended."""
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()

    @property
    def media_type(self) -> str:
        """Return the media type of the file."""
        return MEDIA_TYPES[self.format]

    @property
    def title(self) -> str | None:
        """Return the title that the file states, or its first heading of level 1."""
        return self._about.title

    @property
    def pages(self) -> int | None:
        """Return the number of pages, slides or sheets; None where the format has none."""
        return self._about.pages

    @property
    def language(self) -> str | None:
        """Return the programming language of source code, or the language that the file states it is in."""
        return self._about.language

    @property
    def notes(self) -> tuple[str, ...]:
        """Return sentences that say what was left out, or done otherwise than requested."""
        return tuple(self._about.notes)

    def note(self, sentence: str) -> None:
        """Add a sentence to the notes, once."""
        if sentence not in self._about.notes:
            self._about.notes.append(sentence)

"""From a file to a document: its bytes hashed, parsed and cut, within bounded memory."""

import tempfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

import msgspec

from muisti.core.documents.cuts import Cuts
from muisti.core.documents.languages import language_of
from muisti.core.model.filing import FileFacts, NewDocument
from muisti.core.model.terms import Importance, SourceClass
from muisti.core.model.values import Json
from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.chunking.options import Chunking
from muisti.core.parsing.options import Options
from muisti.core.parsing.parsed import Parsed
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers

IN_MEMORY = 8 << 20  # bytes of a file that are held in memory; more go to a temporary file
_BLOCK = 1 << 20
_USUAL = Chunking()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Options of reading and cutting files. `main_content` leaves menus and the like out of web pages."""

    chunking: Chunking = _USUAL
    main_content: bool = False
    encoding: str | None = None

    @property
    def told(self) -> dict[str, Json]:
        """Return what a document says of how it was made: only what is not usual."""
        mine, usual = (msgspec.structs.asdict(one) for one in (self.chunking, _USUAL))
        said: dict[str, Json] = {name: value for name, value in mine.items() if value != usual[name]}
        if self.main_content:
            said["main_content"] = True
        return said if self.encoding is None else {**said, "encoding": self.encoding}


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that a caller gives the documents of a request."""

    category: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    author: str | None = None
    importance: Importance = "medium"
    source: str | None = None
    source_class: SourceClass = "unknown"


class Held:
    """The bytes of a file with their hash, in memory while they are few. A context, which frees them when it ends."""

    def __init__(self, data: Iterable[bytes] = ()) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, prefix="muisti-file-")  # noqa: SIM115  # `close` closes it
        self._digest = sha256()
        self.size = 0
        for piece in data:
            self.write(piece)

    @classmethod
    def of_path(cls, path: Path) -> "Held":
        """Return the bytes of a file on this machine."""
        with path.open("rb") as file:
            return cls(iter(lambda: file.read(_BLOCK), b""))

    def write(self, piece: bytes) -> None:
        """Add bytes behind the others."""
        self._digest.update(piece)
        self.size += len(piece)
        self._file.write(piece)

    @property
    def sha256(self) -> str:
        """The hash of the bytes, in hexadecimal."""
        return self._digest.hexdigest()

    @property
    def stream(self) -> BinaryIO:
        """The bytes as an open file at its start."""
        self._file.seek(0)
        return cast(BinaryIO, self._file)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes in pieces."""
        stream = self.stream
        yield from iter(lambda: stream.read(_BLOCK), b"")

    def close(self) -> None:
        """Free the bytes. Harmless when closed."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def stated_document(
    path: str,
    held: Held,
    stated: Stated,
    reading: Reading,
    mtime: int | None,
    parsed: Parsed | None = None,
    origin: str | None = None,
    language: str | None = None,
) -> NewDocument:
    """Return the document of a file; without `parsed` what is known before it is parsed."""
    facts = FileFacts(
        sha256=held.sha256,
        size=held.size,
        mtime=mtime,
        media_type=None if parsed is None else parsed.media_type,
        title=None if parsed is None else parsed.title,
        pages=None if parsed is None else parsed.pages,
        language=language,
        origin=origin,
        notes=() if parsed is None else parsed.notes,
        options=reading.told,
    )
    return NewDocument(path=path, facts=facts, **msgspec.structs.asdict(stated))


def read_file(
    path: str,
    held: Held,
    stated: Stated,
    reading: Reading,
    mtime: int | None,
    workers: Workers,
    media_type: str | None = None,
    origin: str | None = None,
) -> tuple[NewDocument, Cuts]:
    """Parse and cut a file. The caller closes the cuts.

    Raises:
        Unreadable: the file gives no text; nothing of it is kept.
        InvalidInput: the options of chunking are not valid.
    """
    options = Options(main_content=reading.main_content, encoding=reading.encoding, media_type=media_type)
    cuts = Cuts()
    try:
        with parse(held.stream, path, options, workers) as parsed:
            for one in cut(parsed, reading.chunking, parsed.note):
                cuts.append(one)
            language = language_of(parsed.language, cuts)
            return stated_document(path, held, stated, reading, mtime, parsed, origin, language), cuts
    except BaseException:  # whatever ends the reading, the temporary file is deleted; the error goes on
        cuts.close()
        raise

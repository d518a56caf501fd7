"""Files on their way to documents: their bytes, cuts, options and language, within bounded memory."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

import msgspec

from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.model.choices import Importance, SourceClass
from muisti.core.model.tasks import NewItem
from muisti.core.model.values import Json
from muisti.core.parsing.chunking.options import Chunking
from muisti.core.parsing.detect import LANGUAGES
from muisti.core.parsing.parsed import Parsed
from muisti.core.parsing.pieces import Cut
from muisti.core.support.regex import regex
from muisti.core.text.language import told

CUTS_IN_MEMORY = 4_000_000  # characters
_LENGTH = 4  # bytes before each cut in the file
_DECODER = msgspec.msgpack.Decoder(Cut)


def key_of(text: str) -> bytes:
    """Return what identifies the text of a chunk.

    >>> key_of("a") == key_of("a") != key_of("A")
    True
    """
    return blake2b(text.encode(), digest_size=16).digest()


class Cuts:
    """Cuts in their order, in memory while they are few, else in a file that is deleted when this context ends.

    A write may be tried several times, so its cuts can be read again. `keys` identify their texts.

    Raises `OSError` where there is no room for the file.
    """

    def __init__(self, cuts: Iterable[Cut] = ()) -> None:
        self.keys: list[bytes] = []
        self.characters = 0  # of the text, without what overlaps
        self.size = 0  # characters of all cuts
        self._held: list[Cut] = []
        self._file: BinaryIO | None = None
        for one in cuts:
            self.append(one)

    def append(self, cut: Cut) -> None:
        """Add a cut behind the others."""
        self.keys.append(key_of(cut.text))
        self.characters += len(cut.text) - cut.overlap
        self.size += len(cut.text)
        self._held.append(cut)
        if self._file is not None or self.size > CUTS_IN_MEMORY:
            self._spill()

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Cut]:
        if self._file is None:
            yield from self._held
            return
        self._file.flush()
        with open(self._file.name, "rb") as file:
            while head := file.read(_LENGTH):
                yield _DECODER.decode(file.read(int.from_bytes(head, "big")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Delete the file, if there is one. Harmless when closed."""
        if self._file is not None:
            self._file.close()

    def _spill(self) -> None:
        if self._file is None:
            self._file = cast(BinaryIO, tempfile.NamedTemporaryFile(prefix="muisti-cuts-"))  # noqa: SIM115  # `close` closes it
        for one in self._held:
            encoded = msgspec.msgpack.encode(one)
            self._file.write(len(encoded).to_bytes(_LENGTH, "big") + encoded)
        self._held.clear()


PROGRAMMING = frozenset(LANGUAGES.values())
SAMPLES = 8  # chunks of text that tell the language of a document
SAMPLE = 2_000  # characters of each
_WORDS = regex(r"[^\W\d_]+")
_TAG = regex(r"[a-z]{2,3}(?=[-_])", re.IGNORECASE)


def language_of(stated: str | None, cuts: Iterable[Cut]) -> str | None:
    """Return the language of a document: the stated one, without its region, else the one of most chunks of text.

    >>> language_of("de-AT", ()), language_of(None, [Cut(text="Where is the key of the workshop?")])
    ('de', 'en')
    """
    if stated is not None and stated.strip():
        short = _TAG.match(stated.strip())
        return (short[0] if short else stated.strip()).casefold()
    texts = (one.text[one.overlap :][:SAMPLE] for one in cuts if one.kind in ("text", "list", "note"))
    found = (told([word.casefold() for word in _WORDS.findall(text)]) for text in islice(texts, SAMPLES))
    votes = Counter(one for one in found if one is not None)
    return votes.most_common(1)[0][0] if votes else None


def of_chunk(cut: Cut, document: object) -> str | None:
    """Return the language of a chunk: its own, else that of its document, unless either of them is code."""
    if cut.language is not None or cut.kind == "code":
        return cut.language
    return document if isinstance(document, str) and document not in PROGRAMMING else None


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


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a task: how its files are read, and the fields that their documents get."""

    stated: Stated = Stated()
    reading: Reading = Reading()


class File(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Place of the bytes of an item: in a blob of the task, or at a path of this machine.

    `member` is the place of a member in that archive. `origin` is the path below the folder of the server's own files.
    """

    blob: str | None = None
    server_path: str | None = None
    member: int | None = None
    mtime: int | None = None
    media_type: str | None = None
    origin: str | None = None

    def item(self, path: str) -> NewItem:
        """Return the item of a task that stores this file as the document at a path."""
        return NewItem(path, msgspec.to_builtins(self))


USUAL_FILE = File()


def stated_document(
    path: str, held: Held, job: Job, file: File, parsed: Parsed | None = None, language: str | None = None
) -> NewDocument:
    """Return the document of a file; without `parsed` what is known before it is parsed."""
    facts = FileFacts(
        sha256=held.sha256,
        size=held.size,
        mtime=file.mtime,
        media_type=None if parsed is None else parsed.media_type,
        title=None if parsed is None else parsed.title,
        pages=None if parsed is None else parsed.pages,
        language=language,
        origin=None if parsed is None else file.origin,
        notes=() if parsed is None else tuple(parsed.notes),
        options=job.reading.told,
    )
    return NewDocument(path=path, facts=facts, **msgspec.structs.asdict(job.stated))

"""Documents as objects: what is known of each, its chunks in order, and the outcomes of writes.

A document is a versioned memory of the kind `document`, named by its path within the category of its caller's key. Its
chunks are memories of the kind `chunk` below it. What the service knows of both is in their `structure`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args

import msgspec

from muisti.core.model.choices import Importance, SourceClass
from muisti.core.model.chunks import Chunk
from muisti.core.model.outcomes import Flag, Plan
from muisti.core.model.times import from_us
from muisti.core.model.values import Json, Memory, Seq
from muisti.core.parsing.pieces import Cut

DocumentSort = Literal["path", "-path", "-indexed_at", "indexed_at"]
DOCUMENT_SORTS: tuple[DocumentSort, ...] = get_args(DocumentSort)
Outcome = Literal["created", "updated", "unchanged", "moved"]
SYNC_MAX = 100_000  # paths in one request
NAME_BYTES, PLACE_BYTES = 1_000, 5_000  # of JSON: of a title or a name in a structure, and of all of a sort together


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the file that a document was made from; what is None is not known.

    `sha256` is that of the file's bytes, in hexadecimal. `size` is in bytes, `mtime` in microseconds since 1970.
    `notes` say what of the file was left out. `options` are those of parsing and chunking. `origin` is the path below
    the folder of the server's own files.
    """

    sha256: str
    size: int
    mtime: int | None = None
    media_type: str | None = None
    title: str | None = None
    pages: int | None = None
    language: str | None = None
    origin: str | None = None
    notes: tuple[str, ...] = ()
    options: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])


class NewDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document as a caller states it. Its chunks share its tags, metadata, author, importance and source class."""

    path: str
    facts: FileFacts
    category: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])
    author: str | None = None
    importance: Importance = "medium"
    source: str | None = None
    source_class: SourceClass = "unknown"


class Document(msgspec.Struct, frozen=True):
    """A document in one of its versions, which `memory` holds."""

    memory: Memory

    @property
    def path(self) -> str:
        return self.memory.document or ""

    @property
    def title(self) -> str:
        return self.memory.content

    @property
    def sha256(self) -> str:
        return str(self.memory.structure.get("sha256", ""))

    @property
    def media_type(self) -> str | None:
        return self._text("media_type")

    @property
    def language(self) -> str | None:
        return self._text("language")

    @property
    def size(self) -> int:
        return self._number("size") or 0

    @property
    def mtime(self) -> datetime | None:
        at = self._number("mtime")
        return None if at is None else from_us(at)

    @property
    def pages(self) -> int | None:
        return self._number("pages")

    @property
    def chunks(self) -> int:
        return self._number("chunks") or 0

    @property
    def characters(self) -> int:
        return self._number("characters") or 0

    @property
    def lines(self) -> int:
        """Number of line breaks."""
        return self._number("lines") or 0

    @property
    def tokens(self) -> int:
        """Words, punctuation marks and CJK characters of all chunks, what overlaps counted twice."""
        return self._number("tokens") or 0

    @property
    def origin(self) -> str | None:
        """Path of the file below the folder of the server's own files, from which the server read it."""
        return self._text("origin")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what of the file was left out, such as attachments."""
        notes = self.memory.structure.get("notes")
        return tuple(map(str, notes)) if isinstance(notes, list) else ()

    @property
    def options(self) -> Mapping[str, Json]:
        options = self.memory.structure.get("options")
        return options if isinstance(options, dict) else {}

    def _text(self, name: str) -> str | None:
        value = self.memory.structure.get(name)
        return value if isinstance(value, str) else None

    def _number(self, name: str) -> int | None:
        value = self.memory.structure.get(name)
        return value if isinstance(value, int) else None


class ChunkPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the chunks of a document, in their order; `total` counts all of them."""

    document: Document
    items: tuple[Chunk, ...]
    total: int
    next_cursor: str | None
    seq: Seq


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over all documents that meet the filters of a list; `size` is in bytes."""

    documents: int = 0
    chunks: int = 0
    characters: int = 0
    size: int = 0


class DocumentPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of documents."""

    items: tuple[Document, ...]
    totals: Totals
    next_cursor: str | None
    seq: Seq


class Put(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of storing a document, with counts of its chunks.

    `kept` chunks stay in their version. `changed` ones keep their id and text and move to another page, path or tag.
    """

    document: Document
    outcome: Outcome
    added: int = 0
    kept: int = 0
    changed: int = 0
    ended: int = 0
    flags: tuple[Flag, ...] = ()
    moved_from: str | None = None


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a write of several documents. `plan` is that of a dry run, None otherwise."""

    items: tuple[Put, ...]
    seq: Seq
    plan: Plan | None = None
    commit: float = 0.0
    replayed: bool = False


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A file that exists, as the caller of `sync` lists it. Without `sha256` its size and mtime are compared."""

    path: str
    sha256: str | None = None
    size: int | None = None
    mtime: int | None = None


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of comparing documents with the files that exist.

    `wanted` are new and changed files, which the caller sends next. `ended` are documents whose file is gone. `moved`
    are pairs of the path before and after. With a `plan` nothing was stored.
    """

    wanted: tuple[str, ...]
    ended: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    unchanged: int
    seq: Seq
    chunks_ended: int = 0
    plan: Plan | None = None
    commit: float = 0.0


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of pruning: paths of documents, ids of chunks and names of entities that ended.

    `unknown` counts documents of code whose source the server does not know. With a `plan` nothing was stored.
    """

    stale_code: tuple[str, ...]
    unknown: int
    orphaned_chunks: tuple[str, ...]
    orphaned_entities: tuple[str, ...]
    more: bool
    seq: Seq
    plan: Plan | None = None
    commit: float = 0.0


def structure_of(cut: Cut) -> dict[str, Json]:
    """Return what a chunk's `structure` says of its cut: only what is not usual. Names of any length are cut to fit."""
    said: dict[str, Json] = {
        "overlap": cut.overlap or None,
        "piece": None if cut.kind == "text" else cut.kind,
        "page": cut.page,
        "headings": list[Json](fitting(cut.headings, PLACE_BYTES)) or None,
        "language": shortened(cut.language),
        "symbol": shortened(cut.symbol),
        "defines": list[Json](fitting(cut.defines, PLACE_BYTES)) or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def fitting(names: Iterable[str], most: int) -> Iterator[str]:
    """Yield the first names, each cut to `NAME_BYTES` of JSON, as long as they have at most `most` together."""
    for name in names:
        short = shortened(name) or ""
        most -= len(msgspec.json.encode(short)) + len(", ")
        if most < 0:
            return
        yield short


def shortened(name: str | None) -> str | None:
    """Return the beginning of a name whose JSON has at most `NAME_BYTES`; None for None."""
    while name and (size := len(msgspec.json.encode(name))) > NAME_BYTES:
        name = name[: min(len(name) - 1, len(name) * NAME_BYTES // size)]
    return name


def joined(cuts: Sequence[Cut]) -> str:
    """Return the text that cuts were made from.

    >>> joined([Cut(text="One two"), Cut(text="two three", overlap=3)])
    'One two three'
    """
    return "".join(cut.text[cut.overlap :] for cut in cuts)

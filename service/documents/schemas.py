"""Requests and replies about documents and their chunks."""

from datetime import datetime
from typing import Annotated, Any, Self, cast, get_args

from msgspec import Meta, Struct

from muisti.core.documents.model import SYNC_MAX, Listed, Outcome, Synced
from muisti.core.documents.view import STRATEGIES, Chunking, Reading, Stated
from muisti.core.model.choices import PRUNE_STRATEGIES, PruneStrategy
from muisti.core.model.chunks import Chunk
from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Ending
from muisti.core.model.times import to_us
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, copied
from muisti.service.schemas.fields import doc
from muisti.service.schemas.policy import FlagReply
from muisti.service.schemas.replies import Cursor

USUAL = Chunking()

Sha256 = Annotated[
    str,
    doc(
        "SHA-256 of the file's bytes, in hexadecimal.",
        pattern="^[0-9a-f]{64}$",
        examples=["b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"],
    ),
]
Size = Annotated[int, doc("Size of the file in bytes.", ge=0)]
Modified = Annotated[datetime, doc("When the file was changed last.")]
Title = Annotated[str, doc("Title that the file states, its first heading, or its path.")]
MediaType = Annotated[str, doc("Format of the file.", examples=["text/markdown"])]
Language = Annotated[str, doc("Programming language, or tag of the language of its text.", examples=["python"])]
Strategy = Annotated[
    str, doc("`auto` cuts code between definitions and all else by its structure.", enum=list(STRATEGIES))
]
Tokens = Annotated[int, doc("Tokens of a chunk at most.")]
Overlap = Annotated[int, doc("Tokens that a chunk repeats of the one before.")]
MainContent = Annotated[bool, doc("Leave menus and the like out of web pages.")]
Encoding = Annotated[str, doc("Encoding of a file, whatever it states itself; not of `content`, which is text.")]
Count = Annotated[int, Meta(ge=0)]


class DocumentBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document to store: its text in `content`, or a file of the server's machine in `server_path`."""

    path: fields.DocumentPath | None = None
    content: Annotated[str, doc("Text of the document, of any length that a body may have.")] | None = None
    server_path: Annotated[str, doc("A file on the server, where the settings allow it.")] | None = None
    media_type: MediaType | None = None
    mtime: Modified | None = None
    category: fields.Category | None = None
    tags: fields.Tags = []
    metadata: fields.Metadata = {}
    author: fields.Author | None = None
    importance: fields.ImportanceName = "medium"
    source: fields.Source | None = None
    source_class: fields.SourceClassName = "unknown"
    strategy: Strategy = USUAL.strategy
    size: Tokens = USUAL.size
    overlap: Overlap = USUAL.overlap
    main_content: MainContent = False
    encoding: Encoding | None = None

    def stated(self) -> Stated:
        return copied(Stated, self, tags=tuple(self.tags))

    def reading(self) -> Reading:
        """Return how the file is parsed and cut; the core checks the values."""
        chunking = Chunking(strategy=cast(Any, self.strategy), size=self.size, overlap=self.overlap)
        encoding = self.encoding if self.content is None else None
        return Reading(chunking=chunking, main_content=self.main_content, encoding=encoding)

    @property
    def modified_us(self) -> int | None:
        """Return `mtime` in microseconds. Raises `InvalidInput` when it has no time zone."""
        return _us(self.mtime, "$.mtime")


class ListedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that exists. Without `sha256` its size and time are compared."""

    path: fields.DocumentPath
    sha256: Sha256 | None = None
    size: Size | None = None
    mtime: Modified | None = None

    def listed(self, path: str) -> Listed:
        """Return the file for the core; `path` is its place in the request."""
        return copied(Listed, self, mtime=_us(self.mtime, f"{path}.mtime"))


def _us(at: datetime | None, path: str) -> int | None:
    if at is not None and at.tzinfo is None:
        raise InvalidInput.at(path, "needs a time zone, as in 2026-05-01T12:00:00Z")
    return None if at is None else to_us(at)


class SyncBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All files that exist below a folder. Documents of that folder without a file end, or move to a new file."""

    files: Annotated[list[ListedFile], Meta(extra_json_schema={"maxItems": SYNC_MAX})]
    folder: Annotated[str, doc("Beginning of the paths that are compared; empty: all.", examples=["docs/"])] = ""
    category: fields.Category | None = None

    def listed(self) -> list[Listed]:
        return [one.listed(f"$.files[{number}]") for number, one in enumerate(self.files)]


class DocumentReply(Reply, frozen=True, kw_only=True):
    """A document in one of its versions."""

    within = ("memory",)
    named = {"indexed_at": "memory.updated_at"}

    id: fields.MemoryId
    version: Annotated[int, doc("1, 2, … as it changes.", ge=1)]
    path: fields.DocumentPath
    title: Title
    category: fields.Category | None
    tags: fields.Tags
    metadata: fields.Metadata
    author: fields.Author | None
    importance: fields.ImportanceName
    source: fields.Source | None
    source_class: fields.SourceClassName
    trust: fields.Trust
    media_type: MediaType | None
    language: Language | None
    pages: Annotated[int | None, doc("Pages, slides or sheets; null where the format has none.")]
    sha256: Sha256
    size: Size
    mtime: Modified | None
    chunks: Count
    characters: Annotated[int, doc("Characters of the text.", ge=0)]
    lines: Annotated[int, doc("Line breaks of the text.", ge=0)]
    tokens: Annotated[int, doc("Tokens of all chunks, overlaps included.", ge=0)]
    notes: Annotated[list[str], doc("What of the file was left out or guessed, such as attachments or the encoding.")]
    options: Annotated[dict[str, Any], doc("How it was parsed and cut, where that is not usual.")]
    created_at: fields.Time
    indexed_at: fields.Time


class PutReply(DocumentReply, frozen=True, kw_only=True):
    """A document that was stored, with counts of its chunks."""

    within = ("document", "document.memory")
    named = {"indexed_at": "document.memory.updated_at"}

    outcome: Annotated[
        str, doc("`unchanged`: the same file was there, and nothing was written.", enum=list(get_args(Outcome)))
    ]
    added: Annotated[int, doc("New chunks.", ge=0)]
    kept: Annotated[int, doc("Chunks that stay in their version.", ge=0)]
    changed: Annotated[int, doc("Chunks that keep their id and text, with another place or tag.", ge=0)]
    ended: Annotated[int, doc("Chunks that have ended.", ge=0)]
    moved_from: fields.DocumentPath | None
    flags: Annotated[list[FlagReply], doc("Empty when all is stored as it was sent.")]


class DocumentsReply(Reply, frozen=True, kw_only=True):
    """Documents, by path unless `sort` names another order, with sums over all pages."""

    within = ("totals",)
    named = {"total": "totals.documents"}

    items: list[DocumentReply]
    total: Annotated[int, doc("Documents on all pages.", ge=0)]
    chunks: Annotated[int, doc("Their chunks.", ge=0)]
    characters: Annotated[int, doc("Characters of their texts.", ge=0)]
    size: Annotated[int, doc("Bytes of their files.", ge=0)]
    next_cursor: Cursor


class ChunkReply(Reply, frozen=True, kw_only=True):
    """A chunk at its place in the text of its document."""

    id: fields.MemoryId
    version: int
    content: fields.Content
    position: fields.Position
    start: Annotated[int, doc("Offset of its own text in characters.", ge=0)]
    stop: Annotated[int, doc("Offset behind its last character.", ge=0)]
    overlap: Annotated[int, doc("Characters at its start that repeat the chunk before.", ge=0)]
    first_line: Annotated[int, doc("Line of `start`, from 1.", ge=1)]
    last_line: Annotated[int, doc("Line of its last character.", ge=1)]
    page: Annotated[int | None, doc("Page, slide or sheet, from 1.")]
    headings: Annotated[list[str], doc("Titles that it stands under, outermost first.")]
    language: Language | None
    symbol: Annotated[str | None, doc("Definition that a chunk of code is in.")]
    kind: Annotated[str, doc("What its text is.", examples=["text"])]
    tokens: Count

    @classmethod
    def of(cls, value: Chunk, /, **more: Any) -> Self:
        memory, said = value.memory, value.memory.structure
        given = {name: getattr(memory, name) for name in ("id", "version", "content", "tokens")}
        stated = {name: said.get(name) for name in ("page", "language", "symbol")}
        headings, kind = said.get("headings", []), str(said.get("piece", "text"))
        return super().of(value, **given, **stated, position=memory.position or 0, headings=headings, kind=kind, **more)


class ChunksReply(Reply, frozen=True, kw_only=True):
    """Chunks of a document, in their order."""

    named = {"document": "document.memory.id", "path": "document.path"}

    document: fields.MemoryId
    path: fields.DocumentPath
    items: list[ChunkReply]
    total: Annotated[int, doc("Chunks on all pages.", ge=0)]
    next_cursor: Cursor


class CutReply(Reply, frozen=True, kw_only=True):
    """A chunk as it would be cut."""

    start: Annotated[int, doc("Offset of its text, overlap included.", ge=0)]
    stop: Count
    overlap: Count
    tokens: Count
    page: int | None
    headings: list[str]
    language: Language | None
    symbol: str | None
    kind: str
    beginning: Annotated[str, doc("Its first words behind the overlap.")]


class PreviewReply(Reply, frozen=True, kw_only=True):
    """Where a file would be cut. Nothing was stored. `items` has the first 1,000 chunks."""

    items: list[CutReply]
    chunks: Annotated[int, doc("How many there would be.", ge=0)]


class MoveReply(Reply, frozen=True, kw_only=True):
    """The path of a document before and after its file moved."""

    before: fields.DocumentPath
    after: fields.DocumentPath


class SyncReply(Reply, frozen=True, kw_only=True):
    """Documents that ended, moved or stayed. Send the files in `wanted` next."""

    wanted: Annotated[list[str], doc("Files that are new or have changed.")]
    ended: Annotated[list[str], doc("Documents that have ended, because their file is gone.")]
    moved: Annotated[list[MoveReply], doc("Documents whose file has moved.")]
    unchanged: Annotated[int, doc("Documents whose file is the same.", ge=0)]
    chunks_ended: Count

    @classmethod
    def of(cls, value: Synced, /, **more: Any) -> Self:
        moved = [MoveReply(before=before, after=after) for before, after in value.moved]
        return super().of(value, moved=moved, **more)


class DocumentEndedReply(Reply, frozen=True, kw_only=True):
    """Counts of what was deleted. An undo of the request brings all of it back."""

    documents: int
    chunks: int
    total: int

    @classmethod
    def of(cls, value: Ending, /, **more: Any) -> Self:
        counts = value.counts
        return cls(documents=counts.get("document", 0), chunks=counts.get("chunk", 0), total=value.total)


class PruneDocumentsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A strategy of pruning; `all` is the three others."""

    strategy: Annotated[PruneStrategy, Meta(extra_json_schema={"enum": list(PRUNE_STRATEGIES)})]


class PruneDocumentsReply(Reply, frozen=True, kw_only=True):
    """Documents, chunks and entities that ended: up to 1,000 of each kind. A rollback brings them back."""

    stale_code: Annotated[list[str], doc("Documents of code whose file is gone or has changed.")]
    unknown: Annotated[int, doc("Documents of code whose file the server does not know.", ge=0)]
    orphaned_chunks: Annotated[list[str], doc("Ids of chunks without a current document or memory.")]
    orphaned_entities: Annotated[list[str], doc("Imported entities that no current memory names.")]
    more: Annotated[bool, doc("There may be more: call again.")]

"""Documents: stored, read in order, compared with the files that exist, deleted; and the source code among them."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from muisti.core.conversations.context.counting import counter
from muisti.core.documents.files import USUAL_FILE
from muisti.core.documents.files import Cuts as Cuts
from muisti.core.documents.files import File as File
from muisti.core.documents.files import Held as Held
from muisti.core.documents.files import Job as Job
from muisti.core.documents.files import Reading as Reading
from muisti.core.documents.files import Stated as Stated
from muisti.core.documents.ingesting import KIND as KIND
from muisti.core.documents.ingesting import Ingester
from muisti.core.documents.ingesting import holds_documents as holds_documents
from muisti.core.documents.model import ChunkPage, Document, DocumentPage, Listed, NewDocument, Pruned, Stored, Synced
from muisti.core.documents.pruning import Ender, Pruner
from muisti.core.documents.pruning import Look as Look
from muisti.core.documents.pruning import Source as Source
from muisti.core.documents.reading import DocumentReader
from muisti.core.documents.reading import Filter as Filter
from muisti.core.documents.storing import TOGETHER as TOGETHER
from muisti.core.documents.storing import Incoming as Incoming
from muisti.core.documents.storing import Storer
from muisti.core.documents.symbols import sql as code
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.reading import CodeReader, Graph, draw
from muisti.core.documents.symbols.sql import Seen
from muisti.core.model.choices import (
    MAP_MAX,
    MAP_MIN,
    MENTIONED_MAX,
    SYMBOLS_MAX,
    USES_MAX,
    EdgeKind,
    PruneStrategy,
    SymbolKind,
)
from muisti.core.model.code import CodeMap, Outline, Resolution, Symbols, Uses
from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Ending
from muisti.core.model.places import DocumentName
from muisti.core.model.values import RequestKey, Seq
from muisti.core.parsing.chunking.cutting import Preview as Preview
from muisti.core.parsing.chunking.options import STRATEGIES as STRATEGIES
from muisti.core.parsing.chunking.options import Chunking as Chunking
from muisti.core.query.points import AsOf
from muisti.core.store.database import Database
from muisti.core.write.calls import Calls

# Source code among the documents of a space: symbols, what uses them and what they use, outlines and maps


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """The source code that one caller sees. Every method raises `NotFound` when there is no such space."""

    calls: Calls
    database: Database
    index: CodeIndex
    reader: CodeReader

    def find(
        self, space: str, query: str, *, kind: SymbolKind | None = None, path: str | None = None, limit: int = 20
    ) -> Symbols:
        """Return the symbols of a name, `Client.get` or `file.py:Client.get`; else those whose names contain it."""
        _check("limit", limit, 1, SYMBOLS_MAX)
        return self.reader.find(space, query, self.calls.caller, self.calls.clock(), kind=kind, path=path, limit=limit)

    def callers(self, space: str, symbol: str, *, kinds: Sequence[EdgeKind] = ("calls",), limit: int = 100) -> Uses:
        """Return what uses the symbols of a name, by file and line.

        Raises:
            NotFound: the caller sees no symbol of this name.
        """
        _check("limit", limit, 1, USES_MAX)
        return self.reader.callers(space, symbol, self.calls.caller, self.calls.clock(), kinds=kinds, limit=limit)

    def callees(self, space: str, symbol: str, *, kinds: Sequence[EdgeKind] = ("calls",), limit: int = 100) -> Uses:
        """Return what the symbols of a name use, and what is defined inside of them.

        Raises:
            NotFound: the caller sees no symbol of this name.
        """
        _check("limit", limit, 1, USES_MAX)
        return self.reader.callees(space, symbol, self.calls.caller, self.calls.clock(), kinds=kinds, limit=limit)

    def outline(self, space: str, path: str) -> Outline:
        """Return the symbols of a file, in order.

        Raises:
            NotFound: the caller sees no source file of this path.
        """
        return self.reader.outline(space, path, self.calls.caller, self.calls.clock())

    def map(self, space: str, *, token_budget: int = 1_000, mentioned: Sequence[str] = ()) -> CodeMap:
        """Return the most used definitions as a text of at most `token_budget` tokens of cl100k_base.

        `mentioned` are paths, folders and names of symbols that the map shall be about.
        """
        _check("token_budget", token_budget, MAP_MIN, MAP_MAX)
        if len(mentioned) > MENTIONED_MAX:
            raise InvalidInput.at("$.mentioned", f"has {len(mentioned)} entries; {MENTIONED_MAX} are allowed")
        opened = self.reader.opened(space)
        found = opened.space
        seen = Seen(self.calls.caller.own_category, self.calls.clock())
        symbols, edges = self.database.read([code.all_symbols(found, seen), code.all_edges(found, seen)])
        drawn = draw(Graph(symbols, edges), mentioned, token_budget, counter().count)
        return CodeMap(**drawn._asdict(), pending=opened.pending, degraded=opened.degraded, seq=str(found.seq))

    def resolve(self, space: str) -> Resolution:
        """Read and resolve all files that have changed since the last time."""
        return self.index.resolve(space)


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput.at(f"$.{name}", f"is {value}; {least} to {most:,} are allowed")


def _alive() -> None:
    return


class Documents(msgspec.Struct, frozen=True, kw_only=True):
    """Documents as one caller reads, stores and ends them. No read counts as a retrieval."""

    calls: Calls
    reader: DocumentReader
    storer: Storer
    ingester: Ingester
    ender: Ender
    pruner: Pruner

    def put(
        self,
        space: str,
        incoming: Sequence[Incoming],
        *,
        request: RequestKey | None = None,
        alive: Callable[[], None] = _alive,
    ) -> Stored:
        """Store up to 16 documents, all or none; see `Storer.put`."""
        return self.storer.put(space, incoming, self.calls.new(request), alive)

    def ingest(
        self, space: str, path: str, held: Held, job: Job, file: File = USUAL_FILE, *, request: RequestKey | None = None
    ) -> Stored:
        """Parse, cut and store a file as the document at a path; see `Ingester.put`."""
        return self.ingester.put(space, path, held, job, self.calls.new(request), file)

    def preview(self, path: str, held: Held, reading: Reading) -> Iterator[Preview]:
        """Yield where a file would be cut. Nothing is stored.

        Raises:
            Unreadable, InvalidInput.
        """
        return self.ingester.preview(path, held, reading)

    def unchanged(self, space: str, new: NewDocument) -> Document | None:
        """Return the document at a path when it was made from the same file and options, so that none is parsed."""
        return self.storer.current(space, new, self.calls.new())

    def get(self, space: str, name: DocumentName, *, as_of: AsOf | None = None) -> tuple[Document, Seq]:
        """Return a document; see `DocumentReader.get`."""
        return self.reader.get(space, name, self.calls.caller, self.calls.clock(), as_of)

    def page(
        self,
        space: str,
        wanted: Filter,
        *,
        sort: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> DocumentPage:
        """Return a page of documents, with sums over all; see `DocumentReader.page`."""
        caller, now = self.calls.caller, self.calls.clock()
        return self.reader.page(space, wanted, caller, now, as_of, sort=sort, limit=limit, cursor=cursor)

    def chunks(
        self, space: str, name: DocumentName, *, limit: int = 50, cursor: str | None = None, as_of: AsOf | None = None
    ) -> ChunkPage:
        """Return a page of the chunks of a document, in order; see `DocumentReader.chunks`."""
        caller, now = self.calls.caller, self.calls.clock()
        return self.reader.chunks(space, name, caller, now, as_of, limit=limit, cursor=cursor)

    def text(self, space: str, name: DocumentName, *, as_of: AsOf | None = None) -> tuple[Document, Iterator[str]]:
        """Return a document and its text in pieces; see `DocumentReader.text`."""
        return self.reader.text(space, name, self.calls.caller, self.calls.clock(), as_of)

    def sync(self, space: str, files: Sequence[Listed], within: Filter) -> Synced:
        """Compare documents with the files that exist; see `Ender.sync`."""
        return self.ender.sync(space, files, within, self.calls.new())

    def delete(self, space: str, name: DocumentName) -> Ending:
        """End a document with its chunks; see `Ender.delete`."""
        return self.ender.delete(space, name, self.calls.new())

    def prune(self, space: str, strategy: PruneStrategy, look: Look) -> Pruned:
        """End what has lost its source; see `Pruner.prune`."""
        return self.pruner.prune(space, strategy, look, self.calls.new())

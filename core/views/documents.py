"""Documents: stored from the cuts of their files, read in order, compared with the files that exist, deleted."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from muisti.core.documents.cuts import Cuts as Cuts
from muisti.core.documents.files import Held as Held
from muisti.core.documents.files import Reading as Reading
from muisti.core.documents.files import Stated as Stated
from muisti.core.documents.ingesting import KIND as KIND
from muisti.core.documents.ingesting import USUAL_FILE, Ingester
from muisti.core.documents.ingesting import File as File
from muisti.core.documents.ingesting import Job as Job
from muisti.core.documents.ingesting import holds_documents as holds_documents
from muisti.core.documents.pruning import Ender, Pruner
from muisti.core.documents.pruning import Look as Look
from muisti.core.documents.pruning import Source as Source
from muisti.core.documents.reading import DocumentReader
from muisti.core.documents.reading import Filter as Filter
from muisti.core.documents.storing import TOGETHER as TOGETHER
from muisti.core.documents.storing import Incoming as Incoming
from muisti.core.documents.storing import Storer
from muisti.core.model.conversations import Ending
from muisti.core.model.filing import (
    ChunkPage,
    Document,
    DocumentName,
    DocumentPage,
    Listed,
    NewDocument,
    Pruned,
    Stored,
    Synced,
)
from muisti.core.model.terms import PruneStrategy
from muisti.core.model.values import RequestKey, Seq
from muisti.core.parsing.chunking.cutting import Preview as Preview
from muisti.core.parsing.chunking.options import STRATEGIES as STRATEGIES
from muisti.core.parsing.chunking.options import Chunking as Chunking
from muisti.core.query.points import AsOf
from muisti.core.views.calls import Calls


def _alive() -> None:
    return


class DocumentParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts that `Documents` binds to a caller."""

    reader: DocumentReader
    storer: Storer
    ingester: Ingester
    ender: Ender
    pruner: Pruner


class Documents:
    """Documents as one caller reads, stores and ends them. No read counts as a retrieval."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: DocumentParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def put(
        self,
        space: str,
        incoming: Sequence[Incoming],
        *,
        request: RequestKey | None = None,
        alive: Callable[[], None] = _alive,
    ) -> Stored:
        """Store up to 16 documents, all or none; see `Storer.put`."""
        return self._parts.storer.put(space, incoming, self._calls.new(request), alive)

    def ingest(
        self,
        space: str,
        path: str,
        held: Held,
        job: Job,
        file: File = USUAL_FILE,
        *,
        request: RequestKey | None = None,
    ) -> Stored:
        """Parse, cut and store a file as the document at a path; see `Ingester.put`."""
        return self._parts.ingester.put(space, path, held, job, self._calls.new(request), file)

    def preview(self, path: str, held: Held, reading: Reading) -> Iterator[Preview]:
        """Yield where a file would be cut. Nothing is stored.

        Raises:
            Unreadable, InvalidInput.
        """
        return self._parts.ingester.preview(path, held, reading)

    def unchanged(self, space: str, new: NewDocument) -> Document | None:
        """Return the document at a path when it was made from the same file and options, so that none is parsed."""
        return self._parts.storer.current(space, new, self._calls.new())

    def get(self, space: str, name: DocumentName, *, as_of: AsOf | None = None) -> tuple[Document, Seq]:
        """Return a document; see `DocumentReader.get`."""
        return self._parts.reader.get(space, name, self._calls.caller, self._calls.clock(), as_of)

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
        caller, now = self._calls.caller, self._calls.clock()
        return self._parts.reader.page(space, wanted, caller, now, as_of, sort=sort, limit=limit, cursor=cursor)

    def chunks(
        self,
        space: str,
        name: DocumentName,
        *,
        limit: int = 50,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> ChunkPage:
        """Return a page of the chunks of a document, in order; see `DocumentReader.chunks`."""
        caller, now = self._calls.caller, self._calls.clock()
        return self._parts.reader.chunks(space, name, caller, now, as_of, limit=limit, cursor=cursor)

    def text(self, space: str, name: DocumentName, *, as_of: AsOf | None = None) -> tuple[Document, Iterator[str]]:
        """Return a document and its text in pieces; see `DocumentReader.text`."""
        return self._parts.reader.text(space, name, self._calls.caller, self._calls.clock(), as_of)

    def sync(self, space: str, files: Sequence[Listed], within: Filter) -> Synced:
        """Compare documents with the files that exist; see `Ender.sync`."""
        return self._parts.ender.sync(space, files, within, self._calls.new())

    def delete(self, space: str, name: DocumentName) -> Ending:
        """End a document with its chunks; see `Ender.delete`."""
        return self._parts.ender.delete(space, name, self._calls.new())

    def prune(self, space: str, strategy: PruneStrategy, look: Look) -> Pruned:
        """End what has lost its source; see `Pruner.prune`."""
        return self._parts.pruner.prune(space, strategy, look, self._calls.new())

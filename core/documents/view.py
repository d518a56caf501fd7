"""Documents: stored, read in order, compared with the files that exist, deleted; and the source code among them."""

from collections.abc import Callable, Iterator, Sequence

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
from muisti.core.documents.model import Document, Listed, NewDocument, Pruned, Stored, Synced
from muisti.core.documents.pruning import Ender, Pruner
from muisti.core.documents.pruning import Look as Look
from muisti.core.documents.pruning import Source as Source
from muisti.core.documents.reading import DocumentReader
from muisti.core.documents.reading import Filter as Filter
from muisti.core.documents.storing import TOGETHER as TOGETHER
from muisti.core.documents.storing import Incoming as Incoming
from muisti.core.documents.storing import Storer
from muisti.core.model.choices import (
    PruneStrategy,
)
from muisti.core.model.outcomes import Ending
from muisti.core.model.places import DocumentName
from muisti.core.model.values import RequestKey
from muisti.core.parsing.chunking.cutting import Preview as Preview
from muisti.core.parsing.chunking.options import STRATEGIES as STRATEGIES
from muisti.core.parsing.chunking.options import Chunking as Chunking


def _alive() -> None:
    return


class Documents(DocumentReader, frozen=True, kw_only=True):
    """Documents as one caller reads, stores and ends them."""

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

    def sync(self, space: str, files: Sequence[Listed], within: Filter) -> Synced:
        """Compare documents with the files that exist; see `Ender.sync`."""
        return self.ender.sync(space, files, within, self.calls.new())

    def delete(self, space: str, name: DocumentName) -> Ending:
        """End a document with its chunks; see `Ender.delete`."""
        return self.ender.delete(space, name, self.calls.new())

    def prune(self, space: str, strategy: PruneStrategy, look: Look) -> Pruned:
        """End what has lost its source; see `Pruner.prune`."""
        return self.pruner.prune(space, strategy, look, self.calls.new())

"""A document on its way to the store: what a request brings, what is there, and what becomes of its chunks."""

from collections.abc import Mapping, Sequence

import msgspec

from muisti.core.documents.cuts import Cuts
from muisti.core.documents.planning import Alignment
from muisti.core.documents.staging import ChunkStaging, Figures
from muisti.core.model.filing import Document, NewDocument, Outcome, Put
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Draft, Memory
from muisti.core.store.database import Row
from muisti.core.store.sql import version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.intake import Accepted

SMALL = 1_000  # new chunks that one batch takes; more go through a hidden space
SMALL_CHARACTERS = 4_000_000


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A document to store, and its cuts. With `moved_from`, the document at that path moves to the new one.

    `path` is the place of the document in the request.
    """

    new: NewDocument
    cuts: Cuts
    moved_from: str | None = None
    path: str = "$"


class Work(msgspec.Struct):
    """A document on its way: what is there, what shall be there, and what the batch does about it."""

    incoming: Incoming
    before: Memory | None
    row: int
    id: str
    draft: Draft
    alignment: Alignment = Alignment()
    accepted: Mapping[int, Accepted] = {}
    figures: Figures = msgspec.field(default_factory=Figures)
    changed: int = 0
    flags: Sequence[Flag] = ()
    staging: ChunkStaging | None = None

    @property
    def is_large(self) -> bool:
        return len(self.alignment.coming) > SMALL or self.incoming.cuts.size > SMALL_CHARACTERS


def memory_of(row: Row, space: SpaceRow) -> Memory:
    return version_rows.memory(row, space.space.name)


def outcome(work: Work, *, is_fresh: bool) -> Outcome:
    if not is_fresh:
        return "unchanged"
    if work.before is None:
        return "created"
    return "moved" if work.before.document != work.incoming.new.path else "updated"


def told(work: Work, memory: Memory, outcome: Outcome) -> Put:
    alignment, chunks = work.alignment, Document(memory).chunks
    added = len(alignment.coming)
    return Put(
        document=Document(memory),
        outcome=outcome,
        added=added,
        changed=work.changed,
        kept=chunks - added - work.changed,
        ended=len(alignment.ended),
        flags=tuple(work.flags),
        moved_from=work.before.document if outcome == "moved" and work.before is not None else None,
    )

"""Replies about exports and imports."""

from datetime import datetime
from typing import Annotated

from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import FieldProblem, doc
from muisti.service.schemas.policy import FlagReply

Skipped = Annotated[
    dict[str, int],
    doc(
        "Skipped memories by reason: `exists` (the id is here), `deleted` (it was here and was deleted), "
        "`twice` (the file has it twice), `joined` (a session, conversation, topic or summary of its name is here). "
        "With them what an importer left out of the file of another system."
    ),
]
REASONS = {
    "exists": "in this space already",
    "deleted": "was deleted here",
    "twice": "twice in the file",
    "a vector of another model": "a vector of another model; the text is embedded again",
}  # of `skipped`, for people; what an importer left out is in words already


class LineReply(Reply, frozen=True, kw_only=True):
    """A line that cannot be imported."""

    named = {"errors": "problems"}

    line: Annotated[int, doc("Counted from 1; 0 when it is not one line that is bad.", ge=0)]
    place: Annotated[str | None, doc("Its place in the file of the other system.")]
    code: str
    errors: list[FieldProblem]


class ImportReply(Reply, frozen=True, kw_only=True):
    """Report of an import."""

    named = {"import_id": "id"}

    import_id: Annotated[int | None, doc("Number to undo it with; null when nothing was imported.")]
    dry_run: bool
    source: Annotated[str | None, doc("The other system that the file came from.")]
    created: Annotated[int, doc("Memories that were imported, or would be.", ge=0)]
    good: Annotated[int, doc("Memories that can be imported; `atomic=false` imports them from a refused file.", ge=0)]
    versions: Annotated[int, doc("Versions that were imported with them.", ge=0)]
    skipped: Skipped
    failed: Annotated[int, doc("Lines that cannot be imported.", ge=0)]
    failures: Annotated[list[LineReply], doc("The first hundred of them.")]
    flags: Annotated[list[FlagReply], doc("The first hundred differences from the lines.")]
    vectors_kept: Annotated[int, doc("Vectors taken from the file.", ge=0)]
    vectors_embedded: Annotated[int, doc("Vectors computed by the model of this server.", ge=0)]
    origin: Annotated[str | None, doc("The point in history that the file shows.")]
    seq: Annotated[str, doc("The space's current point in history.")]


class ImportedReply(Reply, frozen=True, kw_only=True):
    """An import of a space."""

    named = {"import_id": "id"}

    import_id: int
    source: str | None
    actor: Annotated[str, doc("Caller that made it: the id of a key, or `local`.")]
    at: datetime
    memories: Annotated[int, doc("Memories that were imported.", ge=0)]
    first: Annotated[int, doc("Number of its first change.")]
    last: Annotated[int, doc("Number of its last change.")]
    undone: Annotated[int | None, doc("The change that undid it; null if it was not undone.")]


class ImportsReply(Reply, frozen=True, kw_only=True):
    """The last hundred imports of a space, newest first."""

    items: list[ImportedReply]

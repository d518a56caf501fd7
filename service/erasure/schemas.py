"""Requests and replies about permanent erasure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.errors import InvalidInput
from muisti.core.query import filters
from muisti.core.query.filters import Subject
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

FORMAT = "muisti-erasure/1"
US_A_DAY = 86_400_000_000


class PurgeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Memories to erase: those of which any version meets all given conditions, or everything."""

    author: fields.Author | None = None
    source: fields.Source | None = None
    filter: dict[str, Any] | None = None
    older_than_days: Annotated[float, doc("Days since they were created.", gt=0, le=100_000)] | None = None
    everything: bool = False
    confirm: Annotated[str, doc("The name of the space, to erase everything in it.")] | None = None

    def subject(self, now: int) -> Subject:
        """Return the memories to erase; `now` in microseconds.

        Raises:
            InvalidInput: nothing is chosen, or the filter is no good.
        """
        if not self.what():
            raise InvalidInput.at("$", "name an author, a source, a filter or an age, or everything")
        return Subject(
            author=self.author,
            source=self.source,
            filter=None if self.filter is None else filters.parse(self.filter, "$.filter"),
            older_than_us=None if self.older_than_days is None else now - int(self.older_than_days * US_A_DAY),
        )

    def what(self) -> dict[str, Any]:
        """Return the given conditions as the report shows them."""
        given = {name: getattr(self, name) for name in ("author", "source", "filter", "older_than_days")}
        return {name: value for name, value in given.items() if value is not None}

    def check_everything(self, space: str) -> None:
        """Raise `InvalidInput` unless `confirm` is the name of the space, and no condition is given."""
        if self.what():
            raise InvalidInput.at("$.everything", "cannot be combined with conditions")
        if self.confirm != space:
            raise InvalidInput.at("$.confirm", f"to erase everything in the space send its name, {space!r}")


class ReportReply(Reply, frozen=True, kw_only=True):
    """Report of an erasure: the erased rows, and the rows that a search of every place still found."""

    id: str
    space: fields.SpaceName
    what: Annotated[dict[str, Any], doc("The conditions of the request.")]
    by: Annotated[str, doc("Id of the key, or the caller's name without one.")]
    began_at: datetime
    ended_at: datetime
    engine: Annotated[str, doc("Name and version of the database engine.")]
    database: Annotated[str | UnsetType, doc("Name of the database, where there are several.")] = UNSET
    seq: Annotated[str | None, doc("Point of history of the erasure; null when there was nothing.")]
    erased: Annotated[dict[str, int], doc("Erased rows, by table.")]
    found: Annotated[dict[str, int], doc("Rows that are left, by place; 0 when the erasure is complete.")]
    complete: Annotated[bool, doc("Nothing is left in any place that could be searched.")]
    unchecked: Annotated[dict[str, str], doc("Places that could not be searched, and why.")]
    relatives: Annotated[
        list[fields.MemoryId], doc("Memories that stay and name an erased one as their parent, predecessor or source.")
    ]
    format: Literal["muisti-erasure/1"] = FORMAT


class ErasureReply(Reply, frozen=True, kw_only=True):
    """The report of an erasure, plain and signed. The server keeps no copy. A dry run has neither."""

    report: ReportReply | None = None
    signed: Annotated[
        str | None, doc("The report as a compact JWS (RFC 7515), by a key of `GET /v1/signing-keys`.")
    ] = None


class SigningKeysReply(Reply, frozen=True, kw_only=True):
    """A set of keys (RFC 7517): every public key that reports were ever signed with here."""

    keys: list[Mapping[str, str]]

"""Bodies that clients send. A field that is not named here is an error."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from operator import attrgetter
from typing import Annotated, Any, cast, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.anchors import READ, anchor_of
from muisti.core.model.choices import BATCH_MAX, OnConflict
from muisti.core.model.errors import InvalidInput
from muisti.core.model.fields import STATED_TIMES
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Anchor, Draft
from muisti.service.schemas import fields
from muisti.service.schemas.fields import doc


class EntryBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory without its address."""

    content: fields.Content
    kind: fields.KindName = "memory"
    type: fields.TypeName = "fact"
    status: fields.StatusName = "active"
    importance: fields.ImportanceName = "medium"
    author: fields.Author | None = None
    reason: fields.Reason | None = None
    source: fields.Source | None = None
    tags: fields.Tags = []
    metadata: fields.Metadata = {}
    event_at: fields.EventAt | None = None
    valid_from: fields.ValidFrom | None = None
    valid_to: fields.ValidTo | None = None
    expires_at: fields.ExpiresAt | None = None
    ttl: fields.Ttl | None = None
    parent_id: fields.ParentId | None = None
    source_class: fields.SourceClassName = "unknown"
    derived_from: fields.DerivedFrom = []
    anchors: fields.StatedAnchors = []

    def entry(self, category: str, key: str) -> Draft:
        """Return the draft of the memory at an address."""
        return Draft(category=category, key=key, **_values(dict(zip(_NAMES, _ENTRY(self), strict=True)), "$"))


class DraftBody(EntryBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory as a client states it."""

    category: fields.Category | None = None
    key: fields.Key | None = None

    def draft(self, path: str = "$") -> Draft:
        """Return the memory as a draft for the core; `path` is its place in the request, for error messages."""
        given = _values(dict(zip(_NAMES, _ENTRY(self), strict=True)), path)
        return Draft(category=self.category, key=self.key, **given)


class AddBody(DraftBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to add."""

    on_conflict: fields.Conflict | UnsetType = UNSET


class SupersedeBody(DraftBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The memory that replaces another; without category and key it takes over those of the other."""


class RestoreBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Version to restore. The default is the last one of a deleted memory, else the one before the last."""

    version: Annotated[int, doc("Its number in the history.", ge=1)] | None = None


class UndoBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to undo: those of a request, of an author's memories, or, without both, of your own last request."""

    last: Annotated[int, doc("How many; default the whole request, of an author 1.", ge=1, le=1000)] | UnsetType = UNSET
    author: fields.Author | None = None
    request: Annotated[str, doc("The X-Request-Id of its answer.", max_length=200)] | None = None

    def which(self) -> Undo:
        if self.author is not None and self.request is not None:
            raise InvalidInput.at("$.author", "goes without request: a request has all its changes undone")
        last = None if self.last is UNSET else self.last
        return Undo(last=last, author=self.author, request=self.request)


_LINE = re.compile(rb"\S[^\n]*")  # one that is not empty, from its first character


class BatchBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Memories to add. They are decoded one by one, so that each has its own error."""

    memories: list[msgspec.Raw]
    atomic: bool | UnsetType = UNSET
    on_conflict: fields.Conflict | UnsetType = UNSET

    @classmethod
    def of_lines(cls, body: bytes) -> "BatchBody":
        """Read newline-delimited JSON, one memory a line; empty lines do not count.

        At most one line above the limit is kept, for which the batch is refused later.
        """
        lines = islice(_LINE.finditer(body), BATCH_MAX + 1)
        return cls(memories=[msgspec.Raw(line[0]) for line in lines])


class PatchBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a memory: what is absent stays, null clears. `tags` and `metadata` are replaced as a whole."""

    content: fields.Content | UnsetType = UNSET
    user: Annotated[str, doc("Of a turn: the first message.")] | UnsetType = UNSET
    system: Annotated[str, doc("Of a turn: the reply; null removes it.")] | None | UnsetType = UNSET
    kind: fields.KindName | UnsetType = UNSET
    category: fields.Category | None | UnsetType = UNSET
    key: fields.Key | None | UnsetType = UNSET
    type: fields.TypeName | UnsetType = UNSET
    status: fields.StatusName | UnsetType = UNSET
    importance: fields.ImportanceName | UnsetType = UNSET
    author: fields.Author | None | UnsetType = UNSET
    reason: fields.Reason | None | UnsetType = UNSET
    source: fields.Source | None | UnsetType = UNSET
    tags: fields.Tags | None | UnsetType = UNSET
    metadata: fields.Metadata | None | UnsetType = UNSET
    event_at: fields.EventAt | None | UnsetType = UNSET
    valid_from: fields.ValidFrom | None | UnsetType = UNSET
    valid_to: fields.ValidTo | None | UnsetType = UNSET
    expires_at: fields.ExpiresAt | None | UnsetType = UNSET
    ttl: fields.Ttl | UnsetType = UNSET
    parent_id: fields.ParentId | None | UnsetType = UNSET
    source_class: fields.SourceClassName | UnsetType = UNSET
    derived_from: fields.DerivedFrom | UnsetType = UNSET
    anchors: fields.StatedAnchors | None | UnsetType = UNSET

    def changes(self) -> Mapping[str, object]:
        """Return the fields of a Draft that change."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return _values({name: value for name, value in given.items() if value is not UNSET}, "$")


def on_conflict_of(in_body: OnConflict | UnsetType, in_query: str | None, default: OnConflict) -> OnConflict:
    """Return the choice of a request, from the body or the query string, else the default."""
    if in_query is None:
        return default if in_body is UNSET else in_body
    if in_body is not UNSET and in_body != in_query:
        raise InvalidInput.at("$.on_conflict", f"is {in_body!r} in the body and {in_query!r} in the query string")
    if in_query not in (allowed := get_args(OnConflict)):
        raise InvalidInput.at("$.on_conflict", f"{in_query[:40]!r} is none of {', '.join(allowed)}")
    return cast(OnConflict, in_query)


_NAMES = EntryBody.__struct_fields__
_ENTRY = attrgetter(*_NAMES)


def _values(given: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the fields with the types of the core."""
    if "tags" in given:
        given["tags"] = tuple(given["tags"] or ())
    if "derived_from" in given:
        given["derived_from"] = tuple(given["derived_from"])
    if given.get("anchors"):
        given["anchors"] = tuple(map(_anchor, given["anchors"]))
    elif "anchors" in given:
        given["anchors"] = ()
    if "metadata" in given:
        given["metadata"] = given["metadata"] or {}
    for name in STATED_TIMES:
        if given.get(name) is not None:
            given[name] = _utc(given[name], f"{path}.{name}")
    ttl = given.pop("ttl", None)
    if ttl is not None:
        if given.get("expires_at") is not None:
            raise InvalidInput.at(f"{path}.ttl", "goes without expires_at: they say the same in two ways")
        given["expires_at"] = timedelta(seconds=ttl)
    return given


def _anchor(given: fields.AnchorBody | str) -> Anchor:
    if isinstance(given, str):
        return anchor_of(given)
    return {name: value for name, value in msgspec.to_builtins(given).items() if name not in READ}


def _utc(at: datetime, path: str) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise InvalidInput.at(path, "lies outside the years 1 to 9999 in UTC") from None


class FeedbackBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A verdict on a memory, or null to remove the caller's earlier one."""

    verdict: fields.Verdict | None

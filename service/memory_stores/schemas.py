"""Requests and replies about memory stores, with the names and bounds that the SDK documents."""

import base64
import binascii
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from muisti.core.model.decoding import convert
from muisti.core.model.errors import InvalidInput, placed
from muisti.core.model.filed import FileOperation, FileVersion
from muisti.core.model.spaces import LABEL_MAX, LABEL_NAME_MAX, LABELS_MAX, TITLE_MAX, Space, SpaceSettings
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import Memory
from muisti.service.http.request import Request
from muisti.service.memory_stores.names import (
    CONTENT_BYTES,
    STORE,
    path_of,
    sent_id,
    sent_version,
    text_of,
)

Q = TypeVar("Q", bound=Struct)
View = Literal["basic", "full"]
BETWEEN = {"since": "created_at[gte]", "until": "created_at[lte]"}
FULL_MAX = 20  # items of a page with their contents
Name = Annotated[str, Meta(min_length=1, max_length=TITLE_MAX, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Description = Annotated[str, Meta(max_length=1_024)]
Label = Annotated[str, Meta(min_length=1, max_length=LABEL_NAME_MAX)]
LabelValue = Annotated[str, Meta(max_length=LABEL_MAX)]
Limit = Annotated[int, Meta(ge=1, le=100)]


# Requests


class StoreBody(Struct, frozen=True, kw_only=True):
    """A store to create."""

    name: Name
    description: Description | None = None
    metadata: Annotated[dict[Label, LabelValue], Meta(max_length=LABELS_MAX)] | None = None

    def settings(self) -> SpaceSettings:
        return SpaceSettings(title=self.name, description=self.description or None, labels=self.metadata or {})


class StoreChanges(Struct, frozen=True, kw_only=True):
    """Changes of a store. What is left out or null stays; a null in `metadata` removes that pair."""

    name: Name | None = None
    description: Description | None = None
    metadata: dict[Label, LabelValue | None] | None = None

    def applied(self, before: SpaceSettings) -> SpaceSettings:
        """Return the settings with the changes. Raises InvalidInput when there are too many pairs."""
        labels = {key: value for key, value in {**before.labels, **(self.metadata or {})}.items() if value is not None}
        if len(labels) > LABELS_MAX:
            raise InvalidInput.at("$.metadata", f"has {len(labels)} pairs; at most {LABELS_MAX} are allowed")
        title = before.title if self.name is None else self.name
        description = before.description if self.description is None else self.description or None
        return replace(before, title=title, description=description, labels=labels)


class FileBody(Struct, frozen=True, kw_only=True):
    """A memory to create."""

    path: str
    content: str | None


class Precondition(Struct, frozen=True, kw_only=True):
    """Describes what must hold for an update."""

    type: Literal["content_sha256"]
    content_sha256: str


class FileChanges(Struct, frozen=True, kw_only=True):
    """Changes of a memory. What is left out or null stays."""

    path: str | None = None
    content: str | None = None
    precondition: Precondition | None = None


class ViewQuery(Struct, frozen=True, kw_only=True):
    """Whether an answer has contents; None is the usual view of the operation."""

    view: View | None = None
    beta: str | None = None


class DeleteQuery(Struct, frozen=True, kw_only=True):
    """Describes what must hold for a deletion."""

    expected_content_sha256: str | None = None
    beta: str | None = None


class PageQuery(Struct, frozen=True, kw_only=True):
    """A page of a list, after the item that `page` names."""

    limit: Limit = 20
    page: str | None = None
    beta: str | None = None

    @property
    def after(self) -> str:
        """Return the last item of the page before; empty on the first page. Raises InvalidInput."""
        try:
            return base64.b64decode((self.page or "").encode("ascii"), altchars=b"-_", validate=True).decode()
        except (binascii.Error, UnicodeError):
            raise InvalidInput.at("$.page", "is none of these answers; send next_page of the page before") from None


class StoresQuery(PageQuery, frozen=True, kw_only=True, rename=BETWEEN):
    """A page of stores."""

    include_archived: bool = False
    since: datetime | None = None
    until: datetime | None = None


class FilesQuery(PageQuery, frozen=True, kw_only=True):
    """A page of memories."""

    path_prefix: str = "/"
    depth: Annotated[int, Meta(ge=0, le=1)] = 0
    view: View = "basic"


class VersionsQuery(PageQuery, frozen=True, kw_only=True, rename=BETWEEN):
    """A page of versions."""

    memory_id: str | None = None
    operation: FileOperation | None = None
    api_key_id: str | None = None
    session_id: str | None = None
    service_account_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    view: View = "basic"


def asked(request: Request, kind: type[Q]) -> Q:
    """Read the query string of a request. Raises InvalidInput; parameters that are not known are left out."""
    try:
        return convert(dict(request.query_params), kind, strict=False)
    except msgspec.ValidationError as error:
        fault, path = placed(str(error))
        raise InvalidInput.at(path, fault) from error


def microseconds(at: datetime | None) -> int | None:
    """Return a time of a query in microseconds; one without a zone is in UTC."""
    return None if at is None else to_us(at if at.tzinfo else at.replace(tzinfo=UTC))


def page_text(after: str | int) -> str:
    """Return the parameter `page` of the page after an item."""
    return base64.urlsafe_b64encode(str(after).encode()).decode()


# Replies


class StoreReply(Struct, frozen=True, kw_only=True):
    """A store."""

    id: str
    type: Literal["memory_store"] = "memory_store"
    name: str
    description: str
    metadata: dict[str, str]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, space: Space) -> "StoreReply":
        said, archived = space.settings, space.policy.archived_us
        changed = max((at for at in (said.changed_us, archived) if at is not None), default=None)
        return cls(
            id=f"{STORE}{space.name}",
            name=said.title or space.name,
            description=said.description or "",
            metadata=dict(said.labels),
            created_at=space.created_at,
            updated_at=space.created_at if changed is None else from_us(changed),
            archived_at=None if archived is None else from_us(archived),
        )


class DeletedReply(Struct, frozen=True, kw_only=True):
    """Names what was deleted."""

    id: str
    type: Literal["memory_store_deleted", "memory_deleted"]


class FileReply(Struct, frozen=True, kw_only=True):
    """A memory with its path. Its content is null in the basic view."""

    id: str
    type: Literal["memory"] = "memory"
    memory_store_id: str
    memory_version_id: str
    path: str
    content: str | None
    content_sha256: str
    content_size_bytes: int
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, memory: Memory, view: View) -> "FileReply":
        text = text_of(memory)
        return cls(
            id=sent_id(memory.id),
            memory_store_id=f"{STORE}{memory.space}",
            memory_version_id=sent_version(memory.id, memory.version),
            path=path_of(memory),
            content=text if view == "full" else None,
            content_sha256=digest_of(text),
            content_size_bytes=len(text.encode()),
            created_at=memory.created_at,
            updated_at=memory.updated_at,
        )


class FolderReply(Struct, frozen=True, kw_only=True):
    """A folder in a list."""

    path: str
    type: Literal["memory_prefix"] = "memory_prefix"


class ActorReply(Struct, frozen=True, kw_only=True):
    """Who did something."""

    api_key_id: str
    type: Literal["api_actor"] = "api_actor"

    @classmethod
    def of(cls, actor: str | None) -> "ActorReply | None":
        return None if actor is None else cls(api_key_id=actor)


class VersionReply(Struct, frozen=True, kw_only=True):
    """A change of a memory, and the content that it gave it."""

    id: str
    type: Literal["memory_version"] = "memory_version"
    memory_store_id: str
    memory_id: str
    operation: FileOperation
    created_at: datetime
    created_by: ActorReply | None
    path: str | None
    content: str | None
    content_sha256: str | None
    content_size_bytes: int | None
    redacted_at: datetime | None
    redacted_by: ActorReply | None

    @classmethod
    def of(cls, one: FileVersion, store: str, view: View) -> "VersionReply":
        deleted = one.operation == "deleted"
        text = None if one.memory is None or deleted else text_of(one.memory)
        return cls(
            id=sent_version(one.memory_id, one.version, deleted=deleted),
            memory_store_id=store,
            memory_id=sent_id(one.memory_id),
            operation=one.operation,
            created_at=one.at,
            created_by=ActorReply.of(one.actor),
            path=None if one.memory is None else path_of(one.memory),
            content=text if view == "full" else None,
            content_sha256=None if text is None else digest_of(text),
            content_size_bytes=None if text is None else len(text.encode()),
            redacted_at=one.redacted_at,
            redacted_by=ActorReply.of(one.redacted_by),
        )


class ListReply(Struct, frozen=True, kw_only=True):
    """A page of a list."""

    data: list[Any]
    next_page: str | None = None


def digest_of(text: str) -> str:
    """Return the hexadecimal SHA-256 of a text in UTF-8."""
    return sha256(text.encode()).hexdigest()


def checked(content: str) -> str:
    """Return a content. Raises InvalidInput when it is too long."""
    if len(content.encode()) > CONTENT_BYTES:
        raise InvalidInput.at("$.content", f"has more than {CONTENT_BYTES:,} bytes")
    return content

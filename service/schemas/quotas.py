"""Requests and replies about the quota of a space."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.counts import Usage
from muisti.core.model.spaces import QUOTA_MAX
from muisti.service.schemas.copying import Reply

_RANGE = {"minimum": 0, "maximum": QUOTA_MAX}


class QuotaBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to the quota. A field that is left out stays as it is; null is the default of the server."""

    memories: Annotated[int, Meta(extra_json_schema=_RANGE)] | UnsetType | None = UNSET
    bytes: Annotated[int, Meta(extra_json_schema=_RANGE)] | UnsetType | None = UNSET

    def changes(self) -> dict[str, int | None]:
        given = {"memories": self.memories, "bytes": self.bytes}
        return {name: most for name, most in given.items() if not isinstance(most, UnsetType)}


class AmountReply(Reply, frozen=True, kw_only=True):
    """Use and limit of one amount; a null limit means none."""

    used: int
    limit: int | None


class QuotaReply(Reply, frozen=True, kw_only=True):
    """Use and quota of a space.

    Counted are memories that are not deleted, also those that have expired or are superseded. Sessions, conversations,
    topics and statements of the graph count as memories. Bytes are those of texts, tags and metadata.
    """

    memories: AmountReply
    bytes: AmountReply

    @classmethod
    def of(cls, value: Usage, /, **more: Any) -> Self:
        memories = AmountReply(used=value.memories, limit=value.quota.memories)
        return cls(memories=memories, bytes=AmountReply(used=value.bytes, limit=value.quota.bytes))

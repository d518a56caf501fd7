"""Requests about the quota of a space; its reply, which statistics and refusals carry too, is in `schemas.policy`."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.spaces import QUOTA_MAX

_RANGE = {"minimum": 0, "maximum": QUOTA_MAX}


class QuotaBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to the quota. A field that is left out stays as it is; null is the default of the server."""

    memories: Annotated[int, Meta(extra_json_schema=_RANGE)] | UnsetType | None = UNSET
    bytes: Annotated[int, Meta(extra_json_schema=_RANGE)] | UnsetType | None = UNSET

    def changes(self) -> dict[str, int | None]:
        given = {"memories": self.memories, "bytes": self.bytes}
        return {name: most for name, most in given.items() if not isinstance(most, UnsetType)}

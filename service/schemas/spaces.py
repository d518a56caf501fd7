"""Requests and replies about spaces."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Literal, cast

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.outcomes import SpaceUse
from muisti.core.model.spaces import Field, Space, SpaceSettings
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, Same
from muisti.service.schemas.fields import doc
from muisti.service.schemas.policy import PolicyReply


class SpaceSettingsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that are fixed at creation: the weight of each field in the keyword index, and the embedded fields."""

    lexical_weights: dict[str, float] | UnsetType = UNSET
    embedded_fields: list[Literal["content", "key", "tags", "category", "author", "reason"]] | UnsetType = UNSET

    def settings(self, description: str | None = None) -> SpaceSettings:
        plain = SpaceSettings()
        weights = plain.lexical_weights if self.lexical_weights is UNSET else self.lexical_weights
        embedded = plain.embedded_fields if self.embedded_fields is UNSET else tuple(self.embedded_fields)
        weighted = cast(Mapping[Field, float], weights)
        return SpaceSettings(lexical_weights=weighted, embedded_fields=embedded, description=description)


class SpaceBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A space to create. Its description is fixed, as its settings are."""

    name: fields.SpaceName
    description: fields.SpaceDescription | None = None
    settings: SpaceSettingsBody = SpaceSettingsBody()


class SpaceSettingsReply(Reply, frozen=True, kw_only=True):
    """Settings that were fixed when the space was created."""

    lexical_weights: dict[str, float]
    embedded_fields: list[str]


class SpaceReply(Reply, frozen=True, kw_only=True):
    """A space. `generation` is the model that embedded it, null before the first vector."""

    within = ("settings",)
    named = {"seq": "at"}

    name: fields.SpaceName
    epoch: Annotated[str, doc("Changes when the space is created again.")]
    seq: fields.SeqText
    created_at: datetime
    settings: SpaceSettingsReply
    policy: PolicyReply
    generation: str | None
    description: fields.SpaceDescription | None


class SpaceUseReply(Same, frozen=True, kw_only=True):
    """The size of a space, as its quota counts it."""

    memories: Annotated[int, doc("Memories and objects that are not deleted.", ge=0)]
    bytes: Annotated[int, doc("Bytes of what callers stated.", ge=0)]
    last_change_at: Annotated[datetime | None, doc("Null before the first change.")]


class ListedSpaceReply(SpaceReply, frozen=True, kw_only=True):
    """A space in a list, with its size."""

    use: Annotated[SpaceUseReply | None, doc("Null for a key that does not see the whole space.")]


class SpacesReply(Struct, frozen=True, kw_only=True):
    """All spaces, by name."""

    items: list[ListedSpaceReply]
    next_cursor: None = None

    @classmethod
    def of(cls, spaces: Iterable[Space], uses: Mapping[str, SpaceUse]) -> "SpacesReply":
        """Return spaces with what `uses` has of them, by epoch."""
        return cls(items=[ListedSpaceReply.of(space, use=uses.get(space.epoch)) for space in spaces])

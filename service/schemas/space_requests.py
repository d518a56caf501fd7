"""Bodies that create and set up spaces."""

from collections.abc import Mapping
from typing import Literal, cast

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.spaces import Field, SpaceSettings
from muisti.service.schemas import fields


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

"""Suggestions of a type, in the replies of writes."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.decoding import convert
from muisti.core.model.values import Memory
from muisti.core.text.discourse.type_suggestions import suggested
from muisti.service.schemas import fields


class StretchReply(Struct, frozen=True, kw_only=True):
    """A stretch of a text, in characters."""

    start: Annotated[int, Meta(ge=0)]
    stop: Annotated[int, Meta(ge=0)]


Scope = Annotated[
    StretchReply | None,
    Meta(description="Clause of the content that says to what it applies; null where it applies to everything."),
]


class TypeSuggestionReply(Struct, frozen=True, kw_only=True):
    """A type that would suit a memory: its content reads like a standing instruction. Nothing was changed."""

    id: fields.MemoryId
    type: fields.TypeName
    scope: Scope


Suggestions = (
    Annotated[
        list[TypeSuggestionReply],
        Meta(description="Memories that read like standing instructions and have another type; absent for none."),
    ]
    | UnsetType
)


def suggestions_of(memories: Iterable[Memory]) -> list[TypeSuggestionReply] | UnsetType:
    """Return the suggestions of a reply, unset when there are none."""
    return [convert(one, TypeSuggestionReply, from_attributes=True) for one in suggested(memories)] or UNSET

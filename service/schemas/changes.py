"""Replies of the change feed."""

from typing import Annotated, get_args

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.outcomes import Event, Events
from muisti.service.schemas import fields
from muisti.service.schemas.fields import doc
from muisti.service.schemas.replies import MemoryReply

KindOfChange = Annotated[str, doc("What happened.", enum=list(get_args(ChangeKind)))]


class ChangeReply(Struct, frozen=True, kw_only=True):
    """A change. `show` decides whether `before` and `after` are sent; null where the memory did or does not exist."""

    seq: Annotated[int, doc("Number of the change in the history of the space.")]
    at: fields.Time
    change: KindOfChange
    memory_id: Annotated[fields.MemoryId | None, doc("Null when the space itself changed.")]
    version: Annotated[int | None, doc("The version that the change made or ended.")]
    actor: Annotated[str | None, doc("Id of the key, or the caller's name without one.")]
    request: Annotated[str | None, doc("X-Request-Id of the request that made the change.")]
    before: MemoryReply | None | UnsetType = UNSET
    after: MemoryReply | None | UnsetType = UNSET

    @classmethod
    def of(cls, event: Event, show: Show) -> "ChangeReply":
        before, after = ((None if one is None else MemoryReply.of(one)) for one in (event.before, event.after))
        return cls(
            seq=event.seq,
            at=event.at,
            change=event.kind,
            memory_id=event.memory_id,
            version=event.version,
            actor=event.actor,
            request=event.request,
            before=before if show == "both" else UNSET,
            after=UNSET if show == "ids" else after,
        )


class ChangesReply(Struct, frozen=True, kw_only=True):
    """Changes, oldest first. To continue after them, send `seq` as `since`."""

    items: list[ChangeReply]
    next_cursor: Annotated[str | None, doc("The `since` of the next page; null on the last page.")]
    seq: fields.SeqText

    @classmethod
    def of(cls, events: Events, show: Show) -> "ChangesReply":
        return cls(
            items=[ChangeReply.of(event, show) for event in events.items],
            next_cursor=str(events.reached) if events.more else None,
            seq=str(events.reached),
        )

"""Requests and replies about webhooks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self, cast, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.operations import Webhook
from muisti.core.model.times import from_us
from muisti.core.model.values import Seq
from muisti.service.schemas import fields
from muisti.service.schemas.changes import KindOfChange
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

WebhookId = Annotated[str, doc("Id of a webhook.", examples=["5f0b7a1e2b1f"])]
Url = Annotated[str, doc("https, on a host that the server allows.", examples=["https://hooks.example.com/muisti"])]
ShowName = Annotated[str, doc("How much of a memory is sent.", enum=list(get_args(Show)))]


class WebhookBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """URL to call, and the changes to send there."""

    url: Url
    changes: Annotated[list[KindOfChange], doc("Kinds of changes; empty for all.")] = []
    show: ShowName = "ids"

    def kinds(self) -> Sequence[ChangeKind]:
        return cast(Sequence[ChangeKind], self.changes)

    def shown(self) -> Show:
        return cast(Show, self.show)


class RedeliverBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Point after which to send changes again."""

    since: Annotated[int, doc("Send all changes after this one; else those that failed.", ge=0)] | None = None


class DeadLetterReply(Reply, frozen=True, kw_only=True):
    """A range of changes that could not be sent, by their numbers."""

    first: int
    last: int
    attempts: int
    error: str
    at: datetime


class WebhookReply(Reply, frozen=True, kw_only=True):
    """A webhook, its last change sent, and the changes that failed. `secret` is shown once, at creation."""

    id: WebhookId
    url: Url
    changes: list[KindOfChange]
    show: ShowName
    made_at: datetime
    actor: Annotated[str, doc("Caller that created it, as in the audit log.")]
    state: Annotated[str, Meta(extra_json_schema={"enum": ["ok", "retrying", "gone"]})]
    seq: Annotated[fields.SeqText, doc("The last change that was sent or skipped.")]
    attempts: Annotated[int, doc("Attempts that have failed since.")]
    error: Annotated[str | None, doc("Reason of the last failure.")]
    told_at: Annotated[datetime | None, doc("Time of the last message.")]
    dead_letters: list[DeadLetterReply]
    secret: Annotated[str, doc("Secret that signs the messages.")] | UnsetType = UNSET

    @classmethod
    def of(cls, value: Webhook, /, *, shown: bool = False, **more: Any) -> Self:
        kept = value.kept
        return super().of(
            kept,
            changes=list(kept.kinds),
            made_at=from_us(kept.made_at),
            state=value.state,
            seq=str(Seq(kept.epoch, kept.cursor)),
            told_at=None if kept.told_at is None else from_us(kept.told_at),
            dead_letters=[DeadLetterReply.of(each, at=from_us(each.at)) for each in value.dead_letters],
            secret=kept.secret if shown else UNSET,
            **more,
        )


class WebhooksReply(Reply, frozen=True, kw_only=True):
    """The webhooks of a space."""

    items: list[WebhookReply]
    next_cursor: None = None

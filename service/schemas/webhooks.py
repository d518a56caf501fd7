"""Webhooks, as requests and replies have them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, cast, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.terms import ChangeKind, Show
from muisti.core.model.times import from_us
from muisti.core.model.values import Seq
from muisti.core.model.webhooks import Webhook
from muisti.service.schemas import fields
from muisti.service.schemas.changes import KindOfChange

WebhookId = Annotated[str, Meta(description="Id of a webhook.", examples=["5f0b7a1e2b1f"])]
Url = Annotated[
    str, Meta(description="https, on a host that the server allows.", examples=["https://hooks.example.com/muisti"])
]
ShowName = Annotated[
    str, Meta(description="How much of a memory is told.", extra_json_schema={"enum": list(get_args(Show))})
]


class WebhookBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to tell of what."""

    url: Url
    changes: Annotated[list[KindOfChange], Meta(description="Kinds of changes; empty for all.")] = []
    show: ShowName = "ids"

    def kinds(self) -> Sequence[ChangeKind]:
        return cast(Sequence[ChangeKind], self.changes)

    def shown(self) -> Show:
        return cast(Show, self.show)


class RedeliverBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From where on to tell again."""

    since: Annotated[int, Meta(ge=0, description="The change after which; else what could not be told.")] | None = None


class DeadLetterReply(Struct, frozen=True, kw_only=True):
    """Changes that could not be told, by their numbers."""

    first: int
    last: int
    attempts: int
    error: str
    at: datetime


class WebhookReply(Struct, frozen=True, kw_only=True):
    """A webhook, how far it was told, and what it could not be told. `secret` is shown once, when it is made."""

    id: WebhookId
    url: Url
    changes: list[KindOfChange]
    show: ShowName
    made_at: datetime
    actor: Annotated[str, Meta(description="Who made it, as the audit log says it.")]
    state: Annotated[str, Meta(extra_json_schema={"enum": ["ok", "retrying", "gone"]})]
    seq: Annotated[fields.SeqText, Meta(description="The last change that was told, or passed over.")]
    attempts: Annotated[int, Meta(description="That have failed since.")]
    error: Annotated[str | None, Meta(description="How the last one failed.")]
    told_at: Annotated[datetime | None, Meta(description="When it was told last.")]
    dead_letters: list[DeadLetterReply]
    secret: Annotated[str, Meta(description="With which messages are signed.")] | UnsetType = UNSET

    @classmethod
    def of(cls, one: Webhook, *, shown: bool = False) -> "WebhookReply":
        kept = one.kept
        return cls(
            id=kept.id,
            url=kept.url,
            changes=list(kept.kinds),
            show=kept.show,
            made_at=from_us(kept.made_at),
            actor=kept.actor,
            state=one.state,
            seq=str(Seq(kept.epoch, kept.cursor)),
            attempts=kept.attempts,
            error=kept.error,
            told_at=None if kept.told_at is None else from_us(kept.told_at),
            dead_letters=[
                DeadLetterReply(
                    first=each.first, last=each.last, attempts=each.attempts, error=each.error, at=from_us(each.at)
                )
                for each in one.dead_letters
            ],
            secret=kept.secret if shown else UNSET,
        )


class WebhooksReply(Struct, frozen=True, kw_only=True):
    """The webhooks of a space."""

    items: list[WebhookReply]
    next_cursor: None = None

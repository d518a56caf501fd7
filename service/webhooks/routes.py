"""Webhooks of a space: create, list, delete, redeliver; with their bodies and replies."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self, cast, get_args

from litestar import Response
from litestar.params import FromPath, JSONBody
from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.errors import InvalidInput
from muisti.core.model.operations import Webhook
from muisti.core.model.times import from_us
from muisti.core.model.values import Seq
from muisti.service.auth.access import check
from muisti.service.http.parameters import DRY
from muisti.service.http.request import Request
from muisti.service.http.respond import placed, tried
from muisti.service.http.routing import Routes
from muisti.service.outgoing.addresses import Refused
from muisti.service.schemas import fields
from muisti.service.schemas.changes import KindOfChange
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc
from muisti.service.webhooks.sending import allowed_by

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


routes = Routes("webhooks")


@routes.post("/webhooks", needs="admin", problems=["conflict"], standard=DRY)
async def create_webhook(request: Request, data: JSONBody[WebhookBody]) -> Response[WebhookReply]:
    """Send the changes of a space to an address, from now on.

    The server must allow the host (MUISTI_WEBHOOK_HOSTS). Only this answer shows the secret with which messages are
    signed. Needs the scopes `admin` and `read`.
    """
    access = request.access
    check(access, "read")
    try:
        await request.backend.store(allowed_by(request.app.state.settings).resolve, data.url)
    except Refused as refused:
        raise InvalidInput.at("$.url", str(refused)) from None
    create = request.engine.webhooks.create
    now = request.engine.now()
    made = await request.ask(
        create, data.url, data.kinds(), data.shown(), access.caller(), now, dry_run=request.dry_run
    )
    answer = Response(WebhookReply.of(made, shown=not request.dry_run), status_code=201)
    return tried(request, await placed(answer, request))


@routes.get("/webhooks", needs="admin")
async def list_webhooks(request: Request) -> Response[WebhooksReply]:
    """List the webhooks of a space, with the last change delivered to each and the failed deliveries."""
    found = await request.ask(request.engine.webhooks.all)
    return await placed(Response(WebhooksReply(items=[WebhookReply.of(one) for one in found])), request)


@routes.delete("/webhooks/{webhook_id:str}", needs="admin", standard=DRY)
async def delete_webhook(request: Request, webhook_id: FromPath[str]) -> Response[None]:
    """Delete a webhook."""
    end = request.engine.webhooks.delete
    caller = request.caller
    await request.ask(end, webhook_id, caller, request.engine.now(), dry_run=request.dry_run)
    return tried(request, await placed(Response(None, status_code=204), request))


@routes.post("/webhooks/{webhook_id:str}/redeliver", status_code=200, needs="admin", standard=DRY)
async def redeliver_webhook(
    request: Request, webhook_id: FromPath[str], data: JSONBody[RedeliverBody]
) -> Response[WebhookReply]:
    """Deliver failed changes again, or all changes after one.

    All changes from there on are sent again, with the message ids that they had. A stopped webhook resumes.
    """
    again = request.engine.webhooks.redeliver
    found = await request.ask(again, webhook_id, data.since, dry_run=request.dry_run)
    return tried(request, await placed(Response(WebhookReply.of(found)), request))

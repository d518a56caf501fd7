"""Webhooks of a space: create, list, delete, redeliver."""

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.core.model.errors import InvalidInput
from muisti.service.auth.access import check
from muisti.service.http.parameters import DRY
from muisti.service.http.request import Request
from muisti.service.http.respond import placed, tried
from muisti.service.http.routing import Routes
from muisti.service.outgoing.addresses import Refused
from muisti.service.webhooks.schemas import RedeliverBody, WebhookBody, WebhookReply, WebhooksReply
from muisti.service.webhooks.sending import allowed_by

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

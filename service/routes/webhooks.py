"""Webhooks of a space: create, list, delete, redeliver."""

from litestar import Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.model.errors import InvalidInput
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of
from muisti.service.http.decode import Request
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import placed, tried
from muisti.service.outgoing.addresses import Refused
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.webhooks import RedeliverBody, WebhookBody, WebhookReply, WebhooksReply
from muisti.service.webhooks.sending import allowed_by


@post("/webhooks", operation_id="createWebhook", tags=["webhooks"], needs="admin", problems=["conflict"])
async def create_webhook(
    request: Request,
    space: FromPath[str],
    data: JSONBody[WebhookBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[WebhookReply]:
    """Send the changes of a space to an address, from now on.

    The server must allow the host (MUISTI_WEBHOOK_HOSTS). Only this answer shows the secret with which messages are
    signed. Needs the scopes `admin` and `read`.
    """
    access = access_of(request.scope)
    check(access, "read")
    try:
        await backend.store(allowed_by(request.app.state.settings).resolve, data.url)
    except Refused as refused:
        raise InvalidInput.at("$.url", str(refused)) from None
    create = backend.engine.webhooks.create
    now = backend.engine.now()
    made = await backend.store(
        create, space, data.url, data.kinds(), data.shown(), access.caller(), now, dry_run=dry_run
    )
    answer = Response(WebhookReply.of(made, shown=not dry_run), status_code=201)
    return tried(dry_run, await placed(answer, backend, space))


@get("/webhooks", operation_id="listWebhooks", tags=["webhooks"], needs="admin")
async def list_webhooks(space: FromPath[str], backend: NamedDependency[Backend]) -> Response[WebhooksReply]:
    """List the webhooks of a space, with the last change delivered to each and the failed deliveries."""
    found = await backend.store(backend.engine.webhooks.all, space)
    return await placed(Response(WebhooksReply(items=[WebhookReply.of(one) for one in found])), backend, space)


@delete("/webhooks/{webhook_id:str}", operation_id="deleteWebhook", tags=["webhooks"], needs="admin")
async def delete_webhook(
    request: Request,
    space: FromPath[str],
    webhook_id: FromPath[str],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[None]:
    """Delete a webhook."""
    end = backend.engine.webhooks.delete
    caller = access_of(request.scope).caller()
    await backend.store(end, space, webhook_id, caller, backend.engine.now(), dry_run=dry_run)
    return tried(dry_run, await placed(Response(None, status_code=204), backend, space))


@post(
    "/webhooks/{webhook_id:str}/redeliver",
    status_code=200,
    operation_id="redeliverWebhook",
    tags=["webhooks"],
    needs="admin",
)
async def redeliver_webhook(
    space: FromPath[str],
    webhook_id: FromPath[str],
    data: JSONBody[RedeliverBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[WebhookReply]:
    """Deliver failed changes again, or all changes after one.

    All changes from there on are sent again, with the message ids that they had. A stopped webhook resumes.
    """
    again = backend.engine.webhooks.redeliver
    found = await backend.store(again, space, webhook_id, data.since, dry_run=dry_run)
    return tried(dry_run, await placed(Response(WebhookReply.of(found)), backend, space))


ROUTES = (create_webhook, list_webhooks, delete_webhook, redeliver_webhook)

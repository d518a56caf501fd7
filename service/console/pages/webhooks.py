"""Webhooks: where changes of a space are sent, and what could not be delivered."""

from collections.abc import Mapping
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.service.console.answers import done, page
from muisti.service.console.mount import ROOT
from muisti.service.console.pages.live import KINDS
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

STATES = {"ok": ("delivers", "good"), "retrying": ("tries again", "fair"), "gone": ("stopped", "bad")}
SHOWS = (("ids", "ids alone"), ("after", "the memory as it is then"), ("both", "the memory before and after"))


@get(f"{ROOT}/spaces/{{space:str}}/webhooks")
async def show_webhooks(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the webhooks of a space with what failed, and make one."""
    found = (await visit.api.list_webhooks(space))["items"]
    rows = [{**row(one), "url_of": visit.to(f"webhooks/{one['id']}")} for one in found]
    return page(visit, View("webhooks.html", {"webhooks": rows, "kinds": KINDS, "shows": SHOWS}))


@post(f"{ROOT}/spaces/{{space:str}}/webhooks", status_code=200)
async def make_webhook(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Make a webhook, and show the secret that signs its messages, once."""
    form = await request.form()
    changes = [str(one) for one in form.getall("changes", [])]
    asked: Any = {"url": str(form.get("url", "")), "changes": changes, "show": str(form.get("show", "ids"))}
    made = await visit.api.create_webhook(space, asked)
    return page(visit, View("webhook_made.html", {"made": made}))


@post(f"{ROOT}/spaces/{{space:str}}/webhooks/{{webhook:str}}/delete")
async def delete_webhook(space: FromPath[str], webhook: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Delete a webhook."""
    await visit.api.delete_webhook(space, webhook)
    return done(visit, "webhooks", "webhook_deleted")


@post(f"{ROOT}/spaces/{{space:str}}/webhooks/{{webhook:str}}/redeliver")
async def redeliver(space: FromPath[str], webhook: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Send the changes that failed again."""
    await visit.api.redeliver_webhook(space, webhook, {})
    return done(visit, "webhooks", "webhook_again")


def row(webhook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a webhook as a row: its state in words, and the changes that could not be delivered."""
    said, look = STATES[webhook["state"]]
    return {
        **{name: webhook[name] for name in ("id", "url", "made_at", "told_at", "attempts", "error", "actor")},
        "changes": ", ".join(webhook["changes"]) or "all changes",
        "said": said,
        "look": look,
        "dead": webhook["dead_letters"],
        "lost": sum(one["last"] - one["first"] + 1 for one in webhook["dead_letters"]),
    }


ROUTES = (show_webhooks, make_webhook, delete_webhook, redeliver)

"""Webhooks: where changes of a space are sent, and what could not be delivered."""

from collections.abc import Mapping
from typing import Any

from muisti.service.console.answers import Answer, Model, does, shows
from muisti.service.console.pages.live import KINDS
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

STATES = {"ok": ("delivers", "good"), "retrying": ("tries again", "fair"), "gone": ("stopped", "bad")}
SHOWS = (("ids", "ids alone"), ("after", "the memory as it is then"), ("both", "the memory before and after"))


@shows("webhooks", "webhooks.html")
async def show_webhooks(visit: Visit, space: str) -> Model:
    """Show the webhooks of a space with what failed, and make one."""
    found = (await visit.api.list_webhooks(space))["items"]
    rows = [{**row(one), "url_of": visit.to(f"webhooks/{one['id']}")} for one in found]
    return {"webhooks": rows, "kinds": KINDS, "shows": SHOWS}


@does("webhooks")
async def make_webhook(visit: Visit, space: str) -> Answer:
    """Make a webhook, and show the secret that signs its messages, once."""
    changes = [str(one) for one in visit.form.getall("changes", [])]
    asked: Any = {"url": visit.field("url"), "changes": changes, "show": str(visit.form.get("show", "ids"))}
    made = await visit.api.create_webhook(space, asked)
    return View("webhook_made.html", {"made": made})


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

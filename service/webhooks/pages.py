"""Webhooks: where changes of a space are sent, and what could not be delivered."""

from typing import Any

from muisti.service.console.answers import Answer, Model, does, shows
from muisti.service.console.filter_form import CHANGES
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

STATES = {"ok": ("delivers", "good"), "retrying": ("tries again", "fair"), "gone": ("stopped", "bad")}
SHOWS = (("ids", "ids only"), ("after", "the memory as it is then"), ("both", "the memory before and after"))


@shows("webhooks", "webhooks.html")
async def show_webhooks(visit: Visit, space: str) -> Model:
    """Show the webhooks of a space with what failed, and make one."""
    found = (await visit.api.list_webhooks(space))["items"]
    return {"webhooks": found, "states": STATES, "kinds": CHANGES, "shows": SHOWS}


@does("webhooks")
async def make_webhook(visit: Visit, space: str) -> Answer:
    """Make a webhook, and show the secret that signs its messages, once."""
    changes = [str(one) for one in visit.form.getall("changes", [])]
    asked: Any = {"url": visit.field("url"), "changes": changes, "show": str(visit.form.get("show", "ids"))}
    made = await visit.api.create_webhook(space, asked)
    return View("webhook_made.html", {"made": made})

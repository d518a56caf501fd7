"""Pages as a browser without scripts sees them: forms with their fields, and how to send one."""

from dataclasses import dataclass
from typing import Any

import httpx
from selectolax.lexbor import LexborHTMLParser

SPACE = "default"
ADMIN = "mk_admin_of_the_tests_of_the_console_0123456789"


@dataclass(frozen=True)
class Form:
    action: str
    method: str
    fields: dict[str, str]


def forms_of(html: str) -> list[Form]:
    """Return the forms of a page with the values that their fields have."""
    found: list[Form] = []
    for node in LexborHTMLParser(html).css("form"):
        fields = {str(one.attributes["name"]): one.attributes.get("value") or "" for one in node.css("[name]")}
        found.append(
            Form(node.attributes.get("action") or "", (node.attributes.get("method") or "get").lower(), fields)
        )
    return found


def form_to(html: str, action: str) -> Form:
    """Return the form of a page that is posted to an address."""
    return next(one for one in forms_of(html) if one.action == action and one.method == "post")


def send(client: httpx.Client, form: Form, **given: Any) -> httpx.Response:
    """Send a form with some fields filled in; redirects are not followed."""
    return client.post(form.action, data={**form.fields, **given}, follow_redirects=False)


def sign_in(client: httpx.Client, key: str, back: str = "/console") -> httpx.Response:
    """Sign in with a key."""
    page = client.get("/console/sign-in", params={"next": back}).text
    return send(client, form_to(page, "/console/sign-in"), key=key)

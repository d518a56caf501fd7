"""Pages as a browser without scripts sees them: forms with their fields, and how to send one."""

from dataclasses import dataclass
from typing import Any

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

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
        named = node.css(
            "input[name], textarea[name], select[name]"
        )  # a browser sends a button only when it is pressed
        fields = {str(one.attributes["name"]): _value(one) for one in named}
        found.append(
            Form(node.attributes.get("action") or "", (node.attributes.get("method") or "get").lower(), fields)
        )
    return found


def _value(node: LexborNode) -> str:
    if node.tag == "textarea":
        return node.text()
    if node.tag == "select":
        options = node.css("option")
        chosen = next((one for one in options if "selected" in one.attributes), options[0])
        return chosen.attributes.get("value") or chosen.text()
    return node.attributes.get("value") or ""


def first(parsed: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """Return the first element that a selector finds."""
    found = parsed.css_first(selector)
    assert found is not None, selector
    return found


def form_to(html: str, action: str) -> Form:
    """Return the form of a page that is posted to an address."""
    return next(one for one in forms_of(html) if one.action == action and one.method == "post")


def send(client: httpx.Client, form: Form, **given: Any) -> httpx.Response:
    """Send a form with some fields filled in; redirects are not followed."""
    return client.post(form.action, data={**form.fields, **given}, follow_redirects=False)


def ended(client: httpx.Client, answer: httpx.Response) -> str:
    """Return the page that a form leads to."""
    assert answer.status_code == 303, answer.text
    return client.get(answer.headers["Location"]).text


def sign_in(client: httpx.Client, key: str, back: str = "/console") -> httpx.Response:
    """Sign in with a key."""
    page = client.get("/console/sign-in", params={"next": back}).text
    return send(client, form_to(page, "/console/sign-in"), key=key)


def reader(keyed: httpx.Client, mode: str = "read-only") -> None:
    """Sign in with a key of a mode."""
    body = {"name": mode, "mode": mode, "spaces": ["*"]}
    made = keyed.post("/v1/keys", json=body, headers={"Authorization": f"Bearer {ADMIN}"}).json()
    sign_in(keyed, made["key"])

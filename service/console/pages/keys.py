"""Keys: who may do what, said in words; made, replaced and revoked; and the audit log."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client.types import KeyBody
from muisti.service.console import scopes
from muisti.service.console.answers import done, page
from muisti.service.console.api import api_of
from muisti.service.console.mount import ROOT
from muisti.service.console.pages.home import url_of
from muisti.service.console.pages.signing import SESSION_NAME
from muisti.service.console.render import View
from muisti.service.console.visit import Visit, host_of

FIELDS = ("name", "mode", "spaces", "category", "expires_at")
HOUR = 3600
OVERLAPS = ((0, "not at all"), (HOUR, "for an hour"), (24 * HOUR, "for a day"), (7 * 24 * HOUR, "for a week"))


@get(f"{ROOT}/keys")
async def show_keys(visit: NamedDependency[Visit]) -> Response[str]:
    """Show the keys that the visitor may see: those that work, sessions of this console, and those that have ended."""
    found = (await visit.api.list_keys())["items"]
    now = datetime.now(UTC)
    asked = {name: visit.request.query_params.get(name, "") for name in FIELDS}
    previewed = bool(asked["name"] and asked["spaces"])
    model = {
        "groups": grouped([row(one, visit.access["key_id"], now) for one in found]),
        "asked": asked,
        "modes": modes(visit.access["scopes"]),
        "preview": preview(asked) if previewed else None,
        "making": can_make(visit),
        "auditing": visit.may("admin") and scopes.ALL in visit.access["spaces"],
    }
    return page(visit, View("keys.html", model))


@post(f"{ROOT}/keys", status_code=200)
async def make_key(request: Request, visit: NamedDependency[Visit]) -> Response[str]:
    """Make a key with the person's own one, and show its secret, once."""
    form = await request.form()
    async with api_of(request.app.state["api"], host_of(request), str(form.get("own", "")).strip()) as api:
        made = await api.create_key(body({name: str(form.get(name, "")) for name in FIELDS}))
    return _secret(visit, made)


@get(f"{ROOT}/keys/{{key:str}}")
async def show_key(key: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a key, the keys that end with it, and how to replace or revoke it."""
    found = (await visit.api.list_keys())["items"]
    now = datetime.now(UTC)
    one = row(await visit.api.get_key(key), visit.access["key_id"], now)
    children = [row(each, visit.access["key_id"], now) for each in found if each["parent_id"] == key]
    model = {
        "one": one,
        "children": [each for each in children if each["works"]],
        "changing": can_make(visit) and one["works"],
        "overlaps": OVERLAPS,
    }
    return page(visit, View("key.html", model))


@post(f"{ROOT}/keys/{{key:str}}/rotate", status_code=200)
async def rotate_key(request: Request, key: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Replace a key with the person's own one, and show the new secret, once."""
    form = await request.form()
    async with api_of(request.app.state["api"], host_of(request), str(form.get("own", "")).strip()) as api:
        made = await api.rotate_key(key, {"overlap_seconds": int(str(form.get("overlap", "0")))})
    return _secret(visit, made)


@post(f"{ROOT}/keys/{{key:str}}/revoke")
async def revoke_key(key: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Revoke a key with all that were made with it."""
    await visit.api.revoke_key(key)
    return done(visit, "keys", "key_revoked")


@get(f"{ROOT}/audit")
async def show_audit(visit: NamedDependency[Visit]) -> Response[str]:
    """Show who made or ended keys and spaces, and who deleted memories."""
    found = await visit.api.list_audit(limit=50, cursor=visit.request.query_params.get("cursor"))
    names = {one["id"]: one["name"] for one in (await visit.api.list_keys())["items"]}
    entries = [{**one, "who": names.get(one["actor"], one["actor"])} for one in found["items"]]
    return page(visit, View("audit.html", {"entries": entries, "cursor": found["next_cursor"]}))


def can_make(visit: Visit) -> bool:
    """Tell whether to offer to make keys: the server has keys, and the visitor's does more than read."""
    return not visit.access["open"] and set(visit.access["scopes"]) != {"read"}


def modes(may: Sequence[str]) -> list[str]:
    """Return the modes that a key with these scopes can hand on.

    >>> modes(["read", "append"])
    ['read-only', 'append-only']
    """
    found = [name for name, needed in scopes.MODES.items() if set(needed) <= set(may)]
    return [*found, "everything"] if "admin" in may else found


def body(asked: Mapping[str, str]) -> KeyBody:
    """Return the key that a form asks for. A day without a time ends at midnight UTC."""
    until = asked["expires_at"]
    return {
        "name": asked["name"],
        "scopes": scopes_of(asked["mode"]),
        "spaces": named(asked["spaces"]),
        "category": asked["category"].strip() or None,
        "expires_at": f"{until}T00:00:00Z" if until else None,
    }


def scopes_of(mode: str) -> list[str]:
    """Return the scopes of a mode; `everything` has all."""
    return list(scopes.MODES.get(mode, scopes.ABILITIES if mode == "everything" else ()))


def named(text: str) -> list[str]:
    """Return the names of spaces in a text.

    >>> named("notes, acme.*  travel")
    ['notes', 'acme.*', 'travel']
    """
    return text.replace(",", " ").split()


def preview(asked: Mapping[str, str]) -> scopes.Words:
    """Say what a key would do before it is made."""
    return scopes.words(scopes_of(asked["mode"]), named(asked["spaces"]), asked["category"].strip() or None)


def row(key: Mapping[str, Any], own: str | None, now: datetime) -> dict[str, Any]:
    """Return a key as a row: its scope in words, and whether it works."""
    expired = key["expires_at"] is not None and datetime.fromisoformat(key["expires_at"]) <= now
    state = "revoked" if key["revoked_at"] is not None else "expired" if expired else "works"
    return {
        **{name: key[name] for name in ("id", "name", "created_at", "expires_at", "last_used_at", "parent_id")},
        "state": state,
        "works": state == "works",
        "mode": scopes.mode_of(key["scopes"]),
        "words": scopes.words(key["scopes"], key["spaces"], key["category"], key["source_class"]),
        "own": key["id"] == own,
        "session": key["name"].startswith(SESSION_NAME),
        "url": f"{ROOT}/keys/{key['id']}",
    }


def grouped(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows in their groups: keys that work, sessions that work, and all that have ended."""
    return {
        "keys": [one for one in rows if one["works"] and not one["session"]],
        "sessions": [one for one in rows if one["works"] and one["session"]],
        "ended": [one for one in rows if not one["works"]],
    }


def _secret(visit: Visit, made: Mapping[str, Any]) -> Response[str]:
    said = scopes.words(made["scopes"], made["spaces"], made["category"], made["source_class"])
    connect = f"MUISTI_KEY={made['key']} muisti connect claude-code --url {url_of(visit)}"
    return page(visit, View("key_made.html", {"made": made, "words": said, "connect": connect}))


ROUTES = (show_keys, make_key, show_key, rotate_key, revoke_key, show_audit)

"""Keys: who may do what, said in words; made, replaced and revoked; and the audit log."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from muisti.client.types import KeyBody
from muisti.service.console import ROOT
from muisti.service.console.answers import Answer, Model, does, shows
from muisti.service.console.render import View
from muisti.service.console.visit import Visit
from muisti.service.pages.home import SESSION_NAME, url_of
from muisti.service.schemas.access_modes import MODES

ABILITIES: dict[str, str] = {
    "read": "read and search memories",
    "append": "add memories",
    "write": "change and replace memories, decide conflicts and import files",
    "delete": "delete memories, undo changes and roll back",
    "admin": "manage spaces, webhooks and other keys, and read who reads",
}
ALL = "*"


class Words(NamedTuple):
    """The sentences about a key: what it can do, what it cannot do, and where."""

    can: list[str]
    cannot: list[str]
    where: str


def words(
    scopes: Collection[str], spaces: Sequence[str], category: str | None = None, source_class: str | None = None
) -> Words:
    """Say what a key can do and what it cannot.

    >>> words(["read"], ["notes"]).can, words(["read"], ["notes"]).where
    (['read and search memories', 'export a space', 'create keys with no more rights'], 'in the space notes')
    """
    whole = category is None
    everywhere = ALL in spaces
    can = [text for scope, text in ABILITIES.items() if scope in scopes]
    cannot = [text for scope, text in ABILITIES.items() if scope not in scopes]
    (can if "read" in scopes and whole else cannot).append("export a space")
    (can if "admin" in scopes and everywhere else cannot).append("read the audit log and the statistics of the server")
    can.append("create keys with no more rights")
    if not whole:
        cannot.append(f"see or change memories outside the category {category}")
    if source_class is not None:
        cannot.append(f"add memories with more trust than the class {source_class}")
    if not everywhere:
        cannot.append("see that other spaces exist")
    return Words(_ordered(can), cannot, where(spaces, category))


def where(spaces: Sequence[str], category: str | None) -> str:
    """Say in which spaces a key works.

    >>> where(["acme.*", "notes"], "travel")
    'in all spaces that begin with acme., and the space notes, in the category travel'
    """
    if ALL in spaces:
        named = "in every space, including future ones"
    else:
        named = "in " + ", and ".join(_space(name) for name in spaces)
    return named if category is None else f"{named}, in the category {category}"


def mode_of(scopes: Collection[str]) -> str:
    """Return the short name of a list of scopes, or the list itself.

    >>> mode_of(["append", "read"]), mode_of(["append"])
    ('append-only', 'append')
    """
    for name, mode in MODES.items():
        if set(mode) == set(scopes):
            return name
    if set(scopes) == set(ABILITIES):
        return "everything"
    return ", ".join(scope for scope in ABILITIES if scope in scopes)


def _space(name: str) -> str:
    return f"all spaces that begin with {name[:-1]}" if name.endswith(ALL) else f"the space {name}"


def _ordered(can: list[str]) -> list[str]:
    last = "create keys with no more rights"
    return [one for one in can if one != last] + [last]


FIELDS = ("name", "mode", "spaces", "category", "expires_at")
HOUR = 3600
OVERLAPS = ((0, "no time"), (HOUR, "an hour"), (24 * HOUR, "a day"), (7 * 24 * HOUR, "a week"))


@shows("/keys", "keys.html")
async def show_keys(visit: Visit) -> Model:
    """Show the keys that the visitor may see: those that work, sessions of this console, and those that have ended."""
    found = (await visit.api.list_keys())["items"]
    now = datetime.now(UTC)
    asked = {name: visit.asked.get(name, "") for name in FIELDS}
    previewed = bool(asked["name"] and asked["spaces"])
    return {
        "groups": grouped([row(one, visit.access["key_id"], now) for one in found]),
        "asked": asked,
        "modes": modes(visit.access["scopes"]),
        "preview": preview(asked) if previewed else None,
        "making": can_make(visit),
        "auditing": visit.may("admin") and ALL in visit.access["spaces"],
    }


@does("/keys")
async def make_key(visit: Visit) -> Answer:
    """Make a key with the person's own one, and show its secret, once."""
    async with visit.other(visit.field("own").strip()) as api:
        made = await api.create_key(body({name: str(visit.form.get(name, "")) for name in FIELDS}))
    return _secret(visit, made)


@shows("/keys/{key}", "key.html", overlaps=OVERLAPS)
async def show_key(visit: Visit, key: str) -> Model:
    """Show a key, the keys that end with it, and how to replace or revoke it."""
    found = (await visit.api.list_keys())["items"]
    now = datetime.now(UTC)
    one = row(await visit.api.get_key(key), visit.access["key_id"], now)
    children = [row(each, visit.access["key_id"], now) for each in found if each["parent_id"] == key]
    return {
        "one": one,
        "children": [each for each in children if each["works"]],
        "changing": can_make(visit) and one["works"],
    }


@does("/keys/{key}/rotate")
async def rotate_key(visit: Visit, key: str) -> Answer:
    """Replace a key with the person's own one, and show the new secret, once."""
    async with visit.other(visit.field("own").strip()) as api:
        made = await api.rotate_key(key, {"overlap_seconds": int(str(visit.form.get("overlap", "0")))})
    return _secret(visit, made)


@shows("/audit", "audit.html")
async def show_audit(visit: Visit) -> Model:
    """Show who made or ended keys and spaces, and who deleted memories."""
    found = await visit.api.list_audit(limit=50, cursor=visit.asked.get("cursor"))
    names = {one["id"]: one["name"] for one in (await visit.api.list_keys())["items"]}
    entries = [{**one, "who": names.get(one["actor"], one["actor"])} for one in found["items"]]
    return {"entries": entries, "cursor": found["next_cursor"]}


def can_make(visit: Visit) -> bool:
    """Tell whether to offer to make keys: the server has keys, and the visitor's does more than read."""
    return not visit.access["open"] and set(visit.access["scopes"]) != {"read"}


def modes(may: Sequence[str]) -> list[str]:
    """Return the modes that a key with these scopes can hand on.

    >>> modes(["read", "append"])
    ['read-only', 'append-only']
    """
    found = [name for name, needed in MODES.items() if set(needed) <= set(may)]
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
    known: dict[str, Collection[str]] = {**MODES, "everything": ABILITIES}
    return [*known.get(mode, ())]


def named(text: str) -> list[str]:
    """Return the names of spaces in a text.

    >>> named("notes, acme.*  travel")
    ['notes', 'acme.*', 'travel']
    """
    return text.replace(",", " ").split()


def preview(asked: Mapping[str, str]) -> Words:
    """Say what a key would do before it is made."""
    return words(scopes_of(asked["mode"]), named(asked["spaces"]), asked["category"].strip() or None)


def row(key: Mapping[str, Any], own: str | None, now: datetime) -> dict[str, Any]:
    """Return a key as a row: its scope in words, and whether it works."""
    expired = key["expires_at"] is not None and datetime.fromisoformat(key["expires_at"]) <= now
    state = "revoked" if key["revoked_at"] is not None else "expired" if expired else "works"
    return {
        **{name: key[name] for name in ("id", "name", "created_at", "expires_at", "last_used_at", "parent_id")},
        "state": state,
        "works": state == "works",
        "mode": mode_of(key["scopes"]),
        "words": words(key["scopes"], key["spaces"], key["category"], key["source_class"]),
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


def _secret(visit: Visit, made: Mapping[str, Any]) -> View:
    said = words(made["scopes"], made["spaces"], made["category"], made["source_class"])
    connect = f"MUISTI_KEY={made['key']} muisti connect claude-code --url {url_of(visit)}"
    return View("key_made.html", {"made": made, "words": said, "connect": connect})

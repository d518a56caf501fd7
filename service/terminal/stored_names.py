"""Names in a server or a database file, for shell completion; memories have addresses and ids."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.choices import LIMIT_MAX
from muisti.core.model.errors import MuistiError
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Globals, Kind
from muisti.service.terminal.configuration import file_of, in_force
from muisti.service.terminal.opening import client, server_url, space_choice

if TYPE_CHECKING:
    from muisti.core.operations import completion_names
else:  # SQLite and numpy take a seventh of a second, and a server needs neither
    completion_names = Lazy("muisti.core.operations.completion_names")

MOST = 2_000  # names that are read


def names_of(options: Globals, kind: Kind) -> list[tuple[str, str]]:
    """Return names, each with a short description; none on any failure, because completion must print no errors."""
    with suppress(click.ClickException, MuistiError):  # the command itself will report it
        space = space_choice(options).space
        if server_url(options):
            return _of_server(options, kind, space)
        path = file_of(in_force(options))
        if path is not None and path.exists():
            addresses = completion_names.names(path, "address", space, MOST) if kind == "memory" else []
            return [*addresses, *completion_names.names(path, kind, space, MOST)]
    return []


def _of_server(options: Globals, kind: Kind, space: str) -> list[tuple[str, str]]:
    with client(options) as opened:
        if kind == "space":
            return [(one["name"], "") for one in opened.send(calls.list_spaces()).data["items"]]
        if kind in ("memory", "key", "author"):
            return _of_memories(kind, opened.send(calls.list_memories(space, limit=LIMIT_MAX)).data["items"])
        found = opened.send(calls.list_categories(space)) if kind == "category" else opened.send(calls.list_tags(space))
        return [(one["name"], str(one["count"])) for one in found.data["items"]]


def _of_memories(kind: Kind, items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if kind != "memory":
        return [(name, "") for name in dict.fromkeys(one[kind] for one in items if one[kind])]
    addressed = [one for one in items if one["key"]]
    return [
        *((f"{one['category']}/{one['key']}", one["content"][:60]) for one in addressed),
        *((one["id"], one["content"][:60]) for one in items),
    ]

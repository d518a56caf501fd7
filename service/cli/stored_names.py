"""Names in a server or a database file, for shell completion: spaces, categories, tags and ids."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.errors import MuistiError
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals
from muisti.service.cli.completing import Kind
from muisti.service.cli.configuration import file_of, in_force
from muisti.service.cli.opening import client, server_url, space_choice

if TYPE_CHECKING:
    from muisti.core.operations import names
else:  # SQLite and numpy take a seventh of a second, and a server needs neither
    names = Lazy("muisti.core.operations.names")

MOST = 2_000  # names that are read


def names_of(options: Globals, kind: Kind) -> list[tuple[str, str]]:
    """Return names, each with a short description; none on any failure, because completion must print no errors."""
    with suppress(click.ClickException, MuistiError):  # the command itself will report it
        space = space_choice(options).space
        if server_url(options):
            return _of_server(options, kind, space)
        path = file_of(in_force(options))
        if path is not None and path.exists():
            return names.names(path, kind, space, MOST)
    return []


def _of_server(options: Globals, kind: Kind, space: str) -> list[tuple[str, str]]:
    with client(options) as opened:
        if kind == "space":
            return [(one["name"], "") for one in opened.send(calls.list_spaces()).data["items"]]
        if kind == "memory":
            items: list[dict[str, Any]] = opened.send(calls.list_memories(space, limit=100)).data["items"]
            return [(one["id"], one["content"][:60]) for one in items]
        found = opened.send(calls.list_categories(space)) if kind == "category" else opened.send(calls.list_tags(space))
        return [(one["name"], str(one["count"])) for one in found.data["items"]]

"""Words that a shell completes from the database: spaces, categories, tags and ids."""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import click

from service.cli.base import Globals

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Kind = Literal["space", "category", "tag", "memory"]
Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
MOST = 2_000  # names that are looked through


def completes(kind: Kind) -> Complete:
    """A function for click that completes names of this kind."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        item = import_module("click.shell_completion").CompletionItem
        done, comma, begun = incomplete.rpartition(",") if kind == "tag" else ("", "", incomplete)
        options = context.find_object(Globals) or Globals()
        return [
            item(f"{done}{comma}{name}", help=about or None)
            for name, about in _names(options, kind)
            if name.startswith(begun)
        ]

    return complete


def _names(options: Globals, kind: Kind) -> list[tuple[str, str]]:
    """Names with a word about each; none when there is nothing to read, for a shell is no place for errors."""
    opening = import_module("service.cli.opening")
    with suppress(click.ClickException, import_module("core.errors").MuistiError):  # the command itself will say it
        space = opening.space_choice(options).space
        if opening.server_url(options):
            return _of_server(options, kind, space)
        where = import_module("service.cli.whereabouts")
        path = where.file_of(import_module("service.cli.configuration").in_force(options))
        if path is not None and path.exists():
            return import_module("core.store.naming").names(path, kind, space, MOST)
    return []


def _of_server(options: Globals, kind: Kind, space: str) -> list[tuple[str, str]]:
    with import_module("service.cli.session").client(options) as opened:
        if kind == "space":
            return [(one["name"], "") for one in opened.spaces().data["items"]]
        if kind == "memory":
            items: list[dict[str, Any]] = opened.list(space, limit=100).data["items"]
            return [(one["id"], one["content"][:60]) for one in items]
        found = opened.categories(space) if kind == "category" else opened.tags(space)
        return [(one["name"], str(one["count"])) for one in found.data["items"]]

"""Shell completion of names in the database: spaces, categories, keys, tags, authors, addresses and ids."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Literal

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from muisti.service.cli import stored_names
else:  # imports the settings and a client, which only completion needs
    stored_names = Lazy("muisti.service.cli.stored_names")

Kind = Literal["space", "category", "key", "tag", "author", "memory"]
Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completes(kind: Kind) -> Complete:
    """Return a function for click that completes names of this kind."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        item = import_module("click.shell_completion").CompletionItem
        done, comma, begun = incomplete.rpartition(",") if kind == "tag" else ("", "", incomplete)
        options = context.find_object(Globals) or Globals()
        return [
            item(f"{done}{comma}{name}", help=about or None)
            for name, about in stored_names.names_of(options, kind)
            if name.startswith(begun)
        ]

    return complete

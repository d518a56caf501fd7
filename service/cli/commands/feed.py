"""The changes command."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import CHANGES_MAX, ChangeKind, Show
from muisti.service.app.client import Unreachable, listen
from muisti.service.cli.base import Globals, command
from muisti.service.cli.commands.checkpoints import seq_of
from muisti.service.cli.options import as_filter, choice, comma_list, filters, flag, integer, option
from muisti.service.cli.output import ago_of, answer, brief, cell, listed, safe, short_id, talk
from muisti.service.cli.session import server_url, session

if TYPE_CHECKING:
    from muisti.service.cli.opening import Session

PAUSE = 1.0  # seconds between two polls of a file, and before a reconnection to a server
SHOWN = 80  # characters of a text


def _text(change: Mapping[str, Any]) -> str:
    memory = change.get("after") or change.get("before")
    return brief(memory["content"]) if memory else ""


def _short(change: Mapping[str, Any]) -> str:
    return "" if change["memory_id"] is None else short_id({"id": change["memory_id"]})


CHANGES = listed(
    {
        "seq": "seq",
        "when": ago_of("at"),
        "change": "change",
        "id": _short,
        "by": lambda one: cell(one["actor"], "dim"),
        "text": lambda one: _text(one)[:SHOWN],
    },
    ("seq", "at", "change", "memory_id", "actor", _text),
    right=("seq",),
)


@command(
    "muisti changes",
    "muisti changes --since yesterday",
    "muisti changes --follow --change created,updated --tag infra",
    "muisti changes --since b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17 --json",
)
@option(
    "--since",
    "Show changes after this time (2h, yesterday), or after the point that the last page printed.",
    metavar="POINT",
)
@flag("--follow", "Keep showing new changes, from now or --since, until Ctrl-C.")
@integer("--limit", "Show at most N changes.  [default: 100]", 1, CHANGES_MAX)
@option(
    "--change kinds", f"Only this kind of change: {', '.join(get_args(ChangeKind))}.", metavar="KIND", multiple=True
)
@choice("--show", "IDs only, the memory after the change, or also before.  [default: after]", get_args(Show))
@filters
def changes(
    options: Globals,
    *,
    since: str | None,
    follow: bool,
    limit: int | None,
    kinds: tuple[str, ...],
    show: str | None,
    filter_: Mapping[str, Any] | None,
    **asked: Any,
) -> None:
    """Show the changes of a space, oldest first.

    Plain lines have the number, the time, the kind of change, the ID, who made it, and the text. With --follow each
    change is printed as it happens, on a line of its own; with --json as a JSON object.
    """
    wanted = as_filter(filter_, **asked)
    given = {
        "limit": limit,
        "change": ",".join(comma_list(kinds)) or None,
        "show": show,
        "filter": None if wanted is None else json.dumps(wanted),
    }
    params: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with session(options, reads=not follow) as opened:
        if since is not None and (begin := seq_of(opened, since)) is not None:
            params["since"] = begin
        if follow:
            for change in _followed(options, opened, params):
                click.echo(json.dumps(change, ensure_ascii=False) if options.json else safe(CHANGES.plain(change)[0]))
            return
        reply = opened.client.send(calls.list_changes(opened.space, **params))
        answer(options, reply, *CHANGES)
        more = "There are more" if reply.data["next_cursor"] else "That is all so far"
        talk(f"{more}: --since {reply.data['seq']}")


def _followed(options: Globals, opened: "Session", params: dict[str, Any]) -> Iterator[Any]:
    """Yield changes as they happen: a server streams them, a database file is polled."""
    if server_url(options) is None:
        yield from _looked(opened, params)
        return
    last: str | None = None
    while True:
        try:
            for at, change in listen(opened.client, opened.space, params, last):
                last = at
                if change is not None:
                    yield change
        except Unreachable:
            if last is None:  # there never was a server
                raise
        time.sleep(PAUSE)


def _looked(opened: "Session", params: dict[str, Any]) -> Iterator[Any]:
    if "since" not in params:
        params = {**params, "since": opened.client.send(calls.get_space(opened.space)).data["seq"]}
    while True:
        page = opened.client.send(calls.list_changes(opened.space, **params)).data
        yield from page["items"]
        params = {**params, "since": page["seq"]}
        if page["next_cursor"] is None:
            time.sleep(PAUSE)

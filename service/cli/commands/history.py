"""Commands about history: versions of a memory, restore, undo, and the changes of a space."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import click

from muisti.client import calls
from muisti.client import names as by_name
from muisti.core.model.choices import BATCH_MAX, CHANGES_MAX, ChangeKind, Show
from muisti.service.checkpoints.commands import seq_of
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.client import Unreachable, listen
from muisti.service.terminal.memory_names import etag, locate, memory_argument
from muisti.service.terminal.options import (
    allow_secrets,
    as_filter,
    choice,
    comma_list,
    dry_run,
    filters,
    flag,
    if_version,
    integer,
    option,
)
from muisti.service.terminal.output import answer, talk
from muisti.service.terminal.session import Session, server_url, session
from muisti.service.terminal.views import Shown, ago, brief, cell, grid, listed, safe, short, short_id, stated, tabbed

SHOWN = 80  # characters of a text
PAUSE = 1.0  # seconds between two polls of a file, and before a reconnection to a server


@command("muisti history 0197a3c0-5f4e-7000-8000-0123456789ab", "muisti history rules/deploy")
@memory_argument
def history(options: Globals, name: tuple[str, ...]) -> None:
    """Show the versions of a memory and what each changed.

    Versions are listed newest first, also of a deleted or superseded memory. A CATEGORY and a KEY name the memory at
    that address now, else the last one there. Plain lines have the version, its time, and a field with its old and new
    value.
    """
    with session(options, reads=True) as opened:
        found = locate(opened, name, gone=True)
        reply = opened.whole(lambda cursor: by_name.history(opened.space, found, cursor=cursor))
        answer(options, reply, lambda data: _table(data["items"]), lambda data: [*_lines(data["items"])])
        if len(reply.data["chain"]) > 1:
            talk(f"One superseded the other: {', '.join(reply.data['chain'])}")


@command(
    "muisti restore 0197a3c0-5f4e-7000-8000-0123456789ab",
    "muisti restore 0197a3c0-5f4e-7000-8000-0123456789ab --to 3",
    "muisti restore rules deploy",
)
@memory_argument
@integer("--to", "Version to restore.  [default: the one before the last change]", 1)
@if_version
@allow_secrets
@dry_run
def restore(options: Globals, name: tuple[str, ...], *, to: int | None, if_version: int | None, dry_run: bool) -> None:
    """Restore an earlier version of a memory.

    This makes a new version, so nothing is lost. Without --to it undoes the last change or deletion. A CATEGORY and a
    KEY name the memory at that address now, else the last one there. Prints the ID and the new version.
    """
    with session(options) as opened:
        found = locate(opened, name, gone=True)
        body = {} if to is None else {"version": to}
        tag = etag(opened.client, opened.space, found, if_version)
        reply = opened.client.send(by_name.restore(opened.space, found, body, if_match=tag, dry_run=dry_run))
        answer(options, reply, *stated("Restored {id}: now version {version}.", "id", "version"))


@command("muisti undo", "muisti undo --author ann --last 3")
@integer("--last", "Undo so many changes.  [default: the last call]", 1, BATCH_MAX)
@option("--author", "Undo changes of memories of this author.")
@option("--request", "Undo the request with this X-Request-Id; all its changes, unless --last.", metavar="ID")
@allow_secrets
@dry_run
def undo(options: Globals, *, dry_run: bool, **which: Any) -> None:
    """Undo the last call.

    Undoes your last request as a whole, another --request, or a change of an author's memories. All or none: if others
    have changed the same memories since, the command fails and names them. Prints the IDs of the memories.
    """
    if which["author"] is not None and which["request"] is not None:
        raise click.UsageError("give --author or --request, not both")
    given = {name: value for name, value in which.items() if value is not None}
    with session(options) as opened:
        reply = opened.client.send(calls.undo(opened.space, given, dry_run=dry_run))
        if reply.data.get("undone") and not options.json:
            talk(f"Undone: {reply.data['undone']}.")
        answer(options, reply, _undone, lambda data: [*(one["id"] for one in data["items"]), *data["ended"]])


def _undone(data: Mapping[str, Any]) -> Shown:
    lines = [f"{one['id']} is as before, at version {one['version']}: {short(one['content'])}" for one in data["items"]]
    return cell("\n".join([*lines, *(f"{one} is deleted." for one in data["ended"])]))


def _table(versions: list[Mapping[str, Any]]) -> Shown:
    table = grid(None, "version", "since", "changed", right=("version",))
    for version in versions:
        changed = [f"{one['field']}: {short(one['before'])} → {short(one['after'])}" for one in version["changes"]]
        shown = "\n".join(changed) or brief(version["memory"]["content"], SHOWN)
        table.add_row(str(version["memory"]["version"]), ago(version["born_at"]), cell(shown))
    if versions[0]["died_at"] is not None:
        table.add_row("", ago(versions[0]["died_at"]), cell("deleted", "dim"))
    return table


def _lines(versions: list[Mapping[str, Any]]) -> Iterator[str]:
    for version in versions:
        number, since = version["memory"]["version"], version["born_at"]
        for one in version["changes"] or [{"field": "", "before": "", "after": ""}]:
            yield tabbed(number, since, one["field"], short(one["before"]), short(one["after"]))


def _changed_text(change: Mapping[str, Any]) -> str:
    memory = change.get("after") or change.get("before")
    return brief(memory["content"]) if memory else ""


CHANGES = listed(
    {
        "seq": "seq",
        "when": lambda one: ago(one["at"]),
        "change": "change",
        "id": lambda change: "" if change["memory_id"] is None else short_id({"id": change["memory_id"]}),
        "by": lambda one: cell(one["actor"], "dim"),
        "text": lambda one: _changed_text(one)[:SHOWN],
    },
    ("seq", "at", "change", "memory_id", "actor", _changed_text),
    right=("seq",),
)


@command(
    "muisti changes",
    "muisti changes --since yesterday",
    "muisti changes --follow --change created,updated --tag infra",
    "muisti changes --since b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17 --json",
)
@option("--since", "After this time (2h, yesterday), or after the point that the last page printed.", metavar="POINT")
@flag("--follow", "Keep showing new changes, from now or --since, until Ctrl-C.")
@integer("--limit", "Show at most N changes.  [default: 100]", 1, CHANGES_MAX)
@option("--change", f"Only this kind of change: {', '.join(get_args(ChangeKind))}.", metavar="KIND", multiple=True)
@choice("--show", "IDs only, the memory after the change, or also before.  [default: after]", get_args(Show))
@filters
def changes(options: Globals, *, since: str | None, follow: bool, **asked: Any) -> None:
    """Show the changes of a space, oldest first.

    Plain lines have the number, the time, the kind of change, the ID, who made it, and the text. With --follow each
    change is printed as it happens, on a line of its own; with --json as a JSON object.
    """
    given = {name: asked.pop(name) for name in ("limit", "change", "show")}
    wanted = as_filter(**asked)
    given["change"] = ",".join(comma_list(given["change"])) or None
    given["filter"] = None if wanted is None else json.dumps(wanted)
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


def _followed(options: Globals, opened: Session, params: dict[str, Any]) -> Iterator[Any]:
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


def _looked(opened: Session, params: dict[str, Any]) -> Iterator[Any]:
    if "since" not in params:
        params = {**params, "since": opened.client.send(calls.get_space(opened.space)).data["seq"]}
    while True:
        page = opened.client.send(calls.list_changes(opened.space, **params)).data
        yield from page["items"]
        params = {**params, "since": page["seq"]}
        if page["next_cursor"] is None:
            time.sleep(PAUSE)

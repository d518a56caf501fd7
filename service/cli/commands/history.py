"""Commands about what was: history, restore, undo."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.terms import BATCH_MAX
from muisti.service.app import named
from muisti.service.cli.base import Globals, command, completes
from muisti.service.cli.commands.write import allowed, talk_of_flags
from muisti.service.cli.naming import NAME, check_name, locate
from muisti.service.cli.options import allow_secrets_option, dry_run_option, if_version_option, integer, option
from muisti.service.cli.output import ago, answer, cell, grid, lines, one_line, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN = 80  # characters of a value that changed


@command("muisti history 0197a3c0-5f4e-7000-8000-0123456789ab", "muisti history rules/deploy")
@click.argument("name", metavar=NAME, nargs=-1, required=True, shell_complete=completes("memory"))
def history(options: Globals, name: tuple[str, ...]) -> None:
    """Show the versions of a memory and what each changed.

    Versions are listed newest first, also of a deleted or superseded memory. A CATEGORY and a KEY name the memory at
    that address now, else the last one there. Plain lines have the version, its time, and a field with its old and new
    value.
    """
    check_name(name)
    with session(options, reads=True) as opened:
        found = locate(opened, name, gone=True)
        reply = opened.client.send(named.history(opened.space, found))
        while (cursor := reply.data["next_cursor"]) is not None:
            more = opened.client.send(named.history(opened.space, found, cursor=cursor)).data
            reply.data.update(items=reply.data["items"] + more["items"], next_cursor=more["next_cursor"])
        answer(options, reply, lambda data: _table(data["items"]), lambda data: [*_lines(data["items"])])
        if len(reply.data["chain"]) > 1:
            talk(f"One superseded the other: {', '.join(reply.data['chain'])}")


@command(
    "muisti restore 0197a3c0-5f4e-7000-8000-0123456789ab",
    "muisti restore 0197a3c0-5f4e-7000-8000-0123456789ab --to 3",
    "muisti restore rules deploy",
)
@click.argument("name", metavar=NAME, nargs=-1, required=True, shell_complete=completes("memory"))
@integer("--to", "Version to restore.  [default: the one before the last change]", 1)
@if_version_option
@allow_secrets_option
@dry_run_option
def restore(
    options: Globals,
    name: tuple[str, ...],
    *,
    to: int | None,
    if_version: int | None,
    allow_secrets: bool,
    dry_run: bool,
) -> None:
    """Restore an earlier version of a memory.

    This makes a new version, so nothing is lost. Without --to it undoes the last change or deletion. A CATEGORY and a
    KEY name the memory at that address now, else the last one there. Prints the ID and the new version.
    """
    check_name(name)
    with session(options, allowed(allow_secrets)) as opened:
        found = locate(opened, name, gone=True)
        body = {} if to is None else {"version": to}
        tag = named.etag(opened.client, opened.space, found, if_version)
        reply = opened.client.send(named.restore(opened.space, found, body, if_match=tag, dry_run=dry_run))
        talk_of_flags(reply.data)
        answer(
            options,
            reply,
            lambda memory: cell(f"Restored {memory['id']}: now version {memory['version']}."),
            lines("id", "version"),
        )


@command("muisti undo", "muisti undo --author ann --last 3")
@integer("--last", "Undo so many changes.  [default: the last call]", 1, BATCH_MAX)
@option("--author", "Undo changes of memories of this author.")
@option("--request", "Undo the request with this X-Request-Id; all its changes, unless --last.", metavar="ID")
@allow_secrets_option
@dry_run_option
def undo(options: Globals, *, allow_secrets: bool, dry_run: bool, **which: Any) -> None:
    """Undo the last call.

    Undoes your last request as a whole, another --request, or a change of an author's memories. All or none: if others
    have changed the same memories since, the command fails and names them. Prints the IDs of the memories.
    """
    if which["author"] is not None and which["request"] is not None:
        raise click.UsageError("give --author or --request, not both")
    given = {name: value for name, value in which.items() if value is not None}
    with session(options, allowed(allow_secrets)) as opened:
        reply = opened.client.send(calls.undo(opened.space, given, dry_run=dry_run))
        talk_of_flags(reply.data)
        if reply.data.get("undone") and not options.json:
            talk(f"Undone: {reply.data['undone']}.")
        answer(options, reply, _undone, _ids)


def _ids(data: Mapping[str, Any]) -> list[str]:
    return [*(one["id"] for one in data["items"]), *data["ended"]]


def _undone(data: Mapping[str, Any]) -> "RenderableType":
    lines = [f"{one['id']} is as before, at version {one['version']}: {short(one['content'])}" for one in data["items"]]
    return cell("\n".join([*lines, *(f"{one} is deleted." for one in data["ended"])]))


def _table(versions: list[Mapping[str, Any]]) -> "RenderableType":
    table = grid(None, "version", "since", "changed", right=("version",))
    for version in versions:
        changed = [f"{one['field']}: {short(one['before'])} → {short(one['after'])}" for one in version["changes"]]
        shown = "\n".join(changed) or one_line(version["memory"]["content"])[:SHOWN]
        table.add_row(str(version["memory"]["version"]), ago(version["born_at"]), cell(shown))
    if versions[0]["died_at"] is not None:
        table.add_row("", ago(versions[0]["died_at"]), cell("deleted", "dim"))
    return table


def _lines(versions: list[Mapping[str, Any]]) -> Iterator[str]:
    for version in versions:
        number, since = version["memory"]["version"], version["born_at"]
        for one in version["changes"] or [{"field": "", "before": "", "after": ""}]:
            yield tabbed(number, since, one["field"], short(one["before"]), short(one["after"]))


def short(value: Any) -> str:
    """Return a value on one line, cut at `SHOWN` characters."""
    text = "-" if value is None else one_line(value if isinstance(value, str) else str(value))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"

"""The changes command."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import CHANGES_MAX, ChangeKind, Show
from muisti.service.app.client import ApiError, Unreachable, listen
from muisti.service.cli.base import Globals, Subcommands, command
from muisti.service.cli.commands.history import short
from muisti.service.cli.commands.write import allowed, talk_of_flags
from muisti.service.cli.options import Point, allow_secrets_option, as_filter, comma_list, dry_run_option, filters
from muisti.service.cli.output import ago_of, alike, answer, brief, cell, lines, listed, safe, said, short_id, talk
from muisti.service.cli.session import ask, server_url, session

if TYPE_CHECKING:
    from muisti.service.cli.opening import Session

# Commands about points of a space's history: checkpoint, diff, rollback

COMMANDS = {
    "create": ("checkpoints:create", "Name the space's current point."),
    "list": ("checkpoints:list_checkpoints", "List checkpoints, newest first."),
    "delete": ("checkpoints:delete", "Delete a checkpoint; no memory changes."),
}

PAST_RETENTION = "past_retention"  # code of a refusal: the space has no history of that time


checkpoint = Subcommands(
    "checkpoint",
    commands_at=COMMANDS,
    examples=('muisti checkpoint create before-import --note "all was well"', "muisti checkpoint list"),
    help="Name points in a space's history, to return to.\n\n`muisti diff` and `muisti rollback` take the name. The "
    "versions of memories at a checkpoint are kept as long as it exists.",
)


def _lines(data: Any) -> Iterator[tuple[str, ...]]:
    for one in data["items"]:
        if one["change"] == "changed":
            for each in one["changes"]:
                yield "changed", one["id"], each["field"], short(each["before"]), short(each["after"])
        else:
            was, now = (None if one[side] is None else one[side]["content"] for side in ("before", "after"))
            yield one["change"], one["id"], "content", short(was), short(now)


def _number(one: Any) -> str:
    return one["seq"].rpartition(":")[2]


CHECKPOINTS = listed(
    {"checkpoint": "name", "change": _number, "made": ago_of("created_at"), "by": "actor", "note": "note"},
    ("name", _number, "created_at", "actor", "note"),
    right=("change",),
    none="There are no checkpoints yet: muisti checkpoint create NAME",
)
DIFFERENCES = alike(("what", "memory", "field", "was", "is"), _lines, none="Nothing differs.")
ROLLED_BACK = listed(
    {
        "came back": "added",
        "changed": "changed",
        "ended": "ended",
        "to undo this": lambda data: f"muisti rollback {data['before'].rpartition(':')[2]}",
    },
    ("added", "changed", "ended"),
)


@command('muisti checkpoint create before-import --note "all was well"')
@click.argument("name")
@click.option("--note", metavar="TEXT", help="Purpose of the checkpoint.")
@dry_run_option
def create(options: Globals, name: str, note: str | None, dry_run: bool) -> None:
    """Name the space's current point.

    Prints the name and the number of the last change up to it.
    """
    view, body = CHECKPOINTS._replace(plain=lines("name", _number)), {"name": name, "note": note}
    ask(options, lambda space: calls.create_checkpoint(space, body, dry_run=dry_run), view)


@command("muisti checkpoint list", name="list")
def list_checkpoints(options: Globals) -> None:
    """List checkpoints, newest first."""
    ask(options, calls.list_checkpoints, CHECKPOINTS, reads=True)


@command("muisti checkpoint delete before-import")
@click.argument("name")
@dry_run_option
def delete(options: Globals, name: str, dry_run: bool) -> None:
    """Delete a checkpoint; no memory changes."""
    forgot = said(f"Forgot {name}.", name)
    ask(options, lambda space: calls.delete_checkpoint(space, name, dry_run=dry_run), forgot)


@command("muisti diff before-import", "muisti diff yesterday", "muisti diff 2026-01-31 before-import")
@click.argument("since")
@click.argument("until", required=False)
@click.option("--limit", type=click.IntRange(1, 100), default=50, show_default=True, help="Memories in a page.")
@click.option("--cursor", metavar="TEXT", help="Continue after a page: the cursor that it printed.")
def diff(options: Globals, since: str, until: str | None, limit: int, cursor: str | None) -> None:
    """Show what changed between two points.

    SINCE and UNTIL are checkpoints, times such as 7d or yesterday, or numbers of changes; without UNTIL it is now.
    Prints how each memory differs (added, changed, ended), its ID, and a field with its old and new value.
    """
    with session(options, reads=True) as opened:
        begin, end = point_of(opened, since), None if until is None else point_of(opened, until)
        request = calls.diff_space(opened.space, since=begin, until=end, limit=limit, cursor=cursor)
        answer(options, opened.client.send(request), *DIFFERENCES)


@command("muisti rollback before-import --dry-run", "muisti rollback before-import")
@click.argument("to")
@allow_secrets_option
@dry_run_option
def rollback(options: Globals, to: str, *, allow_secrets: bool, dry_run: bool) -> None:
    """Restore a whole space to an earlier point.

    TO is a checkpoint, a time such as 2h or yesterday, or the number of a change. Memories that were added since are
    deleted; memories that were changed or deleted since are restored. The rollback is a change too, so it can be
    undone. Prints how many memories came back, changed and ended.
    """
    with session(options, allowed(allow_secrets)) as opened:
        request = calls.roll_back(opened.space, {"to": point_of(opened, to)}, dry_run=dry_run)
        reply = opened.client.send(request)
        talk_of_flags(reply.data)
        answer(options, reply, *ROLLED_BACK)


def point_of(opened: "Session", text: str) -> str:
    """Return a point in a form of the API. A word such as `monday` or `7d` names a checkpoint, else a time."""
    at = Point().read(text)
    if at is None or at == text:
        return text
    named = opened.client.send(calls.list_checkpoints(opened.space)).data["items"]
    return text if any(one["name"] == text for one in named) else at


def seq_of(opened: "Session", text: str) -> str | None:
    """Return the Muisti-Seq of a time in a form of `Point`; None for a time before the space's history begins.

    Any other text is returned as it is.
    """
    at = Point().read(text)
    if at is None:
        return text
    request = calls.diff_space(opened.space, since=at, until=at, limit=1)
    try:
        return opened.client.send(request).data["since"]
    except ApiError as error:
        if error.code != PAST_RETENTION:
            raise
        return None


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
@click.option(
    "--since",
    metavar="POINT",
    help="Show changes after this time (2h, yesterday), or after the point that the last page printed.",
)
@click.option("--follow", is_flag=True, help="Keep showing new changes, from now or --since, until Ctrl-C.")
@click.option(
    "--limit", type=click.IntRange(1, CHANGES_MAX), metavar="N", help="Show at most N changes.  [default: 100]"
)
@click.option(
    "--change",
    "kinds",
    multiple=True,
    metavar="KIND",
    help=f"Only this kind of change: {', '.join(get_args(ChangeKind))}.",
)
@click.option(
    "--show",
    type=click.Choice(get_args(Show)),
    help="IDs only, the memory after the change, or also before.  [default: after]",
)
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

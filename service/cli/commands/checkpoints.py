"""Commands about points of a space's history: checkpoint, diff, rollback."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.commands.history import short
from muisti.service.cli.commands.write import allowed, talk_of_flags
from muisti.service.cli.options import allow_secrets_option, dry_run_option
from muisti.service.cli.output import ago, answer, cell, grid, tabbed
from muisti.service.cli.points import point_of
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

COMMANDS = {
    "create": ("checkpoints:create", "Name the space's current point."),
    "list": ("checkpoints:list_checkpoints", "List checkpoints, newest first."),
    "delete": ("checkpoints:delete", "Delete a checkpoint; no memory changes."),
}

checkpoint = Subcommands(
    "checkpoint",
    commands_at=COMMANDS,
    examples=('muisti checkpoint create before-import --note "all was well"', "muisti checkpoint list"),
    help="Name points in a space's history, to return to.\n\n`muisti diff` and `muisti rollback` take the name. The "
    "versions of memories at a checkpoint are kept as long as it exists.",
)


@click.command(cls=Command, examples=('muisti checkpoint create before-import --note "all was well"',))
@click.argument("name")
@click.option("--note", metavar="TEXT", help="Purpose of the checkpoint.")
@dry_run_option
@click.pass_obj
def create(options: Globals, name: str, note: str | None, dry_run: bool) -> None:
    """Name the space's current point.

    Prints the name and the number of the last change up to it.
    """
    with session(options) as opened:
        request = calls.create_checkpoint(opened.space, {"name": name, "note": note}, dry_run=dry_run)
        reply = opened.client.send(request)
        answer(options, reply, table=lambda data: _table([data]), plain=lambda data: [tabbed(name, _number(data))])


@click.command("list", cls=Command, examples=("muisti checkpoint list",))
@click.pass_obj
def list_checkpoints(options: Globals) -> None:
    """List checkpoints, newest first."""
    with session(options, reads=True) as opened:
        answer(
            options,
            opened.client.send(calls.list_checkpoints(opened.space)),
            table=lambda data: _table(data["items"]),
            plain=lambda data: [
                tabbed(one["name"], _number(one), one["created_at"], one["actor"], one["note"]) for one in data["items"]
            ],
            none="There are no checkpoints yet: muisti checkpoint create NAME",
        )


@click.command(cls=Command, examples=("muisti checkpoint delete before-import",))
@click.argument("name")
@dry_run_option
@click.pass_obj
def delete(options: Globals, name: str, dry_run: bool) -> None:
    """Delete a checkpoint; no memory changes."""
    with session(options) as opened:
        reply = opened.client.send(calls.delete_checkpoint(opened.space, name, dry_run=dry_run))
        answer(options, reply, table=lambda _: cell(f"Forgot {name}."), plain=lambda _: [name])


@click.command(
    cls=Command, examples=("muisti diff before-import", "muisti diff yesterday", "muisti diff 2026-01-31 before-import")
)
@click.argument("since")
@click.argument("until", required=False)
@click.option("--limit", type=click.IntRange(1, 100), default=50, show_default=True, help="Memories in a page.")
@click.option("--cursor", metavar="TEXT", help="Continue after a page: the cursor that it printed.")
@click.pass_obj
def diff(options: Globals, since: str, until: str | None, limit: int, cursor: str | None) -> None:
    """Show what changed between two points.

    SINCE and UNTIL are checkpoints, times such as 7d or yesterday, or numbers of changes; without UNTIL it is now.
    Prints how each memory differs (added, changed, ended), its ID, and a field with its old and new value.
    """
    with session(options, reads=True) as opened:
        begin, end = point_of(opened, since), None if until is None else point_of(opened, until)
        request = calls.diff_space(opened.space, since=begin, until=end, limit=limit, cursor=cursor)
        reply = opened.client.send(request)
        answer(
            options,
            reply,
            table=_diff_table,
            plain=lambda data: [tabbed(*line) for line in _lines(data)],
            none="Nothing differs.",
        )


@click.command(cls=Command, examples=("muisti rollback before-import --dry-run", "muisti rollback before-import"))
@click.argument("to")
@allow_secrets_option
@dry_run_option
@click.pass_obj
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
        answer(options, reply, table=_rolled_back, plain=lambda data: [tabbed(*_counts(data))])


def _number(one: Any) -> str:
    return one["seq"].rpartition(":")[2]


def _counts(data: Any) -> list[int]:
    return [data["added"], data["changed"], data["ended"]]


def _rolled_back(data: Any) -> "Table":
    table = grid(None, "came back", "changed", "ended", "to undo this")
    table.add_row(*map(str, _counts(data)), f"muisti rollback {data['before'].rpartition(':')[2]}")
    return table


def _table(items: list[Any]) -> "Table":
    now = datetime.now(UTC)
    table = grid(None, "checkpoint", "change", "made", "by", "note", right=("change",))
    for one in items:
        table.add_row(
            cell(one["name"]), _number(one), ago(one["created_at"], now), cell(one["actor"]), cell(one["note"])
        )
    return table


def _diff_table(data: Any) -> "Table":
    table = grid(None, "what", "memory", "field", "was", "is")
    for line in _lines(data):
        table.add_row(*(cell(text) for text in line))
    return table


def _lines(data: Any) -> Iterator[tuple[str, ...]]:
    for one in data["items"]:
        if one["change"] == "changed":
            for each in one["changes"]:
                yield "changed", one["id"], each["field"], short(each["before"]), short(each["after"])
        else:
            was, now = (None if one[side] is None else one[side]["content"] for side in ("before", "after"))
            yield one["change"], one["id"], "content", short(was), short(now)

"""Commands about reads: who has read what, how fast, and which questions found nothing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.output import answer, cell, grid, tabbed, talk
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

COMMANDS = {
    "list": ("reads:list_reads", "List the last reads of a server, newest first."),
    "unanswered": ("reads:unanswered", "List the questions that found nothing, the most frequent first."),
    "forget": ("reads:forget", "Forget the reads and questions of a space."),
}
OFF = "The read log is off; MUISTI_READ_LOG=ring or questions of the server turns it on."

reads = Subcommands(
    "reads",
    commands_at=COMMANDS,
    examples=("muisti reads list", "muisti reads unanswered"),
    help="Show who has read a space, and which questions found nothing.\n\nA server keeps its last reads in memory, "
    "without content, when MUISTI_READ_LOG says so. Each of its processes has its own.",
)
limit = click.option("--limit", type=click.IntRange(1, 100), default=50, metavar="N", help="At most N.  [default: 50]")


@click.command("list", cls=Command, examples=("muisti reads list", "muisti reads list --limit 5 --json"))
@limit
@click.pass_obj
def list_reads(options: Globals, limit: int) -> None:
    """List the last reads of a server, newest first.

    Prints for each the time, the operation, who read, milliseconds, the number of memories, the evidence and the
    receipt.
    """
    columns = ("at", "operation", "actor", "ms", "hits", "evidence", "receipt")
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.list_reads(opened.space, limit=limit))
        answer(
            options,
            reply,
            table=lambda data: _table(data, columns),
            plain=lambda data: [tabbed(*(one[name] for name in columns)) for one in data["items"]],
        )
        _tell(options, reply.data, "off")


@click.command(cls=Command, examples=("muisti reads unanswered", "muisti reads unanswered --limit 10"))
@limit
@click.pass_obj
def unanswered(options: Globals, limit: int) -> None:
    """List the questions that found nothing, the most frequent first.

    Prints for each how often it was asked, when last, and its text.
    """
    columns = ("count", "last_at", "text")
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.list_unanswered(opened.space, limit=limit))
        answer(
            options,
            reply,
            table=lambda data: _table(data, columns),
            plain=lambda data: [tabbed(*(one[name] for name in columns)) for one in data["items"]],
        )
        _tell(options, reply.data, "off", "ring")


@click.command(cls=Command, examples=("muisti reads forget",))
@click.pass_obj
def forget(options: Globals) -> None:
    """Forget the reads and questions of a space."""
    with session(options) as opened:
        opened.client.send(calls.forget_reads(opened.space))


def _tell(options: Globals, data: Mapping[str, Any], *missing: str) -> None:
    """Tell that the log keeps nothing of what was asked for."""
    if data["mode"] in missing and not options.json:
        talk(OFF if data["mode"] == "off" else "No questions are kept; MUISTI_READ_LOG=questions keeps them.")


def _table(data: Mapping[str, Any], columns: tuple[str, ...]) -> "Table":
    found = grid(None, *columns, right=tuple(name for name in columns if name in ("ms", "hits", "count")))
    for one in data["items"]:
        found.add_row(*(cell("" if one[name] is None else str(one[name])) for name in columns))
    return found

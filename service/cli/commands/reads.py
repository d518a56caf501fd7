"""Commands about reads: who has read what, how fast, and which questions found nothing."""

from collections.abc import Mapping
from typing import Any

from muisti.client import calls
from muisti.service.cli.base import Globals, Subcommands
from muisti.service.cli.options import integer
from muisti.service.cli.output import same, talk
from muisti.service.cli.session import ask, session

OFF = "The read log is off; MUISTI_READ_LOG=ring or questions of the server turns it on."

reads = Subcommands(
    "reads",
    examples=("muisti reads list", "muisti reads unanswered"),
    help="Show who has read a space, and which questions found nothing.\n\nA server keeps its last reads in memory, "
    "without content, when MUISTI_READ_LOG says so. Each of its processes has its own.",
)
limit = integer("--limit", "At most N.", 1, 100, default=50)


READS = same("at", "operation", "actor", "ms", "hits", "evidence", "receipt", right=("ms", "hits"))
UNANSWERED = same("count", "last_at", "text", right=("count",))


@reads.has("muisti reads list", "muisti reads list --limit 5 --json", name="list")
@limit
def list_reads(options: Globals, limit: int) -> None:
    """List the last reads of a server, newest first.

    Prints for each the time, the operation, who read, milliseconds, the number of memories, the evidence and the
    receipt.
    """
    data = ask(options, lambda space: calls.list_reads(space, limit=limit), READS, reads=True)
    _tell(options, data, "off")


@reads.has("muisti reads unanswered", "muisti reads unanswered --limit 10")
@limit
def unanswered(options: Globals, limit: int) -> None:
    """List the questions that found nothing, the most frequent first.

    Prints for each how often it was asked, when last, and its text.
    """
    data = ask(options, lambda space: calls.list_unanswered(space, limit=limit), UNANSWERED, reads=True)
    _tell(options, data, "off", "ring")


@reads.has("muisti reads forget")
def forget(options: Globals) -> None:
    """Forget the reads and questions of a space."""
    with session(options) as opened:
        opened.client.send(calls.forget_reads(opened.space))


def _tell(options: Globals, data: Mapping[str, Any], *missing: str) -> None:
    """Tell that the log keeps nothing of what was asked for."""
    if data["mode"] in missing and not options.json:
        talk(OFF if data["mode"] == "off" else "No questions are kept; MUISTI_READ_LOG=questions keeps them.")

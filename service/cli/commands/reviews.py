"""Commands about what memories are worth: feedback, telemetry, promote, prune."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import Verdict
from muisti.service.app import named
from muisti.service.cli.base import Globals, command, completes
from muisti.service.cli.naming import NAME, check_name, locate
from muisti.service.cli.options import dry_run_option, integer, real
from muisti.service.cli.output import View, ago, answer, cell, lines, one_line, talk
from muisti.service.cli.session import ask, session

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN = 80  # characters of a memory
REVIEWS = {"promote": calls.promote, "prune": calls.prune}
USED = ("retrieval_count", "last_retrieved_at", "useful", "not_useful")


@command("muisti feedback 0197a3c0-… useful", "muisti feedback rules/deploy none")
@click.argument("name", metavar=NAME, nargs=-1, required=True, shell_complete=completes("memory"))
@click.argument("verdict", type=click.Choice(["useful", "not_useful", "none"]))
@dry_run_option
def feedback(options: Globals, name: tuple[str, ...], verdict: str, dry_run: bool) -> None:
    """Mark a memory as useful or not useful.

    `none` removes your mark. The last mark of each caller counts; together they change the memory's score by a tenth at
    most. Prints how many callers found it useful, and how many did not.
    """
    check_name(name)
    said = verdict if verdict in get_args(Verdict) else None
    with session(options) as opened:
        found = locate(opened, name)
        reply = opened.client.send(named.give_feedback(opened.space, found, {"verdict": said}, dry_run=dry_run))
        answer(options, reply, lambda data: cell(_judged(data)), lines("useful", "not_useful"))


@command("muisti telemetry 0197a3c0-5f4e-7000-8000-0123456789ab", "muisti telemetry rules deploy")
@click.argument("name", metavar=NAME, nargs=-1, required=True, shell_complete=completes("memory"))
def telemetry(options: Globals, name: tuple[str, ...]) -> None:
    """Show how often a memory was retrieved, and its feedback.

    Prints the number of retrievals, the time of the last one, and how many callers found it useful or not useful.
    """
    check_name(name)
    with session(options, reads=True) as opened:
        reply = opened.client.send(named.telemetry(opened.space, locate(opened, name)))
        answer(options, reply, lambda data: cell(_used(data)), lines(*USED))


@command("muisti promote --dry-run", "muisti promote --retrievals 3")
@integer("--retrievals", "Least number of retrievals.  [default: 5]", 0)
@dry_run_option
def promote(options: Globals, *, dry_run: bool, **given: Any) -> None:
    """Activate candidates that were retrieved often.

    A candidate is a memory that nobody has confirmed; searches skip it unless asked for it. Each run takes up to 500,
    the oldest first. Prints the IDs of the memories.
    """
    _review(options, "promote", "active", given, dry_run=dry_run)


@command("muisti prune --dry-run", "muisti prune --days 30 --retrievals 1")
@integer("--retrievals", "Fewer retrievals than this.  [default: 3]", 0)
@real("--days", "Older than X days.  [default: 14]", 0)
@dry_run_option
def prune(options: Globals, *, dry_run: bool, **given: Any) -> None:
    """Deprecate old candidates that were rarely retrieved.

    Guards and memories of high importance are left alone, and nothing is deleted. Each run takes up to 500, the oldest
    first. Prints the IDs of the memories.
    """
    _review(options, "prune", "deprecated", given, dry_run=dry_run)


def _review(options: Globals, what: str, status: str, given: Mapping[str, Any], *, dry_run: bool) -> None:
    body = {name: value for name, value in given.items() if value is not None}
    view = View(lambda found: _table(found, status), lines("id"))
    found = ask(options, lambda space: REVIEWS[what](space, body, dry_run=dry_run), view)
    if not dry_run and found["more"]:
        talk(f"There may be more: muisti {what} again.")


def _used(data: Mapping[str, Any]) -> str:
    last = f", last {ago(data['last_retrieved_at'], datetime.now(UTC))}" if data["last_retrieved_at"] else ""
    count = data["retrieval_count"]
    return f"Retrieved {count:,} time{'' if count == 1 else 's'}{last}. {_judged(data)}"


def _judged(data: Mapping[str, Any]) -> str:
    return f"Useful to {data['useful']}, not useful to {data['not_useful']}."


def _table(found: Mapping[str, Any], status: str) -> "RenderableType":
    lines = [f"{memory['id']} is {status} now: {one_line(memory['content'])[:SHOWN]}" for memory in found["items"]]
    before, after = (", ".join(f"{n} {name}" for name, n in found[when].items()) for when in ("before", "after"))
    return cell("\n".join([*lines, f"Before: {before or 'nothing'}. After: {after or 'nothing'}."]))

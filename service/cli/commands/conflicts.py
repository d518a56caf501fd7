"""Commands about conflicts that were stored for review."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import Decision
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.options import dry_run_option
from muisti.service.cli.output import answer, cell, grid, one_line, tabbed
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

COMMANDS = {
    "list": ("conflicts:list_conflicts", "List conflicts that wait for a decision."),
    "decide": ("conflicts:decide", "Decide a conflict: keep both memories, or one of them."),
}
DONE = {"keep": "Kept both.", "supersede": "The new memory superseded {}.", "reject": "Deleted {}."}

conflicts = Subcommands(
    "conflicts",
    commands_at=COMMANDS,
    examples=("muisti add 'We deploy on Mondays' --on-conflict review", "muisti conflicts list"),
    help="Resolve memories that duplicate or contradict others.\n\nWith `muisti add --on-conflict review` such a "
    "memory is stored, and the conflict waits here for a decision.",
)


@click.command("list", cls=Command, examples=("muisti conflicts list",))
@click.option("--limit", type=click.IntRange(1, 100), default=50, show_default=True, help="Conflicts in a page.")
@click.option("--cursor", metavar="TEXT", help="Continue after a page: the cursor that it printed.")
@click.pass_obj
def list_conflicts(options: Globals, limit: int, cursor: str | None) -> None:
    """List conflicts that wait for a decision, newest first.

    Prints for each conflict its number, its kind (duplicate or conflict), both IDs and the differences.
    """
    with session(options, reads=True) as opened:
        reply = opened.client.send(calls.list_conflicts(opened.space, limit=limit, cursor=cursor))
        answer(
            options,
            reply,
            table=lambda data: _table(data["items"]),
            plain=lambda data: [
                tabbed(one["id"], one["kind"], one["existing"]["id"], one["new"]["id"], _differs(one))
                for one in data["items"]
            ],
            none="There are no conflicts. `muisti add TEXT --on-conflict review` stores one for a later decision.",
        )


@click.command(cls=Command, examples=("muisti conflicts decide 12 supersede", "muisti conflicts decide 12 keep"))
@click.argument("number")
@click.argument("decision", type=click.Choice(get_args(Decision)))
@dry_run_option
@click.pass_obj
def decide(options: Globals, number: str, decision: str, dry_run: bool) -> None:
    """Decide a conflict: keep both memories, or one of them.

    NUMBER comes from `muisti conflicts list`. `keep` keeps both memories, `supersede` replaces the existing one by the
    new one, `reject` deletes the new one. Prints the decision and both IDs.
    """
    with session(options) as opened:
        request = calls.decide_conflict(opened.space, number, {"decision": decision}, dry_run=dry_run)
        reply = opened.client.send(request)
        answer(options, reply, table=lambda data: cell(_done(data)), plain=lambda data: [_line(data)])


def _done(data: Mapping[str, Any]) -> str:
    return DONE[data["decision"]].format(data["existing_id" if data["decision"] == "supersede" else "new_id"])


def _line(data: Mapping[str, Any]) -> str:
    return tabbed(data["decision"], data["existing_id"], data["new_id"])


def _differs(one: Mapping[str, Any]) -> str:
    return "; ".join(f"{part['existing'] or '-'} / {part['new'] or '-'}" for part in one["differs"])


def _table(items: Sequence[Mapping[str, Any]]) -> "Table":
    table = grid(None, "number", "kind", "existing", "new", "differs", right=("number",))
    for one in items:
        texts = (one_line(one[which]["content"]) for which in ("existing", "new"))
        table.add_row(one["id"], one["kind"], *map(cell, texts), cell(_differs(one)))
    return table

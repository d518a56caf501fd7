"""Commands about conflicts that were stored for review."""

from collections.abc import Mapping
from typing import Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import Decision
from muisti.service.cli.base import Globals, Subcommands
from muisti.service.cli.options import dry_run_option, integer, option
from muisti.service.cli.output import View, cell, lines, listed, one_line
from muisti.service.cli.session import ask

DONE = {"keep": "Kept both.", "supersede": "The new memory superseded {}.", "reject": "Deleted {}."}

conflicts = Subcommands(
    "conflicts",
    examples=("muisti add 'We deploy on Mondays' --on-conflict review", "muisti conflicts list"),
    help="Resolve memories that duplicate or contradict others.\n\nWith `muisti add --on-conflict review` such a "
    "memory is stored, and the conflict waits here for a decision.",
)


def _differs(one: Mapping[str, Any]) -> str:
    return "; ".join(f"{part['existing'] or '-'} / {part['new'] or '-'}" for part in one["differs"])


def _done(data: Mapping[str, Any]) -> str:
    return DONE[data["decision"]].format(data["existing_id" if data["decision"] == "supersede" else "new_id"])


CONFLICTS = listed(
    {
        "number": "id",
        "kind": "kind",
        "existing": lambda one: one_line(one["existing"]["content"]),
        "new": lambda one: one_line(one["new"]["content"]),
        "differs": _differs,
    },
    ("id", "kind", lambda one: one["existing"]["id"], lambda one: one["new"]["id"], _differs),
    right=("number",),
    none="There are no conflicts. `muisti add TEXT --on-conflict review` stores one for a later decision.",
)
DECIDED = View(lambda data: cell(_done(data)), lines("decision", "existing_id", "new_id"))


@conflicts.has("muisti conflicts list", name="list")
@integer("--limit", "Conflicts in a page.", 1, 100, default=50)
@option("--cursor", "Continue after a page: the cursor that it printed.", metavar="TEXT")
def list_conflicts(options: Globals, limit: int, cursor: str | None) -> None:
    """List conflicts that wait for a decision, newest first.

    Prints for each conflict its number, its kind (duplicate or conflict), both IDs and the differences.
    """
    ask(options, lambda space: calls.list_conflicts(space, limit=limit, cursor=cursor), CONFLICTS, reads=True)


@conflicts.has("muisti conflicts decide 12 supersede", "muisti conflicts decide 12 keep")
@click.argument("number")
@click.argument("decision", type=click.Choice(get_args(Decision)))
@dry_run_option
def decide(options: Globals, number: str, decision: str, dry_run: bool) -> None:
    """Decide a conflict: keep both memories, or one of them.

    NUMBER comes from `muisti conflicts list`. `keep` keeps both memories, `supersede` replaces the existing one by the
    new one, `reject` deletes the new one. Prints the decision and both IDs.
    """
    body = {"decision": decision}
    ask(options, lambda space: calls.decide_conflict(space, number, body, dry_run=dry_run), DECIDED)

"""Commands about receipts: searches that were kept, and what they would find now."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.choices import Evidence
from muisti.service.terminal.base import Globals, Subcommands
from muisti.service.terminal.options import Moment, choice, flag, limit, option
from muisti.service.terminal.output import talk
from muisti.service.terminal.session import ask
from muisti.service.terminal.views import listed

if TYPE_CHECKING:
    pass

ID = "0197a3c0-5f4e-7000-8000-0123456789af"

receipt = Subcommands(
    "receipt",
    examples=('muisti search "when do we deploy?" --receipt', f"muisti receipt replay {ID}"),
    help="List and show recorded searches, or run them again.\n\n`muisti search --receipt` records a search, by "
    "default for 30 days, and prints its ID.",
)


def _why(one: Mapping[str, Any]) -> str:
    by = one.get("superseded_by")
    return f"{one['why']} by {by}" if by else one["why"]


RECEIPTS = listed(
    {
        "receipt": "id",
        "made": "made_at",
        "by": "actor",
        "evidence": "evidence",
        "hits": "hits",
        "query": lambda one: one["query"] or one["strategy"],
    },
    ("id", "made_at", "actor", "evidence", "hits", "query"),
    right=("hits",),
)
MOVES = listed(
    {"memory": "id", "then": lambda one: one["before"] or "-", "now": lambda one: one["after"] or "-", "why": _why},
    ("id", "before", "after", "why"),
    right=("then", "now"),
    among="differences",
)
HITS = listed(
    {"rank": "rank", "score": lambda hit: f"{hit['score']:.3f}", "memory": "id", "version": "version"},
    ("rank", lambda hit: f"{hit['score']:.4f}", "id", "version"),
    right=("rank", "score", "version"),
    among="hits",
    note=lambda one: f"{one['parameters'].get('query') or one['strategy']}  ({one['made_at']})",
)


@receipt.has("muisti receipt list", "muisti receipt list --evidence none --since 7d", name="list")
@option("--actor", "Only of this caller, by its name in the audit log.")
@option("--since", "Only made at this time or later.", Moment())
@option("--until", "Only made before this time.", Moment())
@choice("--evidence", "Only with this evidence.", get_args(Evidence))
@limit("Show N at most.", 20)
@option("--cursor", "Continue a list: `next_cursor` of its last page.", metavar="TEXT")
def list_receipts(options: Globals, **asked: Any) -> None:
    """List recorded searches, newest first.

    Prints for each its ID, the time, who asked, the evidence, the number of hits and the query.
    """
    data = ask(options, lambda space: calls.list_receipts(space, **asked), RECEIPTS, reads=True)
    if data["next_cursor"] and not options.json:
        talk(f"More: --cursor {data['next_cursor']}")


@receipt.has(f"muisti receipt show {ID}", f"muisti receipt show {ID} --json")
@click.argument("id_", metavar="ID")
def show(options: Globals, id_: str) -> None:
    """Show the hits of a recorded search.

    Prints the rank, the score, the ID and the version of each hit.
    """
    ask(options, lambda _: calls.get_receipt(id_), HITS, reads=True)


@receipt.has(f"muisti receipt replay {ID}", f"muisti receipt replay {ID} --then")
@click.argument("id_", metavar="ID")
@flag("--then", "Search the memories as they were then.")
def replay(options: Globals, id_: str, then: bool) -> None:
    """Run a recorded search again, and show what differs and why.

    Prints for each memory that moved its ID, the rank then, the rank now (empty: not among the hits) and the reason.
    The hits do not count as retrieved.
    """
    if ask(options, lambda _: calls.replay_receipt(id_, then=then), MOVES, reads=True)["same"]:
        talk("The same memories, in the same order.")

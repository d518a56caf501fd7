"""Commands about receipts: searches that were kept, and what they would find now."""

from collections.abc import Mapping
from typing import Any

from muisti.client import calls
from muisti.service.terminal.base import Globals
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.options import Moment, limit, option
from muisti.service.terminal.output import talk
from muisti.service.terminal.views import listed

ID = "0197a3c0-5f4e-7000-8000-0123456789af"

receipt = Operations(
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


def _more(options: Globals, data: Any) -> None:
    if data["next_cursor"] and not options.json:
        talk(f"More: --cursor {data['next_cursor']}")


receipt.call(
    "list --actor --evidence --cursor",
    calls.list_receipts,
    RECEIPTS,
    "muisti receipt list",
    "muisti receipt list --evidence none --since 7d",
    prints="for each its ID, the time, who asked, the evidence, the number of hits and the query",
    more=(
        option("--since", "Only made at this time or later.", Moment()),
        option("--until", "Only made before this time.", Moment()),
        limit("Show N at most.", 20),
    ),
    then=_more,
)
receipt.call(
    "show ID=receipt_id",
    calls.get_receipt,
    HITS,
    f"muisti receipt show {ID}",
    f"muisti receipt show {ID} --json",
    help="Show the hits of a recorded search.",
    prints="the rank, the score, the ID and the version of each hit",
)
receipt.call(
    "replay ID=receipt_id --then",
    calls.replay_receipt,
    MOVES,
    f"muisti receipt replay {ID}",
    f"muisti receipt replay {ID} --then",
    help="""Run a recorded search again, and show what differs and why.

    Prints for each memory that moved its ID, the rank then, the rank now (empty: not among the hits) and the reason.
    The hits do not count as retrieved.
    """,
    texts={"then": "Search the memories as they were then."},
    then=lambda _, data: talk("The same memories, in the same order.") if data["same"] else None,
    reads=True,
)

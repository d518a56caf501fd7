"""The policy command: what a space lets in, and how long it keeps it."""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import HALF_LIFE_MIN, SIMILARITY_MIN, Echoes, GraphSwitch, Screening
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import choice, comma_list, option
from muisti.service.cli.output import answer, cell, grid, revised, tabbed, whole
from muisti.service.cli.session import session
from muisti.service.cli.values import refuse

if TYPE_CHECKING:
    from rich.table import Table

    from muisti.service.app.client import Reply

DEFAULT = "default"
NONE = {"similarity_limit": "none", "review_limit": "none"}  # for people, where a value is null
CHOICES = click.Choice([*get_args(Screening), DEFAULT])


class Days(click.ParamType):
    """Parse a number of days, or the word for the server's default."""

    name = "days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            if value == DEFAULT or isfinite(float(value)):
                return value if value == DEFAULT else float(value)
        except ValueError:
            pass
        refuse(value, f"a number of days, or {DEFAULT}", param, ctx)


class Within(click.ParamType):
    """Parse a number between two bounds, or the word for the default."""

    def __init__(self, name: str, low: float, high: float) -> None:
        """Name the number for the usage line."""
        self.name, self._range = name, click.FloatRange(low, high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word. Raises a usage error for anything else."""
        if value == DEFAULT:
            return value
        try:
            return self._range.convert(value, param, ctx)
        except click.BadParameter:
            refuse(value, f"a number from {self._range.min} to {self._range.max}, or {DEFAULT}", param, ctx)


@command(
    "muisti policy",
    "muisti policy --secrets redact --personal-data refuse --space acme",
    "muisti policy --history-days 30 --purge-after-days 730",
    "muisti policy --similarity-limit 0.85",
    "muisti policy --second-model minilm",
    "muisti policy --recency-weight 0.3 --recency-half-life-days 30",
)
@option("--secrets", "What to do with texts that have passwords, keys or tokens.", CHOICES)
@option("--personal-data", "The same for e-mail addresses, phone numbers, cards, bank accounts.", CHOICES)
@choice("--echoes", "The same for texts that only repeat a search result.", [*get_args(Echoes), DEFAULT])
@option("--history-days", "How long to keep old versions; 0: for ever.", Days(), metavar="DAYS")
@option("--purge-after-days", "Erase memories older than this; default: never.", Days(), metavar="DAYS")
@option(
    "--similarity-limit",
    "Refuse texts this similar to a current memory, 0.6 to 1; default: no such limit.",
    Within("cosine", SIMILARITY_MIN, 1),
)
@option(
    "--review-limit",
    "Ask about a possible contradiction from this similarity on, 0.6 to 1; default: always.",
    Within("cosine", SIMILARITY_MIN, 1),
)
@option(
    "--recency-weight",
    "How much age lowers a score in searches that do not say it, 0 (not at all) to 1.",
    Within("weight", 0, 1),
    metavar="X",
)
@option(
    "--recency-half-life-days",
    "Age at which half of that effect is reached.",
    Within("days", HALF_LIFE_MIN, 36_500),
    metavar="DAYS",
)
@choice(
    "--graph",
    "Whether names and facts of memories are read into the knowledge graph.",
    [*get_args(GraphSwitch), DEFAULT],
)
@option(
    "--second-model",
    "Second embedder whose vectors searches use too: off, minilm, or a model of the server; default: its setting.",
    metavar="MODEL",
)
@option("--inherits", "Spaces that `search --inherited` adds, the nearest first.", metavar="A,B,C")
def policy(options: Globals, **given: str | float | None) -> None:
    """Show or set which texts a space accepts, and how long it keeps them.

    New texts with secrets or personal data are refused (refuse), stored without them (redact), or stored as they are
    (allow). Echoes, which only repeat a search result, are refused, flagged or allowed. `default` is the server's
    setting. Memories that are stored already stay, unless they are too old: `muisti purge --older-than-days DAYS
    --dry-run` shows what would be purged.
    """
    changes: dict[str, Any] = {
        name: None if value == DEFAULT else value for name, value in given.items() if value is not None
    }
    if isinstance(chain := changes.get("inherits"), str):
        changes["inherits"] = comma_list([chain])
    with session(options, reads=not changes) as opened:
        if changes:
            reply = opened.client.send(calls.set_policy(opened.space, changes))
        else:
            reply = opened.client.send(calls.get_space(opened.space))
        answer(options, _policy(reply), _table, lambda found: [tabbed(name, whole(found[name])) for name in found])


def _policy(reply: "Reply") -> "Reply":
    """Return the policy alone, also of an answer about the whole space."""
    return revised(reply, reply.data["policy"]) if "policy" in reply.data else reply


def _table(found: Mapping[str, Any]) -> "Table":
    table = grid(None, "", "policy")
    for name, value in found.items():
        table.add_row(cell(name.replace("_", " ")), cell(NONE.get(name, "never") if value is None else whole(value)))
    return table

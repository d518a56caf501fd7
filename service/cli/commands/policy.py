"""The policy command: what a space lets in, and how long it keeps it."""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.client import calls
from muisti.core.model.terms import HALF_LIFE_MIN, SIMILARITY_MIN, Echoes, Screening
from muisti.service.cli.base import Command, Globals
from muisti.service.cli.output import answer, cell, grid, revised, tabbed, whole
from muisti.service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

    from muisti.service.app.client import Reply

DEFAULT = "default"
NONE = {"similarity_limit": "none"}  # for people, where a value is null
CHOICES = click.Choice([*get_args(Screening), DEFAULT])


class Days(click.ParamType):
    """A number of days, or the word for what the server has for all."""

    name = "days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            if value == DEFAULT or isfinite(float(value)):
                return value if value == DEFAULT else float(value)
        except ValueError:
            pass
        self.fail(f"{value!r} is no number of days, nor {DEFAULT}", param, ctx)


class Within(click.ParamType):
    """A number between two bounds, or the word for the default."""

    def __init__(self, name: str, low: float, high: float) -> None:
        """Name the number for the usage line."""
        self.name, self._range = name, click.FloatRange(low, high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word. Raises a usage error for anything else."""
        if value == DEFAULT:
            return value
        return self._range.convert(value, param, ctx)


@click.command(
    cls=Command,
    examples=(
        "muisti policy",
        "muisti policy --secrets redact --personal-data refuse --space acme",
        "muisti policy --history-days 30 --purge-after-days 730",
        "muisti policy --similarity-limit 0.85",
        "muisti policy --recency-weight 0.3 --recency-half-life-days 30",
    ),
)
@click.option("--secrets", type=CHOICES, help="What to do with passwords, keys and tokens.")
@click.option("--personal-data", type=CHOICES, help="With e-mail addresses, telephone numbers, cards, bank accounts.")
@click.option(
    "--echoes", type=click.Choice([*get_args(Echoes), DEFAULT]), help="With what only repeats what was just found."
)
@click.option("--history-days", type=Days(), metavar="DAYS", help="Keep old versions so long; 0: for ever.")
@click.option("--purge-after-days", type=Days(), metavar="DAYS", help="Purge memories that are older; default: never.")
@click.option(
    "--similarity-limit",
    type=Within("cosine", SIMILARITY_MIN, 1),
    metavar="COSINE",
    help="Refuse what is so similar to a current memory, .6 to 1; default: by the rules alone.",
)
@click.option(
    "--recency-weight",
    type=Within("weight", 0, 1),
    metavar="X",
    help="How much age may cost in searches that do not say it, 0 to 1; 0: nothing.",
)
@click.option(
    "--recency-half-life-days",
    type=Within("days", HALF_LIFE_MIN, 36_500),
    metavar="DAYS",
    help="Days after which age costs half of the recency weight.",
)
@click.pass_obj
def policy(options: Globals, **given: str | float | None) -> None:
    """Show or set what a space lets in, and how long it keeps it.

    What holds secrets or personal data is from then on refused, stored without them (redact), or stored as it is
    (allow); echoes are refused, flagged, or allowed; `default` is what the server has for all. What is stored already
    stays, unless it is too old: `muisti purge --older-than-days DAYS --dry-run` tells what would be purged.
    """
    changes = {name: None if value == DEFAULT else value for name, value in given.items() if value is not None}
    with session(options) as opened:
        if changes:
            reply = opened.read(lambda: opened.client.send(calls.set_policy(opened.space, changes)))
        else:
            reply = opened.read(lambda: opened.client.send(calls.get_space(opened.space)))
        answer(
            options,
            _policy(reply),
            table=_table,
            plain=lambda found: [tabbed(name, whole(value)) for name, value in found.items()],
        )


def _policy(reply: "Reply") -> "Reply":
    """The policy alone, of an answer about the whole space too."""
    return revised(reply, reply.data["policy"]) if "policy" in reply.data else reply


def _table(found: Mapping[str, Any]) -> "Table":
    table = grid(None, "", "policy")
    for name, value in found.items():
        table.add_row(cell(name.replace("_", " ")), cell(NONE.get(name, "never") if value is None else whole(value)))
    return table

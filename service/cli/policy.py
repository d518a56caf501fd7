"""The policy command: what a space does with texts that should perhaps not be stored."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from core.terms import Echoes, Screening
from service.cli.base import Command, Globals
from service.cli.output import answer, cell, grid, tabbed
from service.cli.session import session

if TYPE_CHECKING:
    from rich.table import Table

    from service.client import Reply

DEFAULT = "default"
CHOICES = click.Choice([*get_args(Screening), DEFAULT])


@click.command(
    cls=Command, examples=("muisti policy", "muisti policy --secrets redact --personal-data refuse --space acme")
)
@click.option("--secrets", type=CHOICES, help="What to do with passwords, keys and tokens.")
@click.option("--personal-data", type=CHOICES, help="With e-mail addresses, telephone numbers, cards, bank accounts.")
@click.option(
    "--echoes", type=click.Choice([*get_args(Echoes), DEFAULT]), help="With what only repeats what was just found."
)
@click.pass_obj
def policy(options: Globals, **given: str | None) -> None:
    """Show or set what a space does with secrets, personal data and echoes.

    Whatever is written from then on is refused, stored without them (redact), or stored as it is (allow); `default` is
    what the server has for all. What is stored already stays. Echoes are refused, flagged, or allowed.
    """
    changes = {name: None if value == DEFAULT else value for name, value in given.items() if value is not None}
    with session(options) as opened:
        if changes:
            reply = opened.read(lambda: opened.client.set_policy(opened.space, changes))
        else:
            reply = opened.read(lambda: opened.client.space(opened.space))
        answer(options, _policy(reply), table=_table, plain=lambda found: [tabbed(*one) for one in found.items()])


def _policy(reply: "Reply") -> "Reply":
    """The policy alone, of an answer about the whole space too."""
    return reply if "policy" not in reply.data else reply.part("policy")


def _table(found: Mapping[str, Any]) -> "Table":
    table = grid(None, "", "policy")
    for name, value in found.items():
        table.add_row(cell(name.replace("_", " ")), value)
    return table

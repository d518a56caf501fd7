"""The serve command: a flag for every setting."""

from importlib import import_module
from typing import Any

import click

from service.cli.base import Command, Globals
from service.cli.configuration import in_force
from service.cli.session import refusals
from service.settings.table import Option, options
from service.starting import serve as start


def _flag(setting: Option) -> click.Option:
    known = f"  [default: {setting.default_text}]" if setting.default_text else ""
    return click.Option([setting.flag], metavar="VALUE", help=f"{setting.description} Takes {setting.expected}.{known}")


@click.command(
    cls=Command,
    params=[_flag(setting) for setting in options()],
    examples=(
        "muisti serve",
        "muisti serve --port 9000 --database-url file:/var/lib/muisti/muisti.db --embeddings off",
    ),
)
@click.pass_obj
def serve(given: Globals, **flags: Any) -> None:
    """Start the server.

    A flag beats the environment (MUISTI_PORT and so on), which beats the settings file. Stop it with Ctrl-C: running
    requests finish and what was accepted is stored.
    """
    if given.url:
        raise click.UsageError("--url names a server that runs already; give --host and --port to start one")
    if given.database and flags["database_url"]:
        raise click.UsageError("give --database or --database-url, not both")
    with refusals(given):
        import_module("service.cli.limits").refuse_for_servers(given, "a server")
        chosen = {name: value for name, value in flags.items() if value is not None}
        settings = in_force(given, chosen)
        start(settings)

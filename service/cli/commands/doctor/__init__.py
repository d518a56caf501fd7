"""The doctor command."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals

if TYPE_CHECKING:
    from muisti.service.cli.commands.doctor import checks
else:  # with the core
    checks = Lazy("muisti.service.cli.commands.doctor.checks")


@click.command(
    cls=Command,
    examples=(
        "muisti doctor",
        "muisti doctor --repair",
        "muisti doctor --quick --json",
        "muisti doctor --url http://127.0.0.1:8321",
    ),
)
@click.option("--quick", is_flag=True, help="Leave out what reads the whole database.")
@click.option("--repair", is_flag=True, help="Make anew what is derived; save a damaged file into a new one.")
@click.pass_obj
def doctor(options: Globals, quick: bool, repair: bool) -> None:
    """Check the installation and the database.

    Looks at SQLite, the file and its log, whether memories say what was stored and indexes what they say, the model,
    permissions, disk, clock, and spaces of one project; with --url asks the server. Changes nothing without --repair,
    and with it never a damaged file: what can be saved goes into a new one beside it. Exit code 1 when a check failed,
    or something could not be repaired.
    """
    checks.run(options, quick=quick, repair=repair)

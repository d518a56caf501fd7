"""The doctor command."""

from importlib import import_module

import click

from service.cli.base import Command, Globals


@click.command(
    cls=Command, examples=("muisti doctor", "muisti doctor --json", "muisti doctor --url http://127.0.0.1:8321")
)
@click.pass_obj
def doctor(options: Globals) -> None:
    """Check the installation and the database.

    Looks at SQLite, the database file, its schema, the model, permissions and free disk; with --url asks the server.
    Changes nothing. Exit code 1 when a check failed.
    """
    import_module("service.cli.diagnosis").run(options)

"""The command keys clear: from a server with keys back to one without."""

from typing import TYPE_CHECKING

import click
import msgspec

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Failure, Globals
from muisti.service.cli.options import dry_run_option
from muisti.service.cli.output import asking, tabbed, talk
from muisti.service.cli.session import demand, refusals, server_url

if TYPE_CHECKING:
    from muisti.core.engine import Engine
    from muisti.service.app import local
    from muisti.service.cli import configuration, whereabouts
    from muisti.service.runtime import running
    from muisti.service.settings import Settings, checks
else:  # with the core
    local = Lazy("muisti.service.app.local")
    configuration = Lazy("muisti.service.cli.configuration")
    whereabouts = Lazy("muisti.service.cli.whereabouts")
    running = Lazy("muisti.service.runtime.running")
    checks = Lazy("muisti.service.settings.checks")

ONLY_HERE = "keys clear works on a database file, on the machine that holds it"
MEANING = (
    "All clients lose access with their keys, and every program on this machine can then read and change all spaces."
)


@click.command(cls=Command, examples=("muisti keys clear", "muisti keys clear --yes", "muisti keys clear --dry-run"))
@click.option("--yes", is_flag=True, help="Delete without asking; needed where nobody can be asked.")
@dry_run_option
@click.pass_obj
def clear(options: Globals, *, yes: bool, dry_run: bool) -> None:
    """Delete all keys, so that requests need none, as before the first key.

    Every program on this machine can then read and change all spaces. Other machines cannot: a server without keys
    listens on this machine only, unless MUISTI_INSECURE is on. Keys that were deleted open nothing for ever, and
    sessions of the console end. A server that runs asks for a key until it is restarted. The command works on the
    database file alone, never over HTTP. Prints how many keys were deleted; the audit log notes it.
    """
    if server_url(options):
        raise click.UsageError(f"{ONLY_HERE}: run it there, without --url and MUISTI_URL")
    if not (yes or dry_run or asking()):
        raise click.UsageError("keys clear deletes all keys: repeat with --yes, or with --dry-run to count them")
    with refusals(options):
        demand(options, "admin")
        settings = whereabouts.settings_for(options)
        if configuration.file_of(settings) is None:
            raise click.UsageError(f"{ONLY_HERE}; this database is on a server")
        with local.open_here(settings) as engine:
            count = _cleared(engine, yes=yes, dry_run=dry_run)
    if options.json:
        click.echo(msgspec.json.encode({"deleted": count, "dry_run": dry_run}))
    else:
        click.echo(tabbed(count))
    if count and not dry_run:
        _say_what_remains(settings)


def _cleared(engine: "Engine", *, yes: bool, dry_run: bool) -> int:
    """Delete all keys, and return how many there were.

    Raises:
        Failure: there are none, or the person did not agree.
    """
    count = len(engine.keys.all())
    if not count:
        raise Failure("There are no keys; requests need none.")
    if dry_run:
        return count
    if not yes:
        talk(MEANING)
        if not click.confirm("Delete the key?" if count == 1 else f"Delete all {count:,} keys?", err=True):
            raise Failure("Nothing was deleted.")
    return engine.keys.clear(engine.now())


def _say_what_remains(settings: "Settings") -> None:
    """Report what still asks for keys: settings, and a server that runs."""
    if checks.asks(settings):
        talk("The settings name an administrator's key or an issuer of tokens: a server with them still asks for one.")
    path = configuration.file_of(settings)
    found = None if path is None else running.running_on(path)
    if found is not None:
        talk(f"The server at {found.url} (pid {found.pid}) asks for a key until it is restarted.")
    talk("`muisti keys create --admin` makes a first key again.")

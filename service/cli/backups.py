"""Commands about copies of the database: backup and restore."""

from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.base import Command, Globals
from service.cli.options import Moment
from service.cli.output import console, tabbed, talk
from service.cli.session import refusals, server_url

if TYPE_CHECKING:
    from core.store.backup import Stamp

HERE = "works on the database file: run it there, without --url and MUISTI_URL"


@click.command(cls=Command, examples=("muisti backup", "muisti backup /backups/monday.db", "muisti backup --json"))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file of that name.")
@click.pass_obj
def backup(options: Globals, path: Path | None, force: bool) -> None:
    """Copy the database while it is in use.

    PATH is a file, or a folder in which a name is made from the time; this folder, unless it is said. The copy is of
    one moment, is opened and checked before it gets its name, and says where each space stood.
    """
    if server_url(options):
        raise click.UsageError(f"backup {HERE}")
    module = import_module("core.store.backup")
    with refusals(options), _stages(options) as stages:
        source, now = _database(options), _now()
        target = path or Path()
        if target.is_dir():
            target /= f"muisti-{datetime.fromtimestamp(now / 1e6, UTC):%Y%m%dT%H%M%SZ}.db"
        stages.begin("backup")
        stamp = module.back_up(source, target, now, stages.note, force=force)
    _told(options, target, stamp)


@click.command(
    "restore-backup",
    cls=Command,
    examples=(
        "muisti restore-backup /backups/monday.db",
        "muisti restore-backup /backups/monday.db --database other.db",
        "muisti restore-backup /backups/monday.db --force --at 2026-05-01T12:00:00Z",
    ),
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--at", metavar="TIME | EPOCH:SEQ", help="Take back what came later: everywhere, or in one space.")
@click.option("--force", is_flag=True, help="Put it in the place of a database, which is kept beside it.")
@click.pass_obj
def restore(options: Globals, path: Path, at: str | None, force: bool) -> None:
    """Put a copy in the place of the database.

    PATH is what `muisti backup` made. It is checked first; the server must not run. Every space gets a new epoch, so
    that clients who know later points of its history are told (410) and read again.
    """
    if server_url(options):
        raise click.UsageError(f"restore {HERE}")
    module = import_module("core.store.backup")
    with refusals(options), _stages(options) as stages:
        target = _database(options)
        stages.begin("restore")
        stamp = module.restore(path, target, _now(), stages.note, at=None if at is None else _point(at), force=force)
    _told(options, target, stamp)
    talk("Restored. Every space has a new epoch.")


def _told(options: Globals, path: Path, stamp: "Stamp") -> None:
    if options.json:
        spaces = {name: str(seq) for name, seq in sorted(stamp.spaces.items())}
        told = {"path": str(path), "bytes": stamp.size, "spaces": spaces}
        click.echo(import_module("msgspec").json.encode(told))
        return
    click.echo(tabbed("file", path, stamp.size))
    for name, seq in sorted(stamp.spaces.items()):
        click.echo(tabbed("space", name, seq))


def _point(at: str) -> Any:
    epoch, colon, number = at.rpartition(":")
    if colon and len(epoch) == 36 and number.isdecimal():
        return import_module("core.values").Seq(epoch, int(number))
    moment = datetime.fromisoformat(Moment().convert(at, None, None))
    return int(moment.timestamp() * 1_000_000)


def _database(options: Globals) -> Path:
    settings = import_module("service.cli.configuration").in_force(options)
    if import_module("core.store.location").is_remote(settings.database_url):
        raise click.UsageError("the database is on a server: back it up where it is (docs/operations.md)")
    return Path(import_module("service.settings").database_path(settings.database_url)).absolute()


def _stages(options: Globals) -> Any:
    return import_module("service.cli.progress").Stages(console(options, stderr=True))


def _now() -> int:
    return import_module("service.app").system_clock()

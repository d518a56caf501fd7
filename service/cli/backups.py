"""Commands about copies of the database: backup and restore."""

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.base import Command, Globals
from service.cli.options import Moment
from service.cli.output import cell, check_folder, console, for_people, grid, hint, sized, tabbed, talk
from service.cli.session import refusals, server_url

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from core.store.backup import Stamp
    from core.store.carrying import Side
    from service.settings import Settings
    from service.shelves import Shelved

HERE = "works on the database itself: name that by --database, without --url and MUISTI_URL"


@click.command(
    cls=Command,
    examples=(
        "muisti backup",
        "muisti backup /backups/monday.db",
        "muisti backup s3://bucket/muisti --keep 30",
        "muisti backup s3://bucket/muisti --list",
        "muisti --database libsql://memories.example backup edge.db",
    ),
)
@click.argument("path", required=False)
@click.option("--force", is_flag=True, help="Replace a file of that name.")
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Then drop all but the newest N there.")
@click.option("--list", "listed", is_flag=True, help="Show which backups are there, and make none.")
@click.pass_obj
def backup(options: Globals, path: str | None, *, force: bool, keep: int | None, listed: bool) -> None:
    """Copy the database while it is in use.

    It may be a file or on a server. PATH is a file, a folder in which a name is made from the time (this one, unless
    it is said), or s3://BUCKET/PREFIX, for which the AWS_... variables have keys, region and endpoint. The copy is of
    one moment, is opened and checked before it goes there, and says where each space stood.
    """
    if server_url(options):
        raise click.UsageError(f"backup {HERE}")
    place = path or "."
    many = place.startswith("s3://") or Path(place).is_dir()
    if not many and (keep or listed):
        raise click.UsageError("--keep and --list are for a folder, or s3://BUCKET/PREFIX")
    if not many:
        check_folder(Path(place))
    shelves = import_module("service.shelves")
    with refusals(options), _stages(options) as stages:
        if listed:
            _list(options, shelves.shelf(place).all())
            return
        now = _now()
        stages.begin("backup")
        with _database(options) as source:
            if many:
                target, stamp = shelves.name_at(now), shelves.shelve(source, place, now, keep, stages.note)
                target = f"{place.rstrip('/')}/{target}" if place.startswith("s3://") else str(Path(place) / target)
            else:
                back_up = import_module("core.store.backup").back_up
                target, stamp = place, back_up(source, Path(place), now, stages.note, force=force)
    _told(options, target, stamp)
    hint(options, f"To put it in the place of a database: muisti restore-backup {target}")


def _list(options: Globals, found: "Sequence[Shelved]") -> None:
    if options.json:
        click.echo(import_module("msgspec").json.encode({"items": found}))
        return
    if for_people(options) and found:
        table = grid(None, "backup", "size", right=("size",))
        for each in found:
            table.add_row(cell(each.name), sized(each.size))
        console(options).print(table)
        return
    for each in found:
        click.echo(tabbed(each.name, each.size))
    if for_people(options):
        talk("There is no backup here: muisti backup PATH")


@click.command(
    "restore-backup",
    cls=Command,
    examples=(
        "muisti restore-backup /backups/monday.db",
        "muisti restore-backup /backups/monday.db --database other.db",
        "muisti restore-backup /backups/monday.db --force --at 2026-05-01T12:00:00Z",
        "muisti restore-backup s3://bucket/muisti/muisti-20260501T120000Z.db",
        "muisti --database libsql://new.example restore-backup muisti.db",
    ),
)
@click.argument("path")
@click.option("--at", metavar="TIME | EPOCH:SEQ", help="Take back what came later: everywhere, or in one space.")
@click.option("--force", is_flag=True, help="Put it in the place of a database, which is kept beside it.")
@click.pass_obj
def restore(options: Globals, path: str, at: str | None, force: bool) -> None:
    """Put a copy in the place of the database.

    PATH is what `muisti backup` made, or s3://BUCKET/PREFIX/NAME. It is checked first; the server must not run. Every
    space gets a new epoch, so that clients who know later points of its history are told (410) and read again. A
    database on a server must be empty, and is none until all is there and was compared.
    """
    if server_url(options):
        raise click.UsageError(f"restore {HERE}")
    module = import_module("core.store.backup")
    with refusals(options), _stages(options) as stages:
        stages.begin("restore")
        point = None if at is None else _point(at)
        with _database(options, create=True) as target:
            local = isinstance(target, Path)
            if force and not local:
                raise click.UsageError("--force is for a file; name an empty database on the server")
            with import_module("service.shelves").fetched(path, target if local else None) as file:
                stamp = module.restore(file, target, _now(), stages.note, at=point, force=force)
            place = str(target) if local else _settings(options, create=True).database_url
    _told(options, place, stamp, "file" if local else "database")
    talk("Restored. Every space has a new epoch.")


def _told(options: Globals, path: str, stamp: "Stamp", what: str = "file") -> None:
    if options.json:
        spaces = {name: str(seq) for name, seq in sorted(stamp.spaces.items())}
        told = {"path": path, "bytes": stamp.size, "spaces": spaces}
        click.echo(import_module("msgspec").json.encode(told))
        return
    if for_people(options):
        console(options).print(cell(f"{path}, {sized(stamp.size)}, opened and checked"))
        table = grid(None, "space", "changes", right=("changes",))
        for name, seq in sorted(stamp.spaces.items()):
            table.add_row(cell(name), f"{seq.number:,}")
        console(options).print(table)
        return
    click.echo(tabbed(what, path, stamp.size))
    for name, seq in sorted(stamp.spaces.items()):
        click.echo(tabbed("space", name, seq))


def _point(at: str) -> Any:
    epoch, colon, number = at.rpartition(":")
    if colon and len(epoch) == 36 and number.isdecimal():
        return import_module("core.values").Seq(epoch, int(number))
    moment = datetime.fromisoformat(Moment().convert(at, None, None))
    return int(moment.timestamp() * 1_000_000)


def _settings(options: Globals, *, create: bool = False) -> "Settings":
    import_module("service.cli.callers").demand(options, "admin")
    return import_module("service.cli.whereabouts").settings_for(options, create=create)


def _database(options: Globals, *, create: bool = False) -> "AbstractContextManager[Path | Side]":
    return import_module("service.databases").whole(_settings(options, create=create))


def _stages(options: Globals) -> Any:
    return import_module("service.cli.progress").Stages(console(options, stderr=True))


def _now() -> int:
    return import_module("service.app").system_clock()

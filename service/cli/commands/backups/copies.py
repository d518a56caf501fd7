"""Backups of a database: made, listed and restored."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click
import msgspec

from muisti.core.model.backups import Stamp
from muisti.core.model.location import Location
from muisti.core.model.times import system_clock
from muisti.core.model.values import Seq
from muisti.core.operations import backups
from muisti.service.background import backup_targets
from muisti.service.background.backup_targets import StoredBackup
from muisti.service.cli.base import Globals
from muisti.service.cli.callers import demand
from muisti.service.cli.opening import refusals
from muisti.service.cli.options import Moment
from muisti.service.cli.output import cell, console, for_people, grid, hint, sized, tabbed, talk
from muisti.service.cli.progress import Stages
from muisti.service.cli.whereabouts import settings_for
from muisti.service.runtime.databases import location_of


def make(options: Globals, place: str, *, many: bool, force: bool, keep: int | None, listed: bool) -> None:
    """Back up the database to a place, or list the backups there. `many`: the place holds several."""
    with refusals(options), Stages(console(options, stderr=True)) as stages:
        if listed:
            _list(options, backup_targets.shelf(place).all())
            return
        now = system_clock()
        stages.begin("backup")
        source = _location(options)
        if many:
            name, stamp = backup_targets.name_at(now), backup_targets.shelve(source, place, now, keep, stages.note)
            target = f"{place.rstrip('/')}/{name}" if place.startswith("s3://") else str(Path(place) / name)
        else:
            target, stamp = place, backups.back_up(source, Path(place), now, stages.note, force=force)
    _print_stamp(options, target, stamp)
    hint(options, f"To restore it: muisti restore-backup {target}")


def put_back(options: Globals, path: str, at: str | None, *, force: bool) -> None:
    """Restore the database from a backup, without the changes after the point `at` if one is given."""
    with refusals(options), Stages(console(options, stderr=True)) as stages:
        stages.begin("restore")
        point = None if at is None else _point(at)
        target = _location(options, create=True)
        if force and target.file is None:
            raise click.UsageError("--force is for a file; name an empty database on the server")
        with backup_targets.fetched(path, target.file) as copy:
            stamp = backups.restore(copy, target, system_clock(), stages.note, at=point, force=force)
    _print_stamp(options, str(target.file or target.url), stamp, "database" if target.file is None else "file")
    talk("Restored. Every space has a new epoch.")


def _list(options: Globals, found: Sequence[StoredBackup]) -> None:
    if options.json:
        click.echo(msgspec.json.encode({"items": found}))
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


def _print_stamp(options: Globals, path: str, stamp: Stamp, what: str = "file") -> None:
    if options.json:
        spaces = {name: str(seq) for name, seq in sorted(stamp.spaces.items())}
        report = {"path": path, "bytes": stamp.size, "spaces": spaces}
        click.echo(msgspec.json.encode(report))
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


def _point(at: str) -> Seq | int:
    epoch, colon, number = at.rpartition(":")
    if colon and len(epoch) == 36 and number.isdecimal():
        return Seq(epoch, int(number))
    moment = datetime.fromisoformat(Moment().convert(at, None, None))
    return int(moment.timestamp() * 1_000_000)


def _location(options: Globals, *, create: bool = False) -> Location:
    demand(options, "admin")
    return location_of(settings_for(options, create=create))

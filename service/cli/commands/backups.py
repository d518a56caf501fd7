"""Commands about the database as a whole: backup, restore-backup, scrub."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.core.model.times import system_clock
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Failure, Globals, command
from muisti.service.terminal.options import Moment, Point, flag, integer, option
from muisti.service.terminal.output import check_folder, for_people, hint, print_json, show, talk
from muisti.service.terminal.session import Stages, demand, refusals, server_url, settings_for
from muisti.service.terminal.views import Shown, cell, grid, sized, stack, tabbed

if TYPE_CHECKING:
    from muisti.core.model import values
    from muisti.core.model.location import Location
    from muisti.core.model.operations import Stamp
    from muisti.core.operations import whole_database
    from muisti.service.background import backup_targets
    from muisti.service.runtime import databases
else:  # with the core
    values = Lazy("muisti.core.model.values")
    whole_database = Lazy("muisti.core.operations.whole_database")
    backup_targets = Lazy("muisti.service.background.backup_targets")
    databases = Lazy("muisti.service.runtime.databases")

HERE = "works on the database itself: name it with --database, without --url and MUISTI_URL"


@command(
    "muisti backup",
    "muisti backup /backups/monday.db",
    "muisti backup s3://bucket/muisti --keep 30",
    "muisti backup s3://bucket/muisti --list",
    "muisti --database libsql://memories.example backup edge.db",
)
@click.argument("path", required=False)
@flag("--force", "Overwrite an existing file.")
@integer("--keep", "Afterwards delete all but the newest N backups there.", 1)
@flag("--list listed", "List the backups at PATH, and make none.")
def backup(options: Globals, path: str | None, *, force: bool, keep: int | None, listed: bool) -> None:
    """Back up the database while it is in use.

    The database may be a file or on a server. PATH is a file, a folder, or s3://BUCKET/PREFIX; without it, the current
    folder. In a folder or bucket the file name comes from the time. For S3 the AWS_... variables have keys, region and
    endpoint. The backup shows one moment of the database, and is opened and checked before it goes to PATH. Prints the
    last change of each space in it.
    """
    if server_url(options):
        raise click.UsageError(f"backup {HERE}")
    place = path or "."
    many = place.startswith("s3://") or Path(place).is_dir()
    if not many and (keep or listed):
        raise click.UsageError("--keep and --list are for a folder, or s3://BUCKET/PREFIX")
    if not many:
        check_folder(Path(place))
    with refusals(options), Stages(options) as stages:
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
            target, stamp = place, whole_database.back_up(source, Path(place), now, stages.note, force=force)
    _print_stamp(options, target, stamp)
    if others := databases.beside(source):
        talk(f"This is the directory alone. Back up each other database too, with --database: {', '.join(others)}.")
    hint(options, f"To restore it: muisti restore-backup {target}")


@command(
    "muisti restore-backup /backups/monday.db",
    "muisti restore-backup /backups/monday.db --database other.db",
    "muisti restore-backup /backups/monday.db --force --at 2026-05-01T12:00:00Z",
    "muisti restore-backup s3://bucket/muisti/muisti-20260501T120000Z.db",
    "muisti --database libsql://new.example restore-backup muisti.db",
    name="restore-backup",
)
@click.argument("path")
@option("--at", "Undo later changes, in all spaces or in one.", Point(), metavar="TIME | EPOCH:SEQ")
@flag("--force", "Replace an existing database, which is kept under another name.")
def restore(options: Globals, path: str, at: str | None, force: bool) -> None:
    """Restore the database from a backup.

    PATH is a file that `muisti backup` made, or s3://BUCKET/PREFIX/NAME. Stop the server first. The backup is checked
    before anything changes. Every space gets a new epoch: clients that know later points of its history get an error
    (410) and read again. A target database on a server must be empty; it is usable once all rows are copied and
    compared.
    """
    if server_url(options):
        raise click.UsageError(f"restore {HERE}")
    with refusals(options), Stages(options) as stages:
        stages.begin("restore")
        point = None if at is None else _point(at)
        target = _location(options, create=True)
        if force and target.file is None:
            raise click.UsageError("--force is for a file; name an empty database on the server")
        with backup_targets.fetched(path, target.file) as copy:
            stamp = whole_database.restore(copy, target, system_clock(), stages.note, at=point, force=force)
    _print_stamp(options, str(target.file or target.url), stamp, "database" if target.file is None else "file")
    talk("Restored. Every space has a new epoch.")


def _list(options: Globals, found: "Sequence[backup_targets.StoredBackup]") -> None:
    if for_people(options) and not found:
        talk("There is no backup here: muisti backup PATH")
        return
    rows = [(each.name, sized(each.size)) for each in found]
    show(
        options,
        {"items": found},
        lambda _: grid(None, "backup", "size", right=("size",), rows=rows),
        lambda _: [tabbed(each.name, each.size) for each in found],
    )


def _print_stamp(options: Globals, path: str, stamp: "Stamp", what: str = "file") -> None:
    spaces = {name: str(seq) for name, seq in sorted(stamp.spaces.items())}

    def table(_: Any) -> Shown:
        rows = ((name, f"{stamp.spaces[name].number:,}") for name in spaces)
        head = cell(f"{path}, {sized(stamp.size)}, opened and checked")
        return stack(head, grid(None, "space", "changes", right=("changes",), rows=rows))

    def lines(_: Any) -> list[str]:
        return [tabbed(what, path, stamp.size), *(tabbed("space", name, seq) for name, seq in spaces.items())]

    show(options, {"path": path, "bytes": stamp.size, "spaces": spaces}, table, lines)


def _point(at: str) -> "values.Seq | int":
    epoch, colon, number = at.rpartition(":")
    if colon and len(epoch) == 36 and number.isdecimal():
        return values.Seq(epoch, int(number))
    moment = datetime.fromisoformat(Moment().convert(at, None, None))
    return int(moment.timestamp() * 1_000_000)


def _location(options: Globals, *, create: bool = False) -> "Location":
    demand(options, "admin")
    return databases.location_of(settings_for(options, create=create))


MB = 1_000_000


@command(
    "muisti scrub --database http://db.example:8080 --admin-url http://db.example:9090",
    "muisti scrub --database http://db.example:8080 --admin-url http://db.example:9090 --log-mb 500",
)
@option("--admin-url", "Administration API: sqld's --admin-listen-addr.", metavar="URL", required=True)
@option("--admin-key-file", "File with sqld's --admin-auth-key.", click.Path(path_type=Path), metavar="FILE")
@integer("--log-mb", "The --max-log-size of sqld.", 1, default=200)
def scrub(options: Globals, admin_url: str, admin_key_file: Path | None, log_mb: int) -> None:
    """Remove from the files of sqld what purges have left in them.

    A purge on a server leaves copies in unused room of its pages and in its logs. This command writes zeros until sqld
    writes its database again and compacts its logs. Muistis may go on working. The primary needs room for twice the
    database and 1 GB of zeros; replicas receive them too. Sqld is not asked whether its logs are compacted: give
    --log-mb if it runs with another --max-log-size. Backups that sqld or Muisti made keep what they have.
    """
    if server_url(options):
        raise click.UsageError("scrub works on the database itself: name it with --database, without --url")
    with refusals(options), Stages(options) as stages:
        demand(options, "admin")
        stages.begin("scrub")
        location = databases.location_of(settings_for(options))
        done = whole_database.scrub(location, admin_url, _key(admin_key_file), stages.note, log_mb * MB)
    if options.json:
        print_json(done._asdict())
        return
    for name, value in done._asdict().items():
        click.echo(tabbed(name, value))
    talk("The database file was written again, and its logs were turned over.")


def _key(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"the file with the key cannot be read: {error}") from error

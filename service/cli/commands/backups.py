"""Commands about the database as a whole: backup, restore-backup, scrub."""

from collections.abc import Mapping, Sequence
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
    from muisti.core.model import errors, values
    from muisti.core.model.location import Location
    from muisti.core.model.operations import Stamp
    from muisti.core.operations import whole_database
    from muisti.service.background import backup_targets
    from muisti.service.runtime import databases
else:  # with the core
    errors = Lazy("muisti.core.model.errors")
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
    folder. In a folder or bucket the file name comes from the time. Each database beside the first has a folder of its
    name there. For S3 the AWS_... variables have keys, region and endpoint. The backup shows one moment of the
    database, and is opened and checked before it goes to PATH. Prints the last change of each space in it.
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
            names = _names(options)
            _list(options, {one: backup_targets.shelf(_place(place, one, names)).all() for one in names})
            return
        sources, now = databases.databases_of(_location(options)), system_clock()
        names = list(sources)
        stages.begin("backup")
        if many:
            file = backup_targets.name_at(now)
            stamps = backup_targets.shelve_all(sources, place, now, keep, stages.note)
            made = [(one, _in(_place(place, one, names), file), stamp) for one, stamp in stamps.items()]
        elif len(names) > 1:
            raise Failure(
                f"{place} is one file, and the databases are {', '.join(names)}: name a folder or s3://BUCKET/PREFIX, "
                "where each gets a backup of its own"
            )
        else:
            stamp = whole_database.back_up(sources[names[0]], Path(place), now, stages.note, force=force)
            made = [(names[0], place, stamp)]
    _print_stamps(options, made)
    hint(options, f"To restore it: muisti restore-backup {made[0][1]}")


def _names(options: Globals) -> list[str]:
    """Return the names of the databases, of the first alone when that does not answer: its backups may be wanted."""
    try:
        return list(databases.databases_of(databases.location_of(settings_for(options))))
    except (Failure, errors.MuistiError):
        return [""]


def _place(place: str, name: str, names: Sequence[str]) -> str:
    """Return where the backups of a database are, of which the first one is the directory."""
    return place if name == names[0] else backup_targets.beside(place, name)


def _in(place: str, name: str) -> str:
    return f"{place.rstrip('/')}/{name}" if place.startswith("s3://") else str(Path(place) / name)


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
    _print_stamps(options, [("", str(target.file or target.url), stamp)], "database" if target.file is None else "file")
    talk("Restored. Every space has a new epoch.")


def _list(options: Globals, found: "Mapping[str, Sequence[backup_targets.StoredBackup]]") -> None:
    several = len(found) > 1
    items = [(name, each) for name, backups in found.items() for each in backups]
    if for_people(options) and not items:
        talk("There is no backup here: muisti backup PATH")
        return
    rows = [((name,) if several else ()) + (each.name, sized(each.size)) for name, each in items]
    heads = ("database", "backup", "size") if several else ("backup", "size")
    show(
        options,
        {"items": [{"name": each.name, "size": each.size} | _named(name, several) for name, each in items]},
        lambda _: grid(None, *heads, right=("size",), rows=rows),
        lambda _: [tabbed(*((name,) if several else ()), each.name, each.size) for name, each in items],
    )


def _named(name: str, several: bool) -> dict[str, str]:
    return {"database": name} if several else {}


def _print_stamps(options: Globals, made: "Sequence[tuple[str, str, Stamp]]", what: str = "file") -> None:
    """Print what was backed up or restored: the spaces of each database, with the last change of each."""
    several = len(made) > 1

    def table(_: Any) -> Shown:
        return stack(*(part for name, path, stamp in made for part in _stamped(name if several else "", path, stamp)))

    def lines(_: Any) -> list[str]:
        return [
            line
            for name, path, stamp in made
            for line in (
                *([tabbed("database", name)] if several else ()),
                tabbed(what, path, stamp.size),
                *(tabbed("space", *one) for one in _seqs(stamp).items()),
            )
        ]

    found = [
        {"path": path, "bytes": stamp.size, "spaces": _seqs(stamp)} | _named(name, several)
        for name, path, stamp in made
    ]
    show(options, {"items": found} if several else found[0], table, lines)


def _seqs(stamp: "Stamp") -> dict[str, str]:
    return {name: str(seq) for name, seq in sorted(stamp.spaces.items())}


def _stamped(name: str, path: str, stamp: "Stamp") -> list[Shown]:
    rows = ((space, f"{stamp.spaces[space].number:,}") for space in _seqs(stamp))
    head = cell(f"{name}{name and ': '}{path}, {sized(stamp.size)}, opened and checked")
    return [head, grid(None, "space", "changes", right=("changes",), rows=rows)]


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

"""Commands about backups of the database: backup and restore-backup."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals
from muisti.service.cli.options import Point
from muisti.service.cli.output import check_folder
from muisti.service.cli.session import server_url

if TYPE_CHECKING:
    from muisti.service.cli.commands.backups import copies
else:  # with the core
    copies = Lazy("muisti.service.cli.commands.backups.copies")

HERE = "works on the database itself: name it with --database, without --url and MUISTI_URL"


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
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--keep", type=click.IntRange(1), metavar="N", help="Afterwards delete all but the newest N backups there."
)
@click.option("--list", "listed", is_flag=True, help="List the backups at PATH, and make none.")
@click.pass_obj
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
    copies.make(options, place, many=many, force=force, keep=keep, listed=listed)


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
@click.option("--at", type=Point(), metavar="TIME | EPOCH:SEQ", help="Undo later changes, in all spaces or in one.")
@click.option("--force", is_flag=True, help="Replace an existing database, which is kept under another name.")
@click.pass_obj
def restore(options: Globals, path: str, at: str | None, force: bool) -> None:
    """Restore the database from a backup.

    PATH is a file that `muisti backup` made, or s3://BUCKET/PREFIX/NAME. Stop the server first. The backup is checked
    before anything changes. Every space gets a new epoch: clients that know later points of its history get an error
    (410) and read again. A target database on a server must be empty; it is usable once all rows are copied and
    compared.
    """
    if server_url(options):
        raise click.UsageError(f"restore {HERE}")
    copies.put_back(options, path, at, force=force)

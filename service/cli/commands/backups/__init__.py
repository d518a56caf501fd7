"""Commands about copies of the database: backup and restore."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals
from muisti.service.cli.output import check_folder
from muisti.service.cli.session import server_url

if TYPE_CHECKING:
    from muisti.service.cli.commands.backups import copies
else:  # with the core
    copies = Lazy("muisti.service.cli.commands.backups.copies")

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
    copies.put_back(options, path, at, force=force)

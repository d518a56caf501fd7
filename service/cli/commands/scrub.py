"""The command scrub: remove from the files of a database server what purges have left in them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Failure, Globals, command
from muisti.service.cli.options import integer, option
from muisti.service.cli.output import console, print_json, tabbed, talk
from muisti.service.cli.session import server_url

if TYPE_CHECKING:
    from muisti.core.operations import scrubbing
    from muisti.service.cli import callers, configuration, opening, progress
    from muisti.service.runtime import databases
else:  # with the core
    scrubbing = Lazy("muisti.core.operations.scrubbing")
    callers = Lazy("muisti.service.cli.callers")
    databases = Lazy("muisti.service.runtime.databases")
    opening = Lazy("muisti.service.cli.opening")
    progress = Lazy("muisti.service.cli.progress")
    configuration = Lazy("muisti.service.cli.configuration")

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
    with opening.refusals(options), progress.Stages(console(options, stderr=True)) as stages:
        callers.demand(options, "admin")
        stages.begin("scrub")
        location = databases.location_of(configuration.settings_for(options))
        done = scrubbing.scrub(location, admin_url, _key(admin_key_file), stages.note, log_mb * MB)
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

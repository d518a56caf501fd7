"""The doctor command."""

from typing import TYPE_CHECKING

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import flag

if TYPE_CHECKING:
    from muisti.service.cli.commands.doctor import checks
else:  # with the core
    checks = Lazy("muisti.service.cli.commands.doctor.checks")


@command(
    "muisti doctor",
    "muisti doctor --repair",
    "muisti doctor --quick --json",
    "muisti doctor --url http://127.0.0.1:8321",
)
@flag("--quick", "Skip the checks that read the whole database.")
@flag("--repair", "Rebuild indexes; copy a damaged file's rows to a new file.")
def doctor(options: Globals, quick: bool, repair: bool) -> None:
    """Check the installation and the database.

    Checks SQLite, the database file and its write-ahead log, the checksums of the memories, and the indexes. Also
    checks the model, permissions, disk and clock, and looks for two spaces of one project. With --url it asks the
    server. Without --repair nothing changes. With it, indexes are rebuilt. A damaged file is left as it is; all rows
    that can be read go into a new file beside it. The exit code is 1 when a check failed, or a repair was not possible.
    """
    checks.run(options, quick=quick, repair=repair)

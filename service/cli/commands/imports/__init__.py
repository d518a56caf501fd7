"""The import command."""

from typing import TYPE_CHECKING, Any

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import choice, flag, integer, option

if TYPE_CHECKING:
    from muisti.service.cli.commands.imports import intake
else:  # with the whole service
    intake = Lazy("muisti.service.cli.commands.imports.intake")

SYSTEMS = (
    "muisti", "markdown", "basic-memory", "chatgpt", "claude", "cogx", "hazina", "json", "letta",
    "mcp-memory", "mcp-memory-service", "mem0", "memorg", "obsidian", "vipune", "zakira", "zapomni", "zep",
)  # fmt: skip


@command(
    "muisti import memories.ndjson --dry-run",
    "muisti import zakira.db",
    "muisti import ~/Vault",
    """echo '["We deploy on Tuesdays"]' | muisti import -""",
    "muisti import --from mem0 export.json",
    "muisti import ~/.vipune/memories.db --project acme/web",
    "ssh laptop muisti export - | muisti import -",
    "muisti import --list",
    "muisti import --undo 3",
    name="import",
)
@click.argument("files", metavar="FILE…", nargs=-1)
@choice("--from system", "System that the file comes from, if its content does not show it.", SYSTEMS)
@flag("--dry-run", "Print what the import would do, and change nothing.")
@flag("--each", "Import the valid lines even if others are not.  [default: all or none]")
@option("--project projects", "Only this project of the file; repeat it.", multiple=True)
@flag("--allow-secrets", "Also import texts that look like a password or a key.")
@flag("--allow-personal-data", "Also import texts that look like personal data.")
@flag("--list listed", "List the imports of the space.")
@integer("--undo", "Delete the memories of import N.", 1)
def import_files(options: Globals, files: tuple[str, ...], **how: Any) -> None:
    """Import an export of Muisti, or the memories of another system.

    FILE is a file or folder whose content shows the format (docs/how-to/importing.md); - is standard input. JSON of
    your own is a list of texts or of objects with a text, or one of either in each line. Or it is an object of texts by
    id. Projects and workspaces of other systems become spaces; with --space everything goes into that one. Memories
    that exist already are skipped, so a repeated import changes nothing. Prints how many memories were imported, and
    why others were not.
    """
    asked = sum((bool(files), how["listed"], how["undo"] is not None))
    if asked != 1:
        raise click.UsageError("give files to import, or --list, or --undo N")
    if how["listed"]:
        intake.show_imports(options)
    elif how["undo"] is not None:
        intake.undo_import(options, how["undo"])
    else:
        intake.bring(options, files, _how(**how))


def _how(
    *,
    system: str | None,
    dry_run: bool,
    each: bool,
    projects: tuple[str, ...],
    allow_secrets: bool,
    allow_personal_data: bool,
    **_: Any,
) -> "intake.How":
    given = (("secrets", allow_secrets), ("personal_data", allow_personal_data))
    allowed = tuple(name for name, is_given in given if is_given)
    return intake.How(system=system, dry_run=dry_run, atomic=not each, allowed=allowed, projects=projects)

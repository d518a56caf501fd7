"""The commands export and import. Light; the work is in `service.cli.transfer`."""

from importlib import import_module
from typing import Any

import click

from service.cli.base import Command, Globals

SYSTEMS = (
    "muisti", "markdown", "basic-memory", "chatgpt", "claude", "cogx", "hazina", "letta", "mcp-memory",
    "mcp-memory-service", "mem0", "memorg", "obsidian", "vipune", "zakira", "zapomni", "zep",
)  # fmt: skip


@click.command(
    cls=Command,
    examples=(
        "muisti export memories.ndjson",
        "muisti export memories.ndjson.zst",
        "muisti export - | gzip > memories.gz",
        "muisti export --format markdown Memories",
    ),
)
@click.argument("file", metavar="FILE")
@click.option(
    "--format",
    "form",
    type=click.Choice(("lines", "markdown")),
    default="lines",
    show_default=True,
    help="Lines of JSON, or a folder of notes in Markdown.",
)
@click.option("--no-vectors", is_flag=True, help="Leave the vectors out; they are made anew when it comes in.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.pass_obj
def export(options: Globals, file: str, *, form: str, no_vectors: bool, force: bool) -> None:
    """Write a space into a file, or into a folder of notes.

    As lines of JSON (docs/export.md) with its history and its vectors, compressed when FILE ends in .zst; - is standard
    output. The file shows one point of history, whatever is written meanwhile. `muisti import FILE` takes it in
    elsewhere. Notes in Markdown, one for each current memory, are for people and their editors, and come in likewise.
    """
    if form == "markdown":
        _work().export_notes(options, file, force=force)
        return
    _work().export(options, file, vectors=not no_vectors, force=force)


@click.command(
    "import",
    cls=Command,
    examples=(
        "muisti import memories.ndjson --dry-run",
        "muisti import zakira.db",
        "muisti import ~/Vault",
        "muisti import --from mem0 export.json",
        "muisti import --list",
        "muisti import --undo 3",
    ),
)
@click.argument("files", metavar="FILE…", nargs=-1)
@click.option("--from", "system", type=click.Choice(SYSTEMS), help="Whose file it is; else its content tells.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and leave all as it is.")
@click.option("--each", is_flag=True, help="Take what is good, though other lines are bad.  [default: all or nothing]")
@click.option("--list", "listed", is_flag=True, help="Show what was imported.")
@click.option("--undo", type=click.IntRange(min=1), metavar="N", help="Delete all that import N has brought.")
@click.pass_obj
def import_files(options: Globals, files: tuple[str, ...], **how: Any) -> None:
    """Take in an export, or the memories of another system.

    What a file is, its content tells (docs/importing.md). A second time nothing changes: ids are the same each time,
    and those that are here are passed over. Prints how many memories came in, and why others did not.
    """
    asked = sum((bool(files), how["listed"], how["undo"] is not None))
    if asked != 1:
        raise click.UsageError("give files to import, or --list, or --undo N")
    if how["listed"]:
        _work().show_imports(options)
    elif how["undo"] is not None:
        _work().undo_import(options, how["undo"])
    else:
        _work().bring(options, files, system=how["system"], dry_run=how["dry_run"], atomic=not how["each"])


def _work() -> Any:
    return import_module("service.cli.transfer")

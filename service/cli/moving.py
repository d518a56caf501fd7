"""The commands export and import. Light; the work is in `service.cli.transfer` and `service.cli.bringing`."""

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
        "muisti export --all Everything",
    ),
)
@click.argument("file", metavar="FILE")
@click.option("--all", "every", is_flag=True, help="Every space: FILE is a folder, with a file for each.")
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
def export(options: Globals, file: str, *, every: bool, form: str, no_vectors: bool, force: bool) -> None:
    """Write a space into a file, or into a folder of notes.

    As lines of JSON (docs/export.md) with its history and its vectors, compressed when FILE ends in .zst; - is standard
    output. The file shows one point of history, whatever is written meanwhile. `muisti import FILE` takes it in
    elsewhere. Notes in Markdown, one for each current memory, are for people and their editors, and come in likewise.
    --all writes every space into a folder, which `muisti import` brings back into spaces of the same names.
    """
    work = import_module("service.cli.transfer")
    if every:
        work.export_all(options, file, notes=form == "markdown", vectors=not no_vectors, force=force)
    elif form == "markdown":
        work.export_notes(options, file, force=force)
    else:
        work.export(options, file, vectors=not no_vectors, force=force)


@click.command(
    "import",
    cls=Command,
    examples=(
        "muisti import memories.ndjson --dry-run",
        "muisti import zakira.db",
        "muisti import ~/Vault",
        "muisti import --from mem0 export.json",
        "muisti import ~/.vipune/memories.db --project acme/web",
        "ssh laptop muisti export - | muisti import -",
        "muisti import --list",
        "muisti import --undo 3",
    ),
)
@click.argument("files", metavar="FILE…", nargs=-1)
@click.option(
    "--from",
    "system",
    type=click.Choice(SYSTEMS),
    help="System that the file comes from, where its content does not say it.",
)
@click.option("--dry-run", is_flag=True, help="Print what the import would do, and change nothing.")
@click.option("--each", is_flag=True, help="Take the good lines although others are bad.  [default: all or nothing]")
@click.option("--project", "projects", multiple=True, metavar="NAME", help="Only this project of the file; repeat it.")
@click.option("--allow-secrets", is_flag=True, help="Take also what looks like a password or a key.")
@click.option("--allow-personal-data", is_flag=True, help="Take also what looks like personal data.")
@click.option("--list", "listed", is_flag=True, help="Show what was imported.")
@click.option("--undo", type=click.IntRange(min=1), metavar="N", help="Delete all that import N has brought.")
@click.pass_obj
def import_files(options: Globals, files: tuple[str, ...], **how: Any) -> None:
    """Take in an export, or the memories of another system.

    The content of a file says what it is (docs/importing.md); - is standard input. Projects and workspaces of other
    systems become spaces of their own, and with --space all of it goes into that one. A second import changes nothing:
    memories that are here are passed over. Prints how many memories came in, and why others did not.
    """
    asked = sum((bool(files), how["listed"], how["undo"] is not None))
    if asked != 1:
        raise click.UsageError("give files to import, or --list, or --undo N")
    work = import_module("service.cli.bringing")
    if how["listed"]:
        work.show_imports(options)
    elif how["undo"] is not None:
        work.undo_import(options, how["undo"])
    else:
        work.bring(options, files, _how(work, **how))


def _how(
    work: Any,
    *,
    system: str | None,
    dry_run: bool,
    each: bool,
    projects: tuple[str, ...],
    allow_secrets: bool,
    allow_personal_data: bool,
    **_: Any,
) -> Any:
    given = (("secrets", allow_secrets), ("personal_data", allow_personal_data))
    allowed = tuple(name for name, is_given in given if is_given)
    return work.How(system=system, dry_run=dry_run, atomic=not each, allowed=allowed, projects=projects)

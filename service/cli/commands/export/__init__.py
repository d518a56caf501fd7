"""The export command."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals

if TYPE_CHECKING:
    from muisti.service.cli.commands.export import files
else:  # with the whole service
    files = Lazy("muisti.service.cli.commands.export.files")


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
    if every:
        files.export_all(options, file, notes=form == "markdown", vectors=not no_vectors, force=force)
    elif form == "markdown":
        files.export_notes(options, file, force=force)
    else:
        files.export(options, file, vectors=not no_vectors, force=force)

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
@click.option("--all", "every", is_flag=True, help="Export every space: FILE is a folder, with a file for each.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("lines", "markdown")),
    default="lines",
    show_default=True,
    help="Lines of JSON, or a folder of notes in Markdown.",
)
@click.option("--no-vectors", is_flag=True, help="Leave the vectors out; an import computes them again.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.pass_obj
def export(options: Globals, file: str, *, every: bool, form: str, no_vectors: bool, force: bool) -> None:
    """Write a space to a file, or to a folder of Markdown notes.

    The file has lines of JSON (docs/how-to/export.md), with the history and the vectors of the space. It is compressed
    when FILE ends in .zst; - is standard output. The file shows one point in history, whatever is written during the
    export. With --format markdown, FILE is a folder with a note for each current memory. --all writes every space into
    a folder. `muisti import FILE` reads all three; from a folder of --all, it restores each space under its name.
    """
    if every:
        files.export_all(options, file, notes=form == "markdown", vectors=not no_vectors, force=force)
    elif form == "markdown":
        files.export_notes(options, file, force=force)
    else:
        files.export(options, file, vectors=not no_vectors, force=force)

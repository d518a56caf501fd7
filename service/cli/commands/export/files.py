"""Exports from a server, or the database of this machine, to files."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.commands.export.notes import write_notes
from muisti.service.cli.ends import End, existing, opened_end
from muisti.service.cli.opening import space_choice
from muisti.service.cli.output import talk, write_file
from muisti.service.formats.lines import compressed

STDOUT = "-"
SUFFIX = ".ndjson"


def export(options: Globals, file: str, *, vectors: bool, force: bool) -> None:
    """Write the space to a file or to standard output."""
    space = space_choice(options).space
    with opened_end(options, need="read") as end, existing(space), end.export(space, vectors=vectors) as pieces:
        if file == STDOUT:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
        else:
            _write(pieces, Path(file), force=force)
            talk(f"Wrote {Path(file).stat().st_size:,} bytes to {file}.")


def export_notes(options: Globals, folder: str, *, force: bool) -> None:
    """Write the space to a folder of notes."""
    if folder == STDOUT:
        raise click.UsageError("notes in Markdown are written into a folder")
    space = space_choice(options).space
    with opened_end(options, need="read") as end, existing(space), end.export(space, vectors=False) as pieces:
        count = write_notes(pieces, Path(folder), force=force)
    talk(f"Wrote {count:,} notes to {folder}.")


def export_all(options: Globals, folder: str, *, notes: bool, vectors: bool, force: bool) -> None:
    """Write every space into a folder: a file for each, or a folder of notes for each. Prints the space and its file.

    Raises:
        Failure: a file is there already and `force` is not given, or one cannot be written. Files before it stay.
    """
    if folder == STDOUT:
        raise click.UsageError("all spaces are written into a folder")
    if options.space is not None:
        raise click.UsageError("give --all or --space, not both")
    written: list[dict[str, str]] = []
    with opened_end(options, need="read") as end:
        for space in sorted(end.spaces()):
            path = Path(folder) / (space if notes else space + SUFFIX)
            _export_one(end, space, path, notes=notes, vectors=vectors, force=force)
            written.append({"space": space, "file": str(path)})
            if not options.json:
                click.echo(f"{space}\t{path}")
    if options.json:
        click.echo(msgspec.json.encode({"items": written}))


def _export_one(end: End, space: str, path: Path, *, notes: bool, vectors: bool, force: bool) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{path.parent} cannot be made: {error.strerror}") from error
    with end.export(space, vectors=vectors and not notes) as pieces:
        if notes:
            write_notes(pieces, path, force=force)
        else:
            _write(pieces, path, force=force)


def _write(pieces: Iterator[bytes], file: Path, *, force: bool) -> None:
    write_file(compressed(pieces) if file.suffix == ".zst" else pieces, file, force=force)

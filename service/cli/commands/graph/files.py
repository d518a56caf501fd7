"""Graphs in files: for other programs, and as pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from muisti.client import calls
from muisti.service.cli.base import Globals
from muisti.service.cli.ends import existing, opened_end
from muisti.service.cli.opening import space_choice
from muisti.service.cli.output import talk, write_file
from muisti.service.cli.session import session
from muisti.service.formats.graphs.formats import FORMATS, GraphFormat

STDOUT = "-"
_ENDINGS: Mapping[str, GraphFormat] = {format.suffix: name for name, format in FORMATS.items()}


def draw(options: Globals, file: str, given: Mapping[str, Any], *, force: bool) -> None:
    """Write a picture."""
    with session(options) as opened:
        reply = opened.client.send(calls.draw_graph(opened.space, **given))
    _write(file, [reply.body], force=force)


def export(options: Globals, file: str, format: GraphFormat | None, as_of: str | None, *, force: bool) -> None:
    """Write a graph piece by piece, in the format that is named, or in that of the ending of the file."""
    form = format or _ENDINGS.get(Path(file).suffix.lower(), "json")
    space = space_choice(options).space
    with opened_end(options, need="read") as end, existing(space), end.graph(space, form, as_of) as pieces:
        _write(file, pieces, force=force)


def _write(file: str, pieces: Iterable[bytes], *, force: bool) -> None:
    if file == STDOUT:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        return
    write_file(pieces, Path(file), force=force)
    talk(f"Wrote {Path(file).stat().st_size:,} bytes to {file}.")

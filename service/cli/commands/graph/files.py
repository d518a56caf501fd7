"""Graphs in files: for other programs, and as pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from muisti.client import Call, calls
from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.output import check_folder, talk
from muisti.service.cli.session import session
from muisti.service.formats.graphs.formats import FORMATS

STDOUT = "-"
_ENDINGS = {format.suffix: name for name, format in FORMATS.items()}


def draw(options: Globals, file: str, given: Mapping[str, Any], *, force: bool) -> None:
    """Write a picture."""
    _save(options, file, lambda space: calls.draw_graph(space, **given), force=force)


def export(options: Globals, file: str, given: Mapping[str, Any], *, force: bool) -> None:
    """Write a graph in the format that is named, or that of the ending of the file."""
    named = {"format": _ENDINGS.get(Path(file).suffix.lower(), "json"), **given}
    _save(options, file, lambda space: calls.export_graph(space, **named), force=force)


def _save(options: Globals, file: str, ask: Callable[[str], Call], *, force: bool) -> None:
    with session(options) as opened:
        reply = opened.read(lambda: opened.client.send(ask(opened.space)))
        _write(file, reply.body, force=force)


def _write(file: str, data: bytes, *, force: bool) -> None:
    """Write the bytes.

    Raises:
        Failure: the file exists already, or cannot be written.
    """
    if file == STDOUT:
        sys.stdout.buffer.write(data)
        return
    path = Path(file)
    check_folder(path)
    try:
        with path.open("wb" if force else "xb") as opened:
            opened.write(data)
    except FileExistsError as error:
        raise Failure(f"{file} exists already; --force overwrites it") from error
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from error
    talk(f"Wrote {len(data):,} bytes to {file}.")

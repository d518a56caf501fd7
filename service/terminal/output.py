"""Output of commands. Answers go to stdout: JSON of the API, tables, or tabbed lines. Messages go to stderr."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.service.terminal.base import Failure, Globals
from muisti.service.terminal.views import flagged, listed, safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from muisti.service.terminal.client import Reply

STDOUT = "-"  # as the name of a file
LISTS = ("hits", "items")  # fields of a reply that hold the rows of its CSV
INNER = "memory"  # object of a hit whose fields become columns of their own
_PLANNED = listed(
    {"would be": "kind", "memory": "memory_id", "version": "version"}, ("kind", "memory_id", "version"), ("version",)
)


def talk(text: str) -> None:
    """Print a message to the person on stderr; it is never part of the answer."""
    click.echo(text, err=True)


def hinting(options: Globals) -> bool:
    return sys.stderr.isatty() and not options.plain and not options.json


def hint(options: Globals, text: str) -> None:
    """Print a suggestion of the next command, on a terminal only."""
    if hinting(options):
        click.echo(click.style(text, dim=True), err=True, color=False if options.no_color else None)


def asking() -> bool:
    """Tell whether a person at a terminal can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def for_people(options: Globals) -> bool:
    """Tell whether answers are printed as tables: on a terminal, or with --table."""
    return bool(options.table) or (sys.stdout.isatty() and not options.plain and not options.json and not options.csv)


def console(options: Globals, *, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr. rich itself obeys `NO_COLOR`."""
    return import_module("rich.console").Console(
        stderr=stderr, no_color=True if options.no_color else None, highlight=False
    )


def answer(
    options: Globals,
    reply: Reply,
    table: Callable[[Any], RenderableType],
    plain: Callable[[Any], Sequence[str]],
    none: str = "",
) -> None:
    """Print a reply as JSON, CSV, a table or plain lines. `table` and `plain` get its data, and make no line ends.

    A person sees `none` instead of an empty table. A dry run prints the planned changes, whatever the command. Flags on
    what was stored, and what could not be done, go to stderr.
    """
    for note in _notes(reply.data):
        talk(note)
    if isinstance(reply.data, dict) and reply.data.get("dry_run") is True:
        talk(f"Nothing was stored. It would make {_counted(reply.data['changes'])}.")
        table, plain, none = _PLANNED
    if options.json:
        click.echo(reply.body or b"{}")
    elif options.csv:
        click.echo(as_csv(reply.data), nl=False)
    elif for_people(options):
        shown = table(reply.data)
        if getattr(shown, "row_count", None) != 0:  # a table without rows would be its head alone
            console(options).print(shown)
        elif none:
            talk(none)
    else:
        for line in plain(reply.data):
            click.echo(safe(line) if sys.stdout.isatty() else line)


def as_csv(data: Any) -> str:
    """Return the names of the columns, and a line for each item of a reply; a reply without items is one line.

    A list of words becomes words with commas between; other lists and objects become JSON.

    >>> print(as_csv({"items": [{"name": "release", "count": 1, "tags": ["a", "b"]}]}).replace(chr(13), ""), end="")
    name,count,tags
    release,1,"a,b"
    """
    rows = [_csv_row(row) for row in _csv_rows(data)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    lines = csv.writer(written)
    if columns:
        lines.writerow(columns)
    lines.writerows([_csv_cell(row.get(name)) for name in columns] for row in rows)
    return written.getvalue()


def _csv_rows(data: Any) -> Sequence[Any]:
    if not isinstance(data, Mapping):
        return data if isinstance(data, list) else []
    return next((data[name] for name in LISTS if isinstance(data.get(name), list)), [data])


def _csv_row(row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        return {"value": row}
    inner = row.get(INNER)
    if not isinstance(inner, Mapping):
        return row
    return {**inner, **{name: value for name, value in row.items() if name != INNER}}


def _csv_cell(value: Any) -> object:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    return json.dumps(value, ensure_ascii=False)


def _notes(data: Any) -> Iterator[str]:
    """Yield what an answer says beside its items; `degraded` is a number among the figures of a graph."""
    if isinstance(data, dict):
        yield from map(flagged, data.get("flags", ()))
        degraded = data.get("degraded")
        yield from (f"Note: {each.removesuffix('.')}." for each in (degraded if isinstance(degraded, list) else ()))
        if "receipt" in data:
            yield f"Receipt: {data['receipt']}"


def print_json(data: Any) -> None:
    """Print data as JSON, as the API would."""
    click.echo(import_module("msgspec").json.encode(data))


def show(
    options: Globals, data: Any, table: Callable[[Any], RenderableType], plain: Callable[[Any], Sequence[str]]
) -> None:
    """Print what the API did not answer: as JSON, as a table or as plain lines."""
    if options.json:
        print_json(data)
    elif for_people(options):
        console(options).print(table(data))
    else:
        for line in plain(data):
            click.echo(line)


def revised(reply: Reply, data: Any) -> Reply:
    """Return a copy of the reply with another body."""
    return replace(reply, body=import_module("msgspec").json.encode(data))


def check_folder(file: Path) -> None:
    """Refuse to write a file whose folder is missing: it is more often a typing error than a wish.

    Raises:
        Failure: there is no such folder.
    """
    folder = file.absolute().parent
    if not folder.is_dir():
        raise Failure(f"there is no folder {folder}")


def write_file(pieces: Iterable[bytes], file: Path, *, force: bool) -> None:
    """Write under a temporary name beside the file, and rename it when complete; `-` is standard output.

    Raises:
        Failure: the file exists already and `force` is not given, or it cannot be written.
    """
    if str(file) == STDOUT:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        return
    check_folder(file)
    if file.exists() and not force:
        raise Failure(f"{file} exists already; --force overwrites it")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as opened:
            for piece in pieces:
                opened.write(piece)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _counted(changes: int) -> str:
    return f"{changes:,} change{'' if changes == 1 else 's'}"

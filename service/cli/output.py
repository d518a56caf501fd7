"""Output of commands. Answers go to stdout: JSON of the API, tables, or tabbed lines. Messages go to stderr."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Failure, Globals

if TYPE_CHECKING:  # rich is imported by the first table, not by `--help`
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from muisti.service.app.client import Reply
    from muisti.service.cli import grids
else:  # rich is imported by the first table
    grids = Lazy("muisti.service.cli.grids")

LISTS = ("hits", "items")  # fields of a reply that hold the rows of its CSV
INNER = "memory"  # object of a hit whose fields become columns of their own
BRIEF = 400  # characters of a memory in a list
SHORT = 8  # last characters of an id: random in UUIDv7, the first ones are the time
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # characters that a terminal would obey
_STEPS = ((60, "second"), (60, "minute"), (24, "hour"), (30, "day"), (12.17, "month"), (float("inf"), "year"))

Row = Mapping[str, Any]
Field = str | Callable[[Row], Any]  # of an item: its name, or a function of the item


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

    A person sees `none` instead of an empty table. A dry run prints the planned changes, whatever the command.
    """
    if _is_dry_run(reply):
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
    """Write under a temporary name beside the file, and rename it when complete.

    Raises:
        Failure: the file exists already and `force` is not given, or it cannot be written.
    """
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


def safe(text: str) -> str:
    """Replace control characters, which a terminal would obey: the text of a memory cannot be trusted.

    >>> safe("red \\x1b[31m?")
    'red �[31m?'
    """
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    return " ".join(text.split())


def likeness(found: Row) -> str:
    """Describe a memory that is like a new one: its id, its text, and the differences.

    >>> parts = [{"kind": "number", "existing": "3", "new": "4"}, {"kind": "negation", "existing": None, "new": "not"}]
    >>> likeness({"id": "0197", "content": "We are 3", "differs": parts})
    '0197  We are 3  (stored 3, yours 4; only yours: not)'
    """
    parts = "; ".join(_difference(part["existing"], part["new"]) for part in found["differs"])
    return safe(f"{found['id']}  {one_line(found['content'])}" + (f"  ({parts})" if parts else ""))


def _difference(stored: str | None, yours: str | None) -> str:
    if stored and yours:
        return f"stored {stored}, yours {yours}"
    return f"only the stored one: {stored}" if stored else f"only yours: {yours}"


def tabbed(*values: object) -> str:
    """Join values with tabs, for `cut` and `awk`. None becomes empty; white space in a value becomes one space."""
    return "\t".join("" if value is None else one_line(str(value)) for value in values)


def cell(text: object, style: str = "") -> Text:
    """Return text for a table cell, never read as markup."""
    return import_module("rich.text").Text("" if text is None else safe(str(text)), style)


def grid(title: str | None, *columns: str, right: Sequence[str] = ()) -> Table:
    """Return a table, which shows every value whole on a narrow terminal too."""
    made = grids.Grid(
        title=cell(title) if title else None,
        title_justify="left",
        box=import_module("rich.box").SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left")
    return made


class View(NamedTuple):
    """Ways to print an answer: a table for a person, tabbed lines for a program, and `none` without items."""

    table: Callable[[Any], RenderableType]
    plain: Callable[[Any], Sequence[str]]
    none: str = ""


def listed(
    columns: Mapping[str, Field],
    line: Sequence[Field],
    right: Sequence[str] = (),
    none: str = "",
    among: str = "items",
) -> View:
    """Show each item of an answer as a row, with `columns` by heading, and as a line. An answer without is an item."""

    def table(data: Any) -> Table:
        made = grid(None, *columns, right=right)
        for one in data.get(among, [data]):
            made.add_row(*map(_shown, _values(one, columns.values())))
        return made

    return View(table, lambda data: [tabbed(*_values(one, line)) for one in data.get(among, [data])], none)


def same(*names: str, right: Sequence[str] = ()) -> View:
    """Show the same fields of each item in a row and in a line."""
    return listed({name: name for name in names}, names, right)


def alike(headings: Sequence[str], of: Callable[[Any], Iterable[Sequence[object]]], none: str = "") -> View:
    """Show the same values of an answer in the rows of a table and in lines."""

    def table(data: Any) -> Table:
        made = grid(None, *headings)
        for row in of(data):
            made.add_row(*map(_shown, row))
        return made

    return View(table, lambda data: [tabbed(*row) for row in of(data)], none)


def said(sentence: str, *line: object) -> View:
    """Show a sentence to a person, and a line to a program, whatever the answer is."""
    return View(lambda _: cell(sentence), lambda _: [tabbed(*line)])


def lines(*columns: Field) -> Callable[[Any], list[str]]:
    """Return a function that makes a tabbed line of each item of an answer.

    >>> lines("name", lambda one: one["count"] + 1)({"items": [{"name": "a", "count": 1}]})
    ['a\\t2']
    """
    return lambda data: [tabbed(*_values(one, columns)) for one in data.get("items", [data])]


def ago_of(field: str) -> Field:
    """Return how long ago the time in a field was."""
    return lambda one: ago(one[field])


def _values(one: Row, columns: Iterable[Field]) -> Iterator[Any]:
    return (one[column] if isinstance(column, str) else column(one) for column in columns)


def _shown(value: Any) -> RenderableType:
    return cell(value) if value is None or isinstance(value, str | int | float) else value


def fields(rows: Sequence[tuple[RenderableType, RenderableType]]) -> RenderableType:
    """Return a table of names and values in two columns, without a frame."""
    return grids.Pairs(rows)


def stack(*parts: RenderableType) -> RenderableType:
    """Return the parts below each other."""
    return import_module("rich.console").Group(*parts)


def indented(part: RenderableType) -> RenderableType:
    return import_module("rich.padding").Padding(part, (0, 0, 0, 3), expand=False)


def sized(size: float) -> str:
    """Format bytes in the largest fitting unit.

    >>> sized(1536), sized(40)
    ('1.5 KiB', '40 B')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}" if unit != "B" else f"{size} B"
        size /= 1024
    return f"{size:.1f} TiB"


def whole(value: object) -> object:
    """Return a whole float as an int, a list as one word, and any other value as it is.

    >>> whole(365.0), whole(0.5), whole("refuse"), whole(["a", "b"])
    (365, 0.5, 'refuse', 'a,b')
    """
    if isinstance(value, list):
        return ",".join(map(str, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def brief(text: str, most: int = BRIEF) -> str:
    """Return the text on one line, cut at so many characters."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def short(value: object) -> str:
    """Return a value on one line, cut at 80 characters; `-` for None."""
    return brief("-" if value is None else str(value), 80)


def short_id(memory: Row) -> str:
    return "…" + str(memory["id"])[-SHORT:]


def address(memory: Row) -> str:
    return "/".join(str(memory[name]) for name in ("category", "key") if memory.get(name))


def _moment(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def ago(text: str | None, now: datetime | None = None) -> str:
    """Return how long before or after `now` a time is, rounded down.

    >>> ago("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 15, 20, tzinfo=UTC))
    '3 hours ago'
    >>> ago("2026-05-03T15:20:00Z", datetime(2026, 5, 1, 15, 20, tzinfo=UTC))
    'in 2 days'
    """
    if not text:
        return ""
    size = ((now or datetime.now(UTC)) - _moment(text)).total_seconds()
    amount = abs(size)
    if amount < 1:
        return "now"
    for step, unit in _STEPS:
        if amount < step:
            count = f"{int(amount)} {unit}{'' if int(amount) == 1 else 's'}"
            return f"{count} ago" if size >= 0 else f"in {count}"
        amount /= step
    raise AssertionError("the last step is endless")


def _is_dry_run(reply: Reply) -> bool:
    return isinstance(reply.data, dict) and reply.data.get("dry_run") is True


def _counted(changes: int) -> str:
    return f"{changes:,} change{'' if changes == 1 else 's'}"


_PLANNED = listed(
    {"would be": "kind", "memory": "memory_id", "version": "version"}, ("kind", "memory_id", "version"), ("version",)
)

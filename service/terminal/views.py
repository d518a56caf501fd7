"""Texts and tables of answers: tables for a person, tabbed lines for a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from muisti.core.support.lazy import Lazy

if TYPE_CHECKING:
    from rich.console import RenderableType as Shown
    from rich.table import Table
    from rich.text import Text

    from muisti.core.model.outcomes import FlagCode
    from muisti.service.terminal import grids
else:  # rich is imported by the first table, not by `--help`
    grids = Lazy("muisti.service.terminal.grids")
    Shown = Table = Text = Any

BRIEF = 400  # characters of a memory in a list
SHORT = 8  # last characters of an id: random in UUIDv7, the first ones are the time
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # characters that a terminal would obey
_STEPS = ((60, "second"), (60, "minute"), (24, "hour"), (30, "day"), (12.17, "month"), (float("inf"), "year"))
Row = Mapping[str, Any]
Field = str | Callable[[Row], Any]  # of an item: its name, or a function of the item


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


def flagged(flag: Mapping[str, Any]) -> str:
    """Return a flag on a stored memory as a sentence.

    >>> [flagged({"code": code, "path": "$.content", "kind": "a key"}) for code in ("suspected", "redacted")]
    ['Stored, but content may hold a secret: a key.', 'Not stored, in content: what looks like a key.']
    """
    match cast("FlagCode", flag["code"]):
        case "echo":
            return f"It only repeats memories that were just found: {' '.join(flag['ids'])}"
        case "trust_lowered":
            return f"Its trust is limited by the memories that it is derived from: {' '.join(flag['ids'])}"
        case "suspected":
            return f"Stored, but {flag['path'].removeprefix('$.')} may hold a secret: {flag['kind']}."
        case "redacted":
            return f"Not stored, in {flag['path'].removeprefix('$.')}: what looks like {flag['kind']}."


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


def grid(title: str | None, *columns: str, right: Sequence[str] = (), rows: Iterable[Iterable[Any]] = ()) -> Table:
    """Return a table, which shows every value whole on a narrow terminal too."""
    made = grids.Grid(
        title=cell(title) if title else None,
        title_justify="left",
        box=import_module("rich.box").SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left")
    for row in rows:
        made.add_row(*map(_shown, row))
    return made


class View(NamedTuple):
    """Ways to print an answer: a table for a person, tabbed lines for a program, and `none` without items."""

    table: Callable[[Any], Shown]
    plain: Callable[[Any], Sequence[str]]
    none: str = ""


def listed(
    columns: Mapping[str, Field],
    line: Sequence[Field],
    right: Sequence[str] = (),
    none: str = "",
    among: str = "items",
    note: Callable[[Any], str] | None = None,
) -> View:
    """Show each item of an answer as a row, with `columns` by heading, and as a line. An answer without is an item.

    `note` says what a person reads below the table.
    """

    def table(data: Any) -> Shown:
        rows = (_values(one, columns.values()) for one in data.get(among, [data]))
        made, below = grid(None, *columns, right=right, rows=rows), note(data) if note else ""
        return stack(made, cell(below, "dim")) if below else made

    return View(table, lambda data: [tabbed(*_values(one, line)) for one in data.get(among, [data])], none)


def rest(data: Any) -> str:
    """Say how many items an answer leaves out, if any."""
    more = data["total"] - len(data["items"])
    return f"{more:,} more; --limit shows them." if more > 0 else ""


def dim(field: Field) -> Field:
    """Return a field whose value is dimmed in a table."""
    return lambda one: cell(next(_values(one, [field])), "dim")


def seq_number(one: Row) -> str:
    """Return the number of the change that an item names."""
    return one["seq"].rpartition(":")[2]


def same(*names: str, right: Sequence[str] = ()) -> View:
    """Show the same fields of each item in a row and in a line."""
    return listed({name: name for name in names}, names, right)


def alike(headings: Sequence[str], of: Callable[[Any], Iterable[Sequence[object]]], none: str = "") -> View:
    """Show the same values of an answer in the rows of a table and in lines."""
    return View(
        lambda data: grid(None, *headings, rows=of(data)), lambda data: [tabbed(*row) for row in of(data)], none
    )


def said(sentence: str, *line: object) -> View:
    """Show a sentence to a person, and a line to a program, whatever the answer is."""
    return View(lambda _: cell(sentence), lambda _: [tabbed(*line)])


def stated(sentence: str, *columns: Field) -> View:
    """Show an answer to a person as a sentence with its fields, and to a program as a line.

    >>> stated("Made {name}.", "name").plain({"name": "a"})
    ['a']
    """
    return View(lambda data: cell(sentence.format_map(data)), lines(*columns))


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


def _shown(value: Any) -> Shown:
    return cell(value) if value is None or isinstance(value, str | int | float) else value


def fields(rows: Sequence[tuple[Shown, Shown]]) -> Shown:
    """Return a table of names and values in two columns, without a frame."""
    return grids.Pairs(rows)


def stack(*parts: Shown) -> Shown:
    """Return the parts below each other."""
    return import_module("rich.console").Group(*parts)


def indented(part: Shown) -> Shown:
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

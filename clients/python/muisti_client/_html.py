"""Results as tables for notebooks. Whatever they hold is escaped, because stored texts are data."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

ROWS_MAX = 50
COLUMNS_MAX = 8
TEXT_MAX = 300  # characters of a cell
FIRST = ("score", "status", "name", "title", "content", "category", "key", "author", "updated_at", "id")
STYLE = ' style="text-align:left;white-space:pre-wrap"'


def table_of(result: Any) -> str:
    """Return a result: its fields as rows, then each of its lists of results as a table."""
    fields = _fields(result)
    lists = {name: value for name, value in fields.items() if _is_rows(value)}
    rows = "".join(
        f"<tr><th{STYLE}>{escape(name)}</th>{_cell(value)}</tr>"
        for name, value in fields.items()
        if name not in lists and not _is_empty(value)
    )
    tables = (f"<p>{escape(name)}: {len(value)}</p>{rows_of(value)}" for name, value in lists.items())
    return f"<table>{rows}</table>{''.join(tables)}"


def rows_of(results: Sequence[Any]) -> str:
    """Return results as the rows of a table, 50 at most."""
    rows = [_flat(one) for one in results[:ROWS_MAX]]
    columns = _columns(rows)
    head = "".join(f"<th{STYLE}>{escape(name)}</th>" for name in columns)
    shown = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in columns)}</tr>" for row in rows)
    more = f"<p>… {len(results)} in all</p>" if len(results) > ROWS_MAX else ""
    return f"<table><tr>{head}</tr>{shown}</table>{more}"


def _fields(result: Any) -> dict[str, Any]:
    return {name: getattr(result, name) for name in result.__struct_fields__}


def _flat(result: Any) -> dict[str, Any]:
    """Return the fields of a result, and those of the results in it, such as the memory of a hit."""
    found = dict[str, Any]()
    for name, value in _fields(result).items():
        found |= _fields(value) if hasattr(value, "__struct_fields__") else {name: value}
    return found


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    found = {name: None for row in rows for name, value in row.items() if not _is_empty(value)}
    return sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))[:COLUMNS_MAX]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and hasattr(value[0], "__struct_fields__")


def _is_empty(value: Any) -> bool:
    return value in (None, "", [], {})


def _cell(value: Any) -> str:
    text = "" if value is None else value.isoformat() if isinstance(value, datetime) else str(value)
    return f"<td{STYLE}>{escape(text if len(text) <= TEXT_MAX else f'{text[:TEXT_MAX]}…')}</td>"

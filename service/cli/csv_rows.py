"""Replies of the API as CSV, for spreadsheets and other programs."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

LISTS = ("hits", "items")  # fields of a reply that hold its rows
INNER = "memory"  # object of a hit whose fields become columns of their own


def as_csv(data: Any) -> str:
    """Return the names of the columns, and a line for each item of a reply; a reply without items is one line.

    A list of words becomes words with commas between; other lists and objects become JSON.

    >>> print(as_csv({"items": [{"name": "release", "count": 1, "tags": ["a", "b"]}]}).replace(chr(13), ""), end="")
    name,count,tags
    release,1,"a,b"
    """
    rows = [_flat(row) for row in _rows(data)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    lines = csv.writer(written)
    if columns:
        lines.writerow(columns)
    lines.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return written.getvalue()


def _rows(data: Any) -> Sequence[Any]:
    if not isinstance(data, Mapping):
        return data if isinstance(data, list) else []
    return next((data[name] for name in LISTS if isinstance(data.get(name), list)), [data])


def _flat(row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        return {"value": row}
    inner = row.get(INNER)
    if not isinstance(inner, Mapping):
        return row
    return {**inner, **{name: value for name, value in row.items() if name != INNER}}


def _cell(value: Any) -> object:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    return json.dumps(value, ensure_ascii=False)

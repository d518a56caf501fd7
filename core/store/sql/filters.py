"""Compiles a filter to SQL of SQLite 3.45, which selects the same rows as muisti.core.index.selections.

An unknown comparison is NULL, so SQL's AND, OR and NOT have the meaning that the filter's have.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from muisti.core.model.errors import InvalidInput
from muisti.core.model.fields import FILTERED, MemoryField
from muisti.core.query.filter_fields import ENTITY, LISTED, VERSION_ROW, Scalar, literal
from muisti.core.query.filters import And, Filter, Leaf, Not, Or

Sql = tuple[str, tuple[Scalar, ...]]  # an expression and the values of its placeholders

_SIGNS = {"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_TAGS = "FROM tags t WHERE t.version_id = v.id"
_METADATA = "FROM metadata m WHERE m.version_id = v.id AND m.path = ?"


def compared(fields: Iterable[MemoryField]) -> dict[str, str]:
    """Return the columns of the row `v` of `versions` that filters compare, by field; lists and metadata have none."""
    return {
        field.name: f"v.{field.compared}" for field in fields if field.filter and field.form not in ("list", "object")
    }


COLUMNS: Mapping[str, str] = compared(FILTERED)


def _list_of(field: MemoryField) -> str:
    """Return the JSON array of what filters compare of a list."""
    column = f"v.{field.in_row}"
    if not field.member:
        return column
    members = f"(SELECT json_group_array(o.value ->> '$.{field.member}') FROM json_each({column}) o)"
    return f"CASE {column} WHEN '[]' THEN '[]' ELSE {members} END"


LISTS: Mapping[str, str] = {field.name: _list_of(field) for field in FILTERED if field.form == "list"}


def where(filter: Filter, columns: Mapping[str, str] = COLUMNS) -> Sql:
    """Return an expression over the row `v` of `versions`: 1, 0, or NULL where the filter is unknown.

    >>> from muisti.core.query.filters import parse
    >>> where(parse({"category": "infra", "not": {"tags": ["a", "b"]}}))  # doctest: +NORMALIZE_WHITESPACE
    ('(v.category_folded = ? AND NOT EXISTS (SELECT 1 FROM tags t WHERE t.version_id = v.id AND t.tag IN (?, ?)))',
     ('infra', 'a', 'b'))
    """
    match filter:
        case And(parts):
            return _joined(" AND ", parts, columns)
        case Or(parts):
            return _joined(" OR ", parts, columns)
        case Not(part):
            sql, values = where(part, columns)
            return f"NOT {sql}", values
        case Leaf("tags"):
            return _listed(filter, "t.tag", _TAGS)
        case Leaf(field) if field == ENTITY:
            raise InvalidInput.at("$.filter.entity", "selects memories in lists and searches only")
        case Leaf(field) if field == VERSION_ROW:  # there may be more than placeholders
            return "v.id IN (SELECT value FROM json_each(?))", (json.dumps(filter.operands),)
        case Leaf(field) if field in LISTED:
            return _listed(filter, "d.value", f"FROM json_each({LISTS[field]}) d WHERE 1")
        case Leaf(field) if field.startswith("metadata."):
            return _metadata(filter, field.removeprefix("metadata."))
        case Leaf(field):
            return _column(filter, columns[field])


def _joined(word: str, parts: Sequence[Filter], columns: Mapping[str, str]) -> Sql:
    compiled = [where(part, columns) for part in parts]
    return f"({word.join(sql for sql, _ in compiled)})", tuple(value for _, values in compiled for value in values)


def _column(leaf: Leaf, column: str) -> Sql:
    if leaf.op == "exists":
        return f"{column} IS {'NOT NULL' if leaf.value else 'NULL'}", ()
    return _compare(column, leaf.op, leaf.operands)


def _listed(leaf: Leaf, column: str, rows: str) -> Sql:
    """Compile a comparison of a field that is a list, which is never missing."""
    if leaf.op == "exists":
        return _exists(leaf, rows), ()
    sql, values = _compare(column, leaf.op, leaf.operands)
    return f"EXISTS (SELECT 1 {rows} AND {sql})", values


def _metadata(leaf: Leaf, path: str) -> Sql:
    if leaf.op == "exists":
        return _exists(leaf, _METADATA), (path,)
    tests: list[str] = []
    values: list[Scalar] = []
    for kind, group in groupby(sorted(leaf.operands, key=_type), _type):
        operands = tuple(int(value) if isinstance(value, bool) else value for value in group)
        sql, bound = _compare("m.value", leaf.op, operands)
        tests.append(f"m.type = '{kind}' AND {sql}")
        values += bound
    return f"(SELECT max({' OR '.join(tests)}) {_METADATA})", (*values, path)  # no row, no maximum: NULL


def _type(value: Scalar) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "text"


def _exists(leaf: Leaf, rows: str) -> str:
    return f"{'' if leaf.value else 'NOT '}EXISTS (SELECT 1 {rows})"


def _compare(column: str, op: str, operands: tuple[Scalar, ...]) -> Sql:
    match op:
        case "in":
            return f"{column} IN ({', '.join('?' * len(operands))})", operands
        case "prefix":
            return f"substr({column}, 1, length(?)) = ?", operands * 2
        case "glob":
            return f"{column} GLOB ?", (literal(str(operands[0])),)
        case _:
            return f"{column} {_SIGNS[op]} ?", operands

"""The filter language: its parsed form, and its two spellings, JSON and query string.

A filter is three-valued, as in SQL. A comparison with a missing value is unknown, and so is `not` of it. Only memories
for which the filter is true are selected. `exists` is always true or false. The tags of a memory are a list that may be
empty but is never missing.

In metadata a list compares as true when one of its elements does. A value of another type than the operand's compares
as false, and a boolean is no number.
"""

import json as jsonlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, cast

import msgspec
from msgspec import Struct

from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.values import NAME_MAX, Json
from muisti.core.query.filter_fields import (
    FIELDS,
    LISTS,
    METADATA,
    NUMERIC,
    TEXTUAL,
    VALID_AT,
    Field,
    Read,
    Scalar,
    as_text,
    boolean,
    is_path,
    nearest,
    short,
)

Operator = Literal["eq", "ne", "in", "exists", "prefix", "glob", "gt", "gte", "lt", "lte"]

DEPTH_MAX = 8  # nested objects; the parser of SQLite 3.45 has a stack of 100 symbols
PATTERN_MAX = 1_000  # characters of a glob; SQLite refuses patterns of 50,000 bytes
SIZE_MAX = 500  # groups and values
PROBLEMS_MAX = 20  # problems that one refusal reports


class Leaf(msgspec.Struct, frozen=True):
    """A comparison of one field with a value, which is as the store has it.

    Text is folded where case does not count. A time is int microseconds, an importance its rank, an id its bytes;
    metadata has any scalar. The value is a tuple of these for `in`, and a bool for `exists`.

    Parsing turns `any` into `in`, `all` into an And of `eq`, `ne` into Not of `eq`, and `valid_at` into comparisons of
    both ends. Only metadata keeps `ne`, which is true when an element of the operand's type differs.
    """

    field: str
    op: Operator
    value: Scalar | tuple[Scalar, ...]

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return self.value if isinstance(self.value, tuple) else (self.value,)


class And(msgspec.Struct, frozen=True):
    parts: tuple["Filter", ...]


class Or(msgspec.Struct, frozen=True):
    parts: tuple["Filter", ...]


class Not(msgspec.Struct, frozen=True):
    part: "Filter"


Filter = Leaf | And | Or | Not


def fields_of(filter: Filter) -> frozenset[str]:
    """Return the fields that a filter reads.

    >>> sorted(fields_of(parse({"status": "candidate", "not": {"metadata.team": "core"}})))
    ['metadata.team', 'status']
    """
    match filter:
        case Leaf(field):
            return frozenset((field,))
        case Not(part):
            return fields_of(part)
        case And(parts) | Or(parts):
            return frozenset[str]().union(*map(fields_of, parts))


def conditions_of(filter: Filter | None) -> Iterator[Filter]:
    """Yield the parts of a filter all of which must be true; none for no filter.

    >>> [sorted(fields_of(one)) for one in conditions_of(parse({"category": "x", "tags": {"all": ["a", "b"]}}))]
    [['category'], ['tags'], ['tags']]
    """
    if isinstance(filter, And):
        for part in filter.parts:
            yield from conditions_of(part)
    elif filter is not None:
        yield filter


def may_be(filter: Filter, field: str, value: Scalar) -> bool:
    """Return whether a filter can select a memory whose text or choice in `field` is `value`, whatever else it has.

    >>> [may_be(parse(f), "status", "superseded") for f in ({"status": "candidate"}, {"not": {"status": "active"}})]
    [False, True]
    """
    return _can(filter, True, field, value)


def _can(filter: Filter, truth: bool, field: str, value: Scalar) -> bool:
    match filter:
        case Leaf(name, "eq" | "in") if name == field:
            return (value in filter.operands) is truth
        case Leaf(name, "exists") if name == field:
            return (filter.value is True) is truth
        case Leaf():
            return True
        case Not(part):
            return _can(part, not truth, field, value)
        case And(parts) | Or(parts):
            combine = all if isinstance(filter, And) is truth else any  # De Morgan
            return combine(_can(part, truth, field, value) for part in parts)


def parse(json: Json, path: str = "$.filter") -> Filter:
    """Read a filter from JSON; `path` is its place in the request.

    >>> parse({"category": "Infra", "not": {"event_at": {"gte": "1970-01-01"}}})  # doctest: +NORMALIZE_WHITESPACE
    And(parts=(Leaf(field='category', op='eq', value='infra'),
               Not(part=Leaf(field='event_at', op='gte', value=0))))

    Raises InvalidInput, which names every bad place.
    """
    reader = _Reader()
    return reader.result(reader.conditions(json, path))


def parse_params(params: Mapping[str, Sequence[str]]) -> Filter | None:
    """Read a filter from the parameters of a query string, all of which must be true; None when there are none.

    A parameter is `name=value`, `name=a,b` or `name.operator=value`, or `filter=` with JSON. A comma separates values
    unless the operator takes only one. `name=a,b` finds the text `a,b` too, since names may hold commas.
    In metadata, text that is a JSON scalar is read as that scalar.

    >>> parse_params({"tags": ["a,b"], "metadata.size.gt": ["5"]})  # doctest: +NORMALIZE_WHITESPACE
    And(parts=(Leaf(field='tags', op='in', value=('a', 'b', 'a,b')),
               Leaf(field='metadata.size', op='gt', value=5)))

    Raises InvalidInput, which names every bad parameter.
    """
    reader = _Reader()
    found: list[Filter] = []
    for name, text in ((name, text) for name, texts in params.items() for text in texts):
        if name == "filter":
            found += reader.conditions(_json(text), "$.filter")
        else:
            field, value = _from_query(name, text)
            found += reader.field(field, value, _below("$", field))
    return reader.result(found) if any(params.values()) else None


class _Reader:
    """Reads conditions and collects their problems. A filter that is too large or too deep is refused without delay."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._size = 0

    def result(self, conditions: Sequence[Filter]) -> Filter:
        if self._problems:
            raise InvalidInput(self._problems)
        return _all(conditions)

    def conditions(self, json: Json, path: str, depth: int = 1) -> list[Filter]:
        """Read the conditions of an object, all of which must be true."""
        if depth > DEPTH_MAX:
            raise InvalidInput.at(path, f"a filter nests at most {DEPTH_MAX} objects")
        if not isinstance(json, dict) or not json:
            return self._refuse(path, 'must be an object with a condition, such as {"category": "infra"}')
        found: list[Filter] = []
        for name, value in json.items():
            at = _below(path, name)
            match name:
                case "and" | "or":
                    found += self._group(name, value, at, depth)
                case "not":
                    self._count(at)
                    found.append(Not(_all(self.conditions(value, at, depth + 1))))
                case _:
                    found += self.field(name, value, at)
        return found

    def field(self, name: str, value: Json, path: str) -> list[Filter]:
        """Read the conditions on one field: a scalar, a list, or an object of operators."""
        field = METADATA if name.startswith("metadata.") else FIELDS.get(name)
        if field is None:
            names = (*FIELDS, "metadata.<path>", "and", "or", "not")
            return self._refuse(path, f"there is no field {short(name)!r}{nearest(name, names)}")
        if field is METADATA and not is_path(name.removeprefix("metadata.")):
            return self._refuse(path, f"a metadata path is names with dots between, at most {NAME_MAX} characters")
        if not isinstance(value, dict):
            return self._leaf(name, field, "in" if isinstance(value, list) else "eq", value, path)
        if not value:
            return self._refuse(path, f"needs an operator: {', '.join(field.operators)}")
        return [part for op, json in value.items() for part in self._leaf(name, field, op, json, _below(path, op))]

    def _group(self, name: str, json: Json, path: str, depth: int) -> list[Filter]:
        self._count(path)
        if not isinstance(json, list) or not json:
            return self._refuse(path, "must be a list of filters, with at least one")
        parts = [_all(self.conditions(item, f"{path}[{i}]", depth + 1)) for i, item in enumerate(json)]
        return [Or(tuple(parts))] if name == "or" and len(parts) > 1 else parts

    def _leaf(self, name: str, field: Field, op: str, json: Json, path: str) -> list[Filter]:
        if op not in field.operators:
            has = ", ".join(field.operators)
            return self._refuse(path, f"{name} has no {short(op)!r}{nearest(op, field.operators)}; it has {has}")
        if op not in LISTS:
            read = boolean if op == "exists" else as_text if op in TEXTUAL and field is METADATA else field.read
            if op == "glob" and isinstance(json, str) and len(json) > PATTERN_MAX:
                return self._refuse(path, f"has {len(json):,} characters; at most {PATTERN_MAX:,} are allowed")
            operands = self._operands([(path, json)], read)
        elif isinstance(json, list) and json:
            operands = self._operands(((f"{path}[{i}]", item) for i, item in enumerate(json)), field.read)
        else:
            return self._refuse(path, "must be a list of values, with at least one")
        return _leaves(name, op, operands) if operands else []

    def _operands(self, json: Iterable[tuple[str, Json]], read: Read) -> tuple[Scalar, ...]:
        found: list[Scalar] = []
        for path, value in json:
            self._count(path)
            try:
                found.append(read(value))
            except ValueError as problem:
                self._refuse(path, str(problem))
        return tuple(found)

    def _count(self, path: str) -> None:
        self._size += 1
        if self._size > SIZE_MAX:
            raise InvalidInput.at(path, f"a filter has at most {SIZE_MAX} groups and values")

    def _refuse(self, path: str, message: str) -> list[Filter]:
        """Record a problem and return no conditions for the bad place."""
        self._problems.append(Problem(path, message))
        if len(self._problems) == PROBLEMS_MAX:
            raise InvalidInput(self._problems)
        return []


def _all(parts: Sequence[Filter]) -> Filter:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _leaves(field: str, op: str, operands: tuple[Scalar, ...]) -> list[Filter]:
    if field == VALID_AT:
        return _holding(operands[0])
    match op:
        case "in" | "any":
            return [Leaf(field, "in", operands)]
        case "all":
            return [Leaf(field, "eq", operand) for operand in operands]
        case "ne" if not field.startswith("metadata."):
            return [Not(Leaf(field, "eq", operands[0]))]
        case _:
            return [Leaf(field, cast(Operator, op), operands[0])]


def _holding(at: Scalar) -> list[Filter]:
    """Return conditions for validity at a time: from `valid_from` until before `valid_to`, where those exist.

    The conditions are never unknown.
    """
    return [
        Or((Leaf("valid_from", "exists", False), Leaf("valid_from", "lte", at))),
        Or((Leaf("valid_to", "exists", False), Leaf("valid_to", "gt", at))),
    ]


def _from_query(name: str, text: str) -> tuple[str, Json]:
    """Translate a parameter into a field and its condition in JSON."""
    head, _, tail = name.rpartition(".")
    field, op = (head, tail) if head in FIELDS or (head and tail in METADATA.operators) else (name, None)
    typed = (
        _json_scalar
        if op == "exists" or field in NUMERIC or (field.startswith("metadata.") and op not in TEXTUAL)
        else str
    )
    parted = op in LISTS or (op is None and "," in text)
    parts = text.split(",") if parted else []
    if parted and op is None and field in FIELDS and TEXTUAL[0] in FIELDS[field].operators:
        parts.append(text)
    value: Json = [typed(part) for part in parts] if parted else typed(text)
    return field, value if op is None else {op: value}


def _json(text: str) -> Json:
    try:
        return cast(Json, jsonlib.loads(text))
    except (ValueError, RecursionError):
        raise InvalidInput.at("$.filter", "is not JSON") from None


def _json_scalar(text: str) -> Json:
    try:
        value = cast(Json, jsonlib.loads(text, parse_constant=str))
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str | int | float) else text


def _below(path: str, name: str) -> str:
    name_short = short(name)
    return f"{path}.{name_short}" if name.isidentifier() else f"{path}[{jsonlib.dumps(name_short)}]"


# Memories that a purge erases: those with a version that meets conditions


class Subject(Struct, frozen=True, kw_only=True):
    """A description of memories to erase: those with a version that meets all given conditions."""

    memory: bytes | None = None
    author: str | None = None
    source: str | None = None
    filter: Filter | None = None
    older_than_us: int | None = None  # created before
    among: tuple[bytes, ...] | None = None  # one of these memories

"""Filters of LangGraph's stores, as its own stores read them: equality of parts, and operators that begin with `$`."""

import operator
from collections.abc import Mapping
from typing import Any

_ORDERS = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Return whether a value has all that a filter wants of its fields.

    Raises: ValueError for an operator that is not known, or a comparison with what is no number.
    """
    return all(_like(_part(value, name), want) for name, want in (wanted or {}).items())


def _part(value: Mapping[str, Any], path: str) -> Any:
    """Return a field, or what a path with dots leads to."""
    if path in value or "." not in path:
        return value.get(path)
    name, _, rest = path.partition(".")
    inner = value.get(name)
    return _part(inner, rest) if isinstance(inner, Mapping) else None


def _like(value: Any, want: Any) -> bool:
    if isinstance(want, Mapping):
        if any(name.startswith("$") for name in want):
            return all(_holds(value, name, operand) for name, operand in want.items())
        return isinstance(value, Mapping) and passes(value, want)
    if isinstance(want, list | tuple):
        return isinstance(value, list | tuple) and len(value) == len(want) and all(map(_like, value, want))
    return value == want


def _holds(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return value == operand
    if name == "$ne":
        return value != operand
    if name not in _ORDERS:
        raise ValueError(f"Unsupported operator: {name}; there are $eq, $ne, {', '.join(_ORDERS)}")
    if value is None:
        return False
    return _ORDERS[name](float(value), float(operand))

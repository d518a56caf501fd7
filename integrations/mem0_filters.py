"""Filters of mem0 in the language of Muisti: a field with a value or with operators, AND, OR and NOT."""

from collections.abc import Mapping
from typing import Any

IDS = ("user_id", "agent_id", "run_id")
_SAME = {"eq": "eq", "ne": "ne", "in": "in", "gt": "gt", "gte": "gte", "lt": "lt", "lte": "lte"}
_TIMES = ("created_at", "updated_at")


def scope(ids: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids that are given, without space around them.

    Raises: ValueError for an id that is empty or has space within it.
    """
    given = {}
    for name in IDS:
        if (value := ids.get(name)) is not None:
            given[name] = str(value).strip()
            if not given[name] or any(sign.isspace() for sign in given[name]):
                raise ValueError(f"Invalid {name}: must be a non-empty string without whitespace")
    return given


def need_scope(filters: Mapping[str, Any] | None, method: str, others: Mapping[str, Any]) -> dict[str, Any]:
    """Return filters that name a user, an agent or a run.

    Raises: ValueError for filters that name none, or an id that is given beside them, which is mem0's rule.
    """
    if wrong := set(IDS) & set(others):
        raise ValueError(
            f"Top-level entity parameters {wrong} are not supported in {method}(). "
            "Use filters={'user_id': '...'} instead."
        )
    if others:
        raise TypeError(f"{method}() has no argument {', '.join(sorted(others))}")
    asked = dict(filters or {})
    if not set(IDS) & set(asked):
        raise ValueError(
            "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
        )
    return asked | scope({name: value for name, value in asked.items() if isinstance(value, str)})


def translated(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a filter of Muisti.

    >>> translated({"user_id": "ann", "NOT": [{"kind": {"in": ["a", "b"]}}]})
    {'and': [{'metadata.user_id': {'eq': 'ann'}}, {'not': {'or': [{'metadata.kind': {'in': ['a', 'b']}}]}}]}
    """
    parts: list[dict[str, Any]] = []
    for name, wanted in filters.items():
        if name in ("AND", "OR", "NOT"):
            inner = [translated(one) for one in wanted]
            parts.append({"and": inner} if name == "AND" else {"or": inner} if name == "OR" else {"not": {"or": inner}})
        else:
            parts.extend(_conditions(name if name in _TIMES else f"metadata.{name}", wanted))
    return {"and": parts}


def _conditions(field: str, wanted: Any) -> list[dict[str, Any]]:
    if wanted == "*":
        return [{field: {"exists": True}}]
    if not isinstance(wanted, Mapping):
        return [{field: {"eq": wanted} if not isinstance(wanted, list) else {"in": wanted}}]
    return [_condition(field, operator, operand) for operator, operand in wanted.items()]


def _condition(field: str, operator: str, operand: Any) -> dict[str, Any]:
    if operator in _SAME:
        return {field: {_SAME[operator]: operand}}
    if operator == "nin":
        return {"not": {field: {"in": operand}}}
    if operator == "contains":
        return {field: {"glob": f"*{operand}*"}}
    raise ValueError(f"Unsupported metadata filter operator: {operator}")

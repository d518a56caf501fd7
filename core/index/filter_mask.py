"""Compile a filter to a mask over the columns of the index, with the rows that core.store.sql.filters selects."""

import operator
import re
from collections.abc import Callable
from fnmatch import translate
from functools import reduce
from typing import Any

import numpy as np

from muisti.core.index.columns import Column, Dictionary, Mask, Numbers, is_number
from muisti.core.query.filter_fields import LISTED, literal
from muisti.core.query.filters import And, Filter, Leaf, Not, Or

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {  # on a column of numbers and on single values
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "prefix": str.startswith,
}


def mask(filter: Filter, column: Callable[[str], Column], n: int) -> Mask:
    """Return a flag for each of the first `n` rows: whether the filter is true of it.

    `column` returns the column of a field, with at least `n` rows and values as the store has them:

    - Numbers for times (microseconds), trust, and the rank of the importance;
    - Lists for tags (folded), derived_from (as text) and metadata paths (scalars);
    - Keywords for all other fields (category and author folded, parent_id as bytes).
    """
    return _rows(filter, True, column, n)


def _rows(filter: Filter, truth: bool, column: Callable[[str], Column], n: int) -> Mask:
    """Return the rows for which the filter is `truth`; rows for which it is unknown are in neither mask."""
    match filter:
        case Leaf(field):
            return _leaf(filter, truth, column(field), n)
        case Not(part):
            return _rows(part, not truth, column, n)
        case And(parts) | Or(parts):
            combine = np.logical_and if isinstance(filter, And) is truth else np.logical_or  # De Morgan
            return reduce(combine, (_rows(part, truth, column, n) for part in parts))


def _leaf(leaf: Leaf, truth: bool, column: Column, n: int) -> Mask:
    if leaf.op == "exists":
        present = column.present(n)
        return present if leaf.value is truth else ~present
    if isinstance(column, Numbers):
        found = _compare_numbers(leaf, column, n)
    else:
        found = column.select(_compare_values(leaf, column.dictionary), n)
    if truth:
        return found
    return ~found if leaf.field in LISTED else column.present(n) & ~found


def _compare_numbers(leaf: Leaf, column: Numbers, n: int) -> Mask:
    if leaf.op == "in":
        return np.isin(column.view(n), leaf.operands)
    return column.present(n) & _COMPARE[leaf.op](column.view(n), leaf.value)


def _compare_values(leaf: Leaf, dictionary: Dictionary) -> Mask:
    """Return a flag for each value of the dictionary: whether the comparison is true of it."""
    if leaf.op in ("eq", "in"):
        codes = [code for operand in leaf.operands if (code := dictionary.code(operand)) is not None]
        chosen = np.zeros(len(dictionary.values), np.bool_)  # after the look-up, so that it has a place for each code
        chosen[codes] = True
        return chosen
    (operand,) = leaf.operands
    if leaf.op == "glob":
        matches = re.compile(translate(literal(str(operand)))).match
        verdicts = [isinstance(value, str) and matches(value) is not None for value in dictionary.values.copy()]
        return np.array(verdicts, np.bool_)
    compare = _COMPARE[leaf.op]
    if is_number(operand):
        return _compare_floats(compare, operand, dictionary)
    kind = bool if isinstance(operand, bool) else str
    verdicts = [isinstance(value, kind) and compare(value, operand) for value in dictionary.values.copy()]
    return np.array(verdicts, np.bool_)


def _compare_floats(compare: Callable[[Any, Any], Any], operand: float, dictionary: Dictionary) -> Mask:
    """Compare the nearest floats: rounding keeps order, so only values that round as the operand does need more."""
    floats, rounded = dictionary.floats(), float(operand)
    chosen = ~np.isnan(floats) & compare(floats, rounded)
    for code in np.flatnonzero(floats == rounded).tolist():
        chosen[code] = compare(dictionary.values[code], operand)
    return chosen

"""Compare one field of a range of rows with a value, with the verdicts of core.store.sql.filters."""

import operator
import re
from collections.abc import Callable
from fnmatch import translate
from typing import Any

import numpy as np

from muisti.core.index.columns import Column, Keywords, Lists, Mask, Numbers, Value, as_floats, is_number
from muisti.core.kernels import Doubles
from muisti.core.query.filter_fields import literal
from muisti.core.query.filters import Leaf

FEW = 8  # the part of a dictionary below which only the values of the rows are compared

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {  # on a column of numbers and on single values
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "prefix": str.startswith,
}


def compared(leaf: Leaf, column: Column, first: int, n: int) -> Mask:
    """Return a flag for each row from `first` until before `n`: whether the comparison is true of it.

    `column` is that of the field. It has at least `n` rows, and values as the store has them:

    - Numbers for times (microseconds), trust, and the rank of the importance;
    - Lists for tags (folded), derived_from (as text) and metadata paths (scalars);
    - Keywords for all other fields (category and author folded, parent_id as bytes).
    """
    if leaf.op == "exists":
        present = column.present(n, first)
        return present if leaf.value is True else ~present
    if isinstance(column, Numbers):
        return _compare_numbers(leaf, column, first, n)
    return column.select(_chosen(leaf, column, first, n), n, first)


def _compare_numbers(leaf: Leaf, column: Numbers, first: int, n: int) -> Mask:
    numbers = column.view(n)[first:]
    if leaf.op == "in":
        return np.isin(numbers, leaf.operands)
    return column.present(n, first) & _COMPARE[leaf.op](numbers, leaf.value)


def _chosen(leaf: Leaf, column: Keywords | Lists, first: int, n: int) -> Mask:
    """Return a flag for each value of the dictionary: whether a row has it and the comparison is true of it."""
    dictionary = column.dictionary
    if leaf.op in ("eq", "in"):
        codes = [code for operand in leaf.operands if (code := dictionary.code(operand)) is not None]
        chosen = np.zeros(len(dictionary.values), np.bool_)  # after the look-up, so that it has a place for each code
        chosen[codes] = True
        return chosen
    if FEW * (n - first) >= len(dictionary.values):
        return _verdicts(leaf, dictionary.values, dictionary.floats)
    there = np.unique(column.codes(n, first))
    codes: list[int] = there.tolist()
    values: list[Value] = [dictionary.values[code] for code in codes]
    chosen = np.zeros(len(dictionary.values), np.bool_)
    chosen[there] = _verdicts(leaf, values, lambda: as_floats(values))
    return chosen


def _verdicts(leaf: Leaf, values: list[Value], floats: Callable[[], Doubles]) -> Mask:
    """Return for each value whether the comparison is true of it; `floats` gives the nearest floats of the values."""
    (operand,) = leaf.operands
    if leaf.op == "glob":
        matches = re.compile(translate(literal(str(operand)))).match
        return np.array([isinstance(value, str) and matches(value) is not None for value in values.copy()], np.bool_)
    compare = _COMPARE[leaf.op]
    if is_number(operand):
        return _compare_floats(compare, operand, floats(), values)
    kind = bool if isinstance(operand, bool) else str
    return np.array([isinstance(value, kind) and compare(value, operand) for value in values.copy()], np.bool_)


def _compare_floats(compare: Callable[[Any, Any], Any], operand: float, floats: Doubles, values: list[Value]) -> Mask:
    """Compare the nearest floats: rounding keeps order, so only values that round as the operand does need more."""
    rounded = float(operand)
    chosen = ~np.isnan(floats) & compare(floats, rounded)
    for code in np.flatnonzero(floats == rounded).tolist():
        chosen[code] = compare(values[code], operand)
    return chosen

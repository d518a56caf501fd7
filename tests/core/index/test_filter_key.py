"""Filters with one key select the same; those that differ in a value have another."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.selections import filter_key
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, parse
from tests.core.query.test_filter_compilers import filters


def shuffled(filter: Filter, order: random.Random) -> Filter:
    """Return a filter with its parts and values in another order, some of them twice."""
    match filter:
        case Leaf(field, "in"):
            values = list(filter.operands) + [order.choice(filter.operands)]
            order.shuffle(values)
            return Leaf(field, "in", tuple(values))
        case Leaf():
            return filter
        case Not(part):
            return Not(shuffled(part, order))
        case And(parts) | Or(parts):
            more = [shuffled(part, order) for part in (*parts, order.choice(parts))]
            order.shuffle(more)
            return type(filter)(tuple(more))


@given(filters, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_count(json: Any, order: random.Random):
    filter = parse(json)
    assert filter_key(shuffled(filter, order)) == filter_key(filter)


def test_whatever_may_select_other_rows_has_another_key():
    unlike: list[Filter] = [
        *(Leaf("metadata.x", "eq", value) for value in (1, True, "1", b"1", 0, False, "", "true", 2**53, 2**53 + 1)),
        *(Leaf("metadata.x", op, 1) for op in ("ne", "gt", "gte", "lt", "lte")),
        Leaf("metadata.x", "exists", True),
        Leaf("metadata.y", "eq", 1),
        Leaf("metadata.x", "in", (1, 2)),
        Not(Leaf("metadata.x", "eq", 1)),
        And((Leaf("metadata.x", "eq", 1), Leaf("metadata.x", "eq", 2))),
        Or((Leaf("metadata.x", "eq", 1), Leaf("metadata.x", "eq", 2))),
        And((Leaf("metadata.x", "eq", 1), Not(Leaf("metadata.x", "eq", 2)))),
    ]
    assert len({filter_key(filter) for filter in unlike}) == len(unlike)

"""A short name for what a filter selects: filters that differ only in the order of their parts share it."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec

from muisti.core.query.filters import And, Filter, Leaf, Not, Or

_BYTES = 32  # as many as make two filters with one name impossible in practice


def filter_key(filter: Filter) -> bytes:
    """Return the key of a filter: parts of `and` and `or`, and values of `in`, may come in any order, and repeatedly.

    >>> one, two = Leaf("tags", "eq", "a"), Leaf("tags", "eq", "b")
    >>> filter_key(And((one, two))) == filter_key(And((two, one, two)))
    True
    >>> filter_key(Leaf("metadata.x", "eq", 1)) == filter_key(Leaf("metadata.x", "eq", True))
    False
    """
    match filter:
        case Leaf(field, op):
            values = _distinct(map(_encoded, filter.operands))
            return _digest(field, "eq" if op == "in" and len(values) == 1 else op, values)
        case Not(part):
            return _digest("", "not", [filter_key(part)])
        case And(parts) | Or(parts):
            keys = _distinct(map(filter_key, parts))
            return keys[0] if len(keys) == 1 else _digest("", "and" if isinstance(filter, And) else "or", keys)


_encoded = msgspec.msgpack.Encoder().encode  # true, 1, "1" and b"1" have unlike encodings


def _distinct(parts: Iterable[bytes]) -> Sequence[bytes]:
    return sorted(set(parts))


def _digest(field: str, kind: str, parts: Sequence[bytes]) -> bytes:
    return blake2b(_encoded((field, kind, parts)), digest_size=_BYTES).digest()

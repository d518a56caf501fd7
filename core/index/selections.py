"""The rows that filters select, remembered: columns only grow, so a bitmap gets the bits of new rows at its end.

Remembered are the bitmap of each comparison, and the allowed rows of each whole filter among one population. Both are
immutable, and each kind has its own limit, so that rare filters never displace the bitmaps of common comparisons.
"""

import operator
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from hashlib import blake2b
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from muisti.core.index.collection_statistics import (
    ROWS,
    Allowed,
    CollectionStatistics,
    count_bits,
    packed,
    unpacked,
    within,
    words_for,
)
from muisti.core.index.columns import Column, Keywords, Lists, Numbers, Value, as_floats, is_number
from muisti.core.index.rows import Rows
from muisti.core.index.snapshot import Snapshot
from muisti.core.kernels import Codes, Doubles, Mask
from muisti.core.query.filter_fields import LISTED, literal
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, fields_of
from muisti.core.support.waiting import refuse_long

# Compare one field of a range of rows with a value, with the verdicts of core.store.sql.filters

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


# A bounded memory of what was computed from a filter: the entries used least recently go first

V = TypeVar("V")

ENTRY = 400  # bytes of an entry beside its arrays: the key, the objects and their places


class Remembered(Generic[V]):
    """Immutable values by key, of at most `limit()` bytes in all. Thread-safe."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[bytes, tuple[V, int]] = OrderedDict()
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: bytes) -> V | None:
        """Return the value of a key, None when it was never put or has gone."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: bytes, value: V, nbytes: int) -> None:
        """Remember a value whose arrays take so many bytes, in place of an earlier one of the key.

        A value larger than the limit is not kept.
        """
        size, limit = nbytes + ENTRY, self._limit()
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._nbytes -= before
            if size > limit:
                return
            self._values[key] = (value, size)
            self._nbytes += size
            while self._nbytes > limit:
                _, (_, gone) = self._values.popitem(last=False)
                self._nbytes -= gone


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


PER_ROW = 16  # bytes a row of the index for the bitmaps of comparisons, and as many for allowed rows
LEAST = 128 << 10  # bytes for each in a small index
SOON = 256  # rows that are read and compared in well under a millisecond

_FIRST = b"first"  # the key of the rows that are the first of their memory


class _Bitmap(NamedTuple):
    """The words of the first `rows` rows."""

    rows: int
    words: Codes


class _Chosen(NamedTuple):
    """The allowed rows of a filter, and the serial number of the population that they are from."""

    serial: int
    allowed: Allowed


class _Population(NamedTuple):
    """The part of a population, with the serial number of the whole."""

    serial: int
    part: CollectionStatistics


class Selections:
    """Evaluates filters over the rows of an index. Thread-safe."""

    def __init__(self, rows: Rows, column: Callable[[str, int], Column]) -> None:
        """Take the rows; `column` returns the column of a field with at least so many rows."""
        self._rows = rows
        self._column = column
        self._bitmaps = Remembered[_Bitmap](self._limit)
        self._chosen = Remembered[_Chosen](self._limit)
        self._populations = Remembered[_Population](self._limit)

    @property
    def nbytes(self) -> int:
        return self._bitmaps.nbytes + self._chosen.nbytes + self._populations.nbytes

    def mask(self, filter: Filter, size: int) -> Mask:
        """Return a flag for each of the first `size` rows: whether the filter is true of it."""
        return unpacked(self._true_of(filter, True, size), size)

    def allowed(self, filter: Filter, snapshot: Snapshot, population: CollectionStatistics, now: int) -> Allowed:
        """Return the visible rows that the filter selects: those of the population, of any status if it reads that."""
        if "status" in fields_of(filter):
            return self._among(filter, packed(snapshot.alive(now)), snapshot.size)
        key = filter_key(filter)
        known = self._chosen.get(key)
        if known is not None and known.serial == population.serial:
            return known.allowed
        allowed = self._among(filter, population.allowed.words, snapshot.size)
        self._chosen.put(key, _Chosen(population.serial, allowed), allowed.nbytes)
        return allowed

    def population(
        self, own: Filter | None, snapshot: Snapshot, population: CollectionStatistics
    ) -> CollectionStatistics:
        """Return the statistics of what a caller sees: of the rows that `own` selects, or None for all.

        So the scores of a caller do not depend on memories that it may not read.
        """
        if own is None:
            return population
        key = filter_key(own)
        known = self._populations.get(key)
        if known is not None and known.serial == population.serial:
            return known.part
        part = within(population, self._rows, self.mask(own, snapshot.size))
        self._populations.put(key, _Population(population.serial, part), 3 * part.mask.nbytes)
        return part

    def _among(self, filter: Filter, visible: Codes, size: int) -> Allowed:
        """Return the rows that the filter selects among the `visible` ones of the first `size`, whole memories."""
        words = self._true_of(filter, True, size) & visible
        firsts = self._bitmap(_FIRST, self._first_of_memory, size)
        return Allowed(unpacked(words, size), count_bits(words), words=words, memories=count_bits(words & firsts))

    def _true_of(self, filter: Filter, truth: bool, size: int) -> Codes:
        """Return the rows for which the filter is `truth`; rows for which it is unknown are in neither set."""
        match filter:
            case Leaf():
                return self._leaf(filter, truth, size)
            case Not(part):
                return self._true_of(part, not truth, size)
            case And(parts) | Or(parts):
                combine = np.bitwise_and if isinstance(filter, And) is truth else np.bitwise_or  # De Morgan
                words = self._true_of(parts[0], truth, size)
                for part in parts[1:]:
                    words = combine(words, self._true_of(part, truth, size))
                return words

    def _leaf(self, leaf: Leaf, truth: bool, size: int) -> Codes:
        if leaf.op == "exists":
            present = self._true(Leaf(leaf.field, "exists", True), size)
            return present if leaf.value is truth else ~present
        found = self._true(leaf, size)
        if truth:
            return found
        return ~found if leaf.field in LISTED else self._true(Leaf(leaf.field, "exists", True), size) & ~found

    def _true(self, leaf: Leaf, size: int) -> Codes:

        def flags(first: int, size: int) -> Mask:
            return compared(leaf, self._column(leaf.field, size), first, size)

        return self._bitmap(filter_key(leaf), flags, size)

    def _first_of_memory(self, first: int, size: int) -> Mask:
        return self._rows.number.view(size)[first:] == 0

    def _bitmap(self, key: bytes, flags: Callable[[int, int], Mask], size: int) -> Codes:
        """Return the remembered bitmap of a key, with the rows that it lacks; `flags` has those of a range of rows."""
        known = self._bitmaps.get(key) or _Bitmap(0, np.empty(0, np.uint64))
        if known.rows >= size:
            return known.words[: words_for(size)]
        if size - known.rows > SOON:
            refuse_long()
        whole = known.rows // ROWS  # words to keep: the last may lack rows
        words = np.concatenate([known.words[:whole], packed(flags(whole * ROWS, size))])
        self._bitmaps.put(key, _Bitmap(size, words), words.nbytes)
        return words

    def _limit(self) -> int:
        return max(LEAST, PER_ROW * len(self._rows))

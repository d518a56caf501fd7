"""Posting lists of a stretch of rows: immutable, merged with a neighbour of similar size.

A term code is `field << 56 | hash` (core/text/terms.py). The postings merge the fields of a term, each with its weight
(BM25F: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004). Weights are whole
numbers of `UNIT`s, so counts, lengths and their sums are exact in any order of addition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from muisti.core.kernels import Codes, Floats, Ints, Longs, Mask, Packed
from muisti.core.kernels import postings as inserted
from muisti.core.kernels.lexical import has_sequence, look_up
from muisti.core.kernels.pieces import COLUMNS
from muisti.core.kernels.postings import number

FIELD_BITS = np.uint64(56)
HASH_MASK = np.uint64((1 << 56) - 1)

UNIT = 0.01  # of a field's weight
MOST_ROWS = MOST_PAIRS = 1 << 16  # what 16 bits can number


class TooManyPairs(Exception):
    """Rows that do not fit into one piece, whose pairs are numbered with 16 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """A piece: the postings of the rows from `first` to `first + rows`, which is exclusive.

    `terms` are hashes, ascending; the postings of `terms[i]` are `packed[starts[i]:starts[i + 1]]`, by row. The high 16
    bits of a posting are `row - first`. The low 16 bits are a place in `tf` and `lengths`. There `tf` has the units of
    the term in the row, and `lengths` the units of the whole row.

    `tokens` are the content's terms in order, as places in `terms`. Row r has
    `tokens[token_starts[r - first]:token_starts[r - first + 1]]`. `table` describes the piece to the kernels
    (core/kernels/pieces.py).
    """

    first: int
    terms: Codes
    starts: Ints
    packed: Packed
    tf: Ints
    lengths: Ints
    token_starts: Ints
    tokens: Ints
    table: Longs = field(init=False)

    def __post_init__(self) -> None:
        table = np.empty(COLUMNS, np.int64)
        inserted.described(self.arrays, self.first, table)
        object.__setattr__(self, "table", table)

    @property
    def rows(self) -> int:
        return len(self.token_starts) - 1

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    @property
    def arrays(self) -> inserted.Piece:
        """The arrays in the order that the kernels take."""
        return self.terms, self.starts, self.packed, self.tf, self.lengths, self.token_starts, self.tokens

    def span(self, term: int) -> tuple[int, int]:
        """Return the places in `packed` where the postings of a term (its hash) begin and end; (0, 0) for none."""
        spans = np.empty((1, 2), np.int32)
        look_up(self.terms, self.starts, np.array([term], np.uint64), spans)
        return int(spans[0, 0]), int(spans[0, 1])

    def with_term(self, term: int) -> npt.NDArray[np.int64]:
        """Return the rows that contain a term, ascending."""
        return (self.packed[slice(*self.span(term))] >> np.uint32(16)).astype(np.int64) + self.first

    def words(self, row: int) -> Codes:
        """Return the terms of a row's content, in order."""
        start, stop = self.token_starts[row - self.first : row - self.first + 2].tolist()
        return self.terms[self.tokens[start:stop]]

    def with_phrase(self, phrase: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the rows whose content has these terms side by side, in order."""
        places = np.searchsorted(self.terms, np.array(phrase, np.uint64))
        if (places >= len(self.terms)).any() or (self.terms[places] != np.array(phrase, np.uint64)).any():
            return np.empty(0, np.int64)
        rarest = phrase[int(np.argmin(np.diff(self.starts)[places]))]
        local = self.with_term(rarest) - self.first
        found = np.zeros(len(local), np.bool_)
        has_sequence(self.token_starts, self.tokens, local, places.astype(np.int32), found)
        return local[found] + self.first


def table(pieces: Sequence[Postings]) -> Longs:
    """Return the table of pieces that the kernels take. It holds addresses, so it is valid while the pieces exist."""
    tables = [piece.table for piece in pieces]
    return np.concatenate(tables).reshape(-1, COLUMNS) if tables else np.empty((0, COLUMNS), np.int64)


def in_units(weights: Floats) -> Ints:
    """Return weights as whole numbers of `UNIT`; a weight above 0 has at least one."""
    units = np.rint(weights / UNIT).astype(np.int32)
    return np.where(weights > 0, np.maximum(units, 1), 0).astype(np.int32)


def build(first: int, codes: Codes, code_starts: npt.NDArray[np.int64], units: Ints) -> tuple[list[Postings], Ints]:
    """Return the postings of new rows, halved until each piece fits into 16 bits, and the length of each row in units.

    `codes[code_starts[i]:code_starts[i + 1]]` are the term codes of row `first + i`. `units` has the weight of each
    field.
    """
    lengths = np.empty(len(code_starts) - 1, np.int32)
    return _pieces(first, codes, code_starts, units, lengths), lengths


def _pieces(first: int, codes: Codes, starts: npt.NDArray[np.int64], units: Ints, lengths: Ints) -> list[Postings]:
    rows = len(lengths)
    if rows <= MOST_ROWS:
        piece = inserted.born(codes, starts, units, lengths)
        if _fits(piece):
            return [Postings(first, *piece)]
    half = rows // 2
    left = _pieces(first, codes, starts[: half + 1], units, lengths[:half])
    return left + _pieces(first + half, codes, starts[half:], units, lengths[half:])


def _fits(piece: inserted.Piece) -> bool:
    return len(piece[3]) <= MOST_PAIRS


def merge(left: Postings, right: Postings) -> Postings:
    """Return two neighbouring pieces as one; `right` begins where `left` ends.

    Raises:
        TooManyPairs: the rows do not fit into one piece.
    """
    if left.rows + right.rows > MOST_ROWS:
        raise TooManyPairs
    piece = inserted.merged(left.arrays, right.arrays, left.rows)
    if not _fits(piece):
        raise TooManyPairs
    return Postings(left.first, *piece)


def keep(postings: Postings, alive: Mask, first: int) -> Postings:
    """Return the postings of the `alive` rows, renumbered from `first`; `alive` has a flag for each row."""
    rows, pairs = postings.packed >> np.uint32(16), postings.packed & np.uint32(0xFFFF)
    kept = alive[rows]
    term_of = np.repeat(np.arange(len(postings.terms)), np.diff(postings.starts))[kept]
    used, counts = np.unique(term_of, return_counts=True)
    new_row = np.cumsum(alive, dtype=np.int32) - np.int32(1)
    numbers, tf, lengths = _pairs(postings.tf[pairs[kept]], postings.lengths[pairs[kept]])
    token_counts = np.diff(postings.token_starts)
    moved = np.zeros(len(postings.terms), np.int32)
    moved[used] = np.arange(len(used), dtype=np.int32)
    return Postings(
        first=first,
        terms=postings.terms[used],
        starts=_starts(counts),
        packed=_packed(new_row[rows[kept]], numbers),
        tf=tf,
        lengths=lengths,
        token_starts=_starts(token_counts[alive]),
        tokens=moved[postings.tokens[np.repeat(alive, token_counts)]],
    )


def settled(pieces: Sequence[Postings]) -> list[Postings]:
    """Merge neighbouring pieces until each has more than twice the rows of the next.

    Two pieces of at most `SMALL` rows together are merged in any case. Pieces that do not fit into one stay apart.
    """
    done: list[Postings] = []
    for piece in pieces:
        done.append(piece)
        while len(done) > 1 and _too_alike(done[-2], done[-1]):
            try:
                merged = merge(done[-2], done[-1])
            except TooManyPairs:
                break
            done[-2:] = [merged]
    return done


SMALL = 32  # rows; merging these is cheaper than searching two pieces


def _too_alike(left: Postings, right: Postings) -> bool:
    return left.rows <= 2 * right.rows or left.rows + right.rows <= SMALL


def _pairs(tf: Ints, lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the distinct pairs; return the number of each pair, then `tf` and `lengths` of the distinct ones."""
    numbers, distinct = number(tf.astype(np.uint64) << np.uint64(32) | lengths.astype(np.uint64))
    if len(distinct) > MOST_PAIRS:
        raise TooManyPairs
    return numbers, (distinct >> np.uint64(32)).astype(np.int32), (distinct & np.uint64(0xFFFFFFFF)).astype(np.int32)


def _packed(rows: npt.NDArray[np.integer], pairs: Ints) -> Packed:
    return rows.astype(np.uint32) << np.uint32(16) | pairs.astype(np.uint32)


def _starts(counts: npt.NDArray[np.integer]) -> Ints:
    starts = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=starts[1:])
    return starts

"""Posting lists of a stretch of rows: immutable, merged with a neighbour when both are small.

A term code is `field << 56 | hash` (core/text.py). The postings merge the fields of a term, each with its weight
(BM25F: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.kernels import Floats, Ints, Longs, Mask
from core.kernels.lexical import has_sequence

Codes = npt.NDArray[np.uint64]

FIELD_BITS = np.uint64(56)
HASH_MASK = np.uint64((1 << 56) - 1)


@dataclass(frozen=True, slots=True)
class Postings:
    """Rows `first` to `first + rows`. `docs` are row numbers of the whole index, ascending within a term.

    `terms` is sorted; the postings of `terms[i]` are `docs[starts[i]:starts[i + 1]]` with weighted counts `tf`.
    `tokens` are the content's terms in order, as positions in `terms`; row r has
    `tokens[token_starts[r - first]:token_starts[r - first + 1]]`.
    """

    first: int
    terms: Codes
    starts: Longs
    docs: Ints
    tf: Floats
    token_starts: Longs
    tokens: Ints

    @property
    def rows(self) -> int:
        return len(self.token_starts) - 1

    @property
    def nbytes(self) -> int:
        arrays = (self.terms, self.starts, self.docs, self.tf, self.token_starts, self.tokens)
        return sum(array.nbytes for array in arrays)

    def span(self, term: int) -> tuple[int, int]:
        """Where the postings of a term (its hash) stand in `docs`; (0, 0) when it has none."""
        place = int(np.searchsorted(self.terms, np.uint64(term)))
        if place < len(self.terms) and int(self.terms[place]) == term:
            return int(self.starts[place]), int(self.starts[place + 1])
        return 0, 0

    def with_phrase(self, phrase: Sequence[int]) -> npt.NDArray[np.int64]:
        """Rows whose content has these terms side by side, in order."""
        places = np.searchsorted(self.terms, np.array(phrase, np.uint64))
        if (places >= len(self.terms)).any() or (self.terms[places] != np.array(phrase, np.uint64)).any():
            return np.empty(0, np.int64)
        spans = sorted((self.span(term) for term in set(phrase)), key=lambda span: span[1] - span[0])
        rows = self.docs[slice(*spans[0])]
        for span in spans[1:]:
            rows = rows[np.isin(rows, self.docs[slice(*span)], assume_unique=True)]
        local = rows.astype(np.int64) - self.first
        found = np.zeros(len(local), np.bool_)
        has_sequence(self.token_starts, self.tokens, local, places.astype(np.int32), found)
        return local[found] + self.first


def build(first: int, codes: Codes, code_starts: Longs, weights: Floats) -> tuple[Postings, Floats]:
    """The postings and the weighted lengths of new rows.

    `codes[code_starts[i]:code_starts[i + 1]]` are the term codes of row `first + i`; `weights` has one for each field.
    """
    rows = np.repeat(np.arange(len(code_starts) - 1, dtype=np.int32), np.diff(code_starts))
    fields = (codes >> FIELD_BITS).astype(np.int64)
    weight = weights[fields]
    indexed = weight > 0
    terms, term_of = np.unique(codes[indexed] & HASH_MASK, return_inverse=True)
    postings = _group(terms, term_of.astype(np.int32), rows[indexed] + np.int32(first), weight[indexed])
    content = fields[indexed] == 0
    tokens = term_of[content].astype(np.int32)
    counts = np.bincount(rows[indexed][content], minlength=len(code_starts) - 1)
    token_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    lengths = np.bincount(rows[indexed], weights=weight[indexed], minlength=len(code_starts) - 1).astype(np.float32)
    return Postings(first, terms, *postings, token_starts, tokens), lengths


def merge(left: Postings, right: Postings) -> Postings:
    """The postings of both; `right` begins where `left` ends."""
    terms = np.union1d(left.terms, right.terms)
    moved = [np.searchsorted(terms, piece.terms).astype(np.int32) for piece in (left, right)]
    term_of = np.concatenate([np.repeat(m, np.diff(p.starts)) for m, p in zip(moved, (left, right), strict=True)])
    order = np.argsort(term_of, kind="stable")  # two sorted runs: a merge, not a sort
    starts = np.searchsorted(term_of[order], np.arange(len(terms) + 1)).astype(np.int64)
    return Postings(
        first=left.first,
        terms=terms,
        starts=starts,
        docs=np.concatenate([left.docs, right.docs])[order],
        tf=np.concatenate([left.tf, right.tf])[order],
        token_starts=np.concatenate([left.token_starts, right.token_starts[1:] + left.token_starts[-1]]),
        tokens=np.concatenate([moved[0][left.tokens], moved[1][right.tokens]]),
    )


def keep(postings: Postings, alive: Mask) -> Postings:
    """The postings of the living rows, numbered anew from 0. `alive` has a flag for each row of `postings`."""
    new_row = (np.cumsum(alive) - 1).astype(np.int32)
    kept = alive[postings.docs]
    term_of = np.repeat(np.arange(len(postings.terms)), np.diff(postings.starts))[kept]
    used, places = np.unique(term_of, return_inverse=True)
    lengths = np.diff(postings.token_starts)
    tokens = postings.tokens[np.repeat(alive, lengths)]
    moved = np.zeros(len(postings.terms), np.int32)
    moved[used] = np.arange(len(used), dtype=np.int32)
    return Postings(
        first=0,
        terms=postings.terms[used],
        starts=np.searchsorted(places, np.arange(len(used) + 1)).astype(np.int64),
        docs=new_row[postings.docs[kept]],
        tf=postings.tf[kept],
        token_starts=np.concatenate([[0], np.cumsum(lengths[alive])]).astype(np.int64),
        tokens=moved[tokens],
    )


def _group(terms: Codes, term_of: Ints, docs: Ints, weight: Floats) -> tuple[Longs, Ints, Floats]:
    """Sum the weights of each (term, row) and order them by term, then row."""
    if len(docs) == 0:
        return np.zeros(len(terms) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
    order = np.lexsort((docs, term_of))
    term_of, docs, weight = term_of[order], docs[order], weight[order]
    heads = np.flatnonzero(np.concatenate([[True], (np.diff(term_of) != 0) | (np.diff(docs) != 0)]))
    tf = np.add.reduceat(weight, heads).astype(np.float32)
    starts = np.searchsorted(term_of[heads], np.arange(len(terms) + 1)).astype(np.int64)
    return starts, docs[heads], tf

"""Weights of the pieces of long memories: how likely each holds what a memory has to say on a query.

    weight = softmax over a memory's pieces of SOFTENED * COEFFICIENTS · (o, o - max o, m, m - max m, first, code)

o is the share of the query's idf whose terms the piece has. m is the logarithm of 1 plus the idf of all its terms.
`first` and `code` are 1 for the first piece of a memory and for a code block. The idf is that among the pieces of all
candidates, so that it needs no index. `python -m loadtests.quality.pieces DATA...` fits the coefficients by
logistic regression, on the tuning halves of BEAM and QMSum. The label is which piece of a relevant memory has most of
the answer.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.conversations.context.features import Features
from muisti.core.text.terms import encode_terms, query_terms

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

NAMES = ("overlap", "overlap less the most", "mass", "mass less the most", "first", "code")
COEFFICIENTS = np.array([2.9, 4.8, 1.3, 1.6, 1.3, -1.2])
SOFTENED = 0.55  # the fit sees relevant memories alone, which makes it surer than it may be of others


class Pieces(msgspec.Struct, frozen=True, kw_only=True):
    """The pieces of several memories, one after the other. `first[i]` is where those of memory i begin.

    `terms` has for each term of a piece its place in `idf`; those of piece k are `terms[bounds[k]:bounds[k + 1]]`.
    """

    first: Longs
    counts: Longs
    code: npt.NDArray[np.uint8]
    terms: Longs
    bounds: Longs
    idf: Doubles
    mass: Doubles
    asked: npt.NDArray[np.bool_]

    @property
    def memory(self) -> Longs:
        """Return the number of the memory of each piece."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


_NONE = Pieces(
    first=np.zeros(1, np.int64),
    counts=np.empty(0, np.int64),
    code=np.empty(0, np.uint8),
    terms=np.empty(0, np.int64),
    bounds=np.zeros(1, np.int64),
    idf=np.empty(0),
    mass=np.empty(0),
    asked=np.empty(0, np.bool_),
)


def gathered(found: Sequence[Features], query: str) -> Pieces:
    """Join the pieces of memories, and mark the terms that a query asks for."""
    if not found:
        return _NONE
    ends = [np.frombuffer(one.ends, np.int32) for one in found]
    codes = np.frombuffer(b"".join(one.codes for one in found), np.uint32)
    distinct, terms, df = np.unique(codes, return_inverse=True, return_counts=True)
    number = sum(map(len, ends))
    idf = np.log1p((number - df + 0.5) / (df + 0.5))
    asked = np.isin(distinct, encode_terms(query_terms(query), 0).astype(np.uint32))
    lengths = np.concatenate([np.diff(one, prepend=0) for one in ends] or [np.empty(0, np.int64)])
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Pieces(
        first=np.cumsum([0, *map(len, ends)]),
        counts=np.frombuffer(b"".join(one.counts for one in found), np.int32).astype(np.int64),
        code=np.frombuffer(b"".join(one.code for one in found), np.uint8),
        terms=terms,
        bounds=bounds,
        idf=idf,
        mass=_sums(idf[terms], bounds),
        asked=asked,
    )


def signals(pieces: Pieces) -> Doubles:
    """Return what the weights are computed from: a row for each piece, with the columns of `NAMES`."""
    idf, terms = pieces.idf, pieces.terms
    whole = float(idf[pieces.asked].sum()) or 1.0
    overlap = _sums(np.where(pieces.asked, idf, 0.0)[terms], pieces.bounds) / whole
    mass = np.log1p(pieces.mass)
    first = np.zeros(len(overlap))
    first[pieces.first[:-1]] = 1.0
    code = pieces.code.astype(np.float64)
    return np.stack([overlap, overlap - _most(overlap, pieces), mass, mass - _most(mass, pieces), first, code], axis=1)


def weights(pieces: Pieces) -> Doubles:
    """Return the weight of each piece; those of one memory add up to 1."""
    if not len(pieces.counts):
        return np.empty(0)
    scores = SOFTENED * signals(pieces) @ COEFFICIENTS
    grown = np.exp(scores - _most(scores, pieces))
    return grown / np.add.reduceat(grown, pieces.first[:-1])[pieces.memory]


def _most(values: Doubles, pieces: Pieces) -> Doubles:
    """Return, for each piece, the largest value of its memory."""
    return np.maximum.reduceat(values, pieces.first[:-1])[pieces.memory]


def _sums(values: Doubles, bounds: Longs) -> Doubles:
    """Return the sum of each stretch; a stretch may be empty."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return sums[bounds[1:]] - sums[bounds[:-1]]

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

from muisti.core.conversations.context.counting import Counter
from muisti.core.model.choices import APPLIES
from muisti.core.model.hits import Answered
from muisti.core.model.values import Memory
from muisti.core.query.evidence import asks_for_advice
from muisti.core.text.sentences import pieces
from muisti.core.text.terms import encode_terms, query_terms, tokenize

WHOLE = 100  # tokens up to which a memory is taken whole or not at all
FORMAT = 1  # changes whenever the features of the same content may differ


class Features(msgspec.Struct, frozen=True, array_like=True):
    """Sizes of the content of a memory. `tokens` is that of a line with all of it behind a speaker; `bare` without one.

    The rest is empty unless there are more than `WHOLE` tokens. Piece k is `[spans[k, 0], spans[k, 1])` of the shown
    content, takes `counts[k]` tokens with the white space before it, and has the distinct terms of
    `codes[ends[k - 1]:ends[k]]`. All are packed: int32, and uint32 for the codes.
    """

    tokens: int
    bare: int
    spans: bytes = b""
    counts: bytes = b""
    code: bytes = b""
    codes: bytes = b""
    ends: bytes = b""

    @property
    def is_long(self) -> bool:
        """Tell whether there are pieces to choose from."""
        return len(self.counts) > 4


def body(content: str) -> str:
    r"""Return a content as it is shown: lines after the first begin with a space, and there are no blank lines.

    So no line of a memory looks like a heading, and the tokens of lines add up.

    >>> body("one\n\nAbout the user\r\n  x")
    'one\n About the user\n   x'
    """
    lines = (line.rstrip() for line in content.strip().splitlines())
    return "\n ".join(line for line in lines if line)


def measure(text: str, counter: Counter) -> Features:
    """Compute the features of a content as it is shown, see `body`."""
    tokens = counter.count(f" {text}\n")
    bare = tokens + sum(counter.count(word) - counter.count(f" {word}") for word in text.split(maxsplit=1)[:1])
    if tokens <= WHOLE:
        return Features(tokens, bare)
    cut = pieces(text)
    starts = [0, *(piece.stop for piece in cut[:-1])]
    counts = [counter.count(f" {text[: cut[0].stop]}")] if cut else []
    counts += [counter.count(text[start : piece.stop]) for start, piece in zip(starts[1:], cut[1:], strict=True)]
    terms = [list(dict.fromkeys(tokenize(text[piece.start : piece.stop]))) for piece in cut]
    codes = encode_terms([term for one in terms for term in one], 0).astype(np.uint32)
    return Features(
        tokens,
        bare,
        np.array([(piece.start, piece.stop) for piece in cut], np.int32).tobytes(),
        np.array(counts, np.int32).tobytes(),
        bytes(piece.code for piece in cut),
        codes.tobytes(),
        np.cumsum([len(one) for one in terms], dtype=np.int32).tobytes(),
    )


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


def gathered(found: Sequence[Features], query: str) -> Pieces:
    """Join the pieces of memories, and mark the terms that a query asks for."""
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
    return np.maximum.reduceat(values, pieces.first[:-1])[pieces.memory]


def _sums(values: Doubles, bounds: Longs) -> Doubles:
    """Return the sum of each stretch; a stretch may be empty."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return sums[bounds[1:]] - sums[bounds[:-1]]


# Find hits that say little beside the best: where one memory clearly answers, the others would be filler


FROM, FULL = 1.0, 1.6  # strengths
LEAST, MOST = 0.35, 0.75  # shares of the best score
HARDLY = 0.02  # probability of an answer; at most 3 in 1,000 judged questions with an answer are below


def is_hopeless(answer: Answered) -> bool:
    """Return whether an answer hardly answers its question."""
    return answer.applies is not None and answer.applies < HARDLY


def is_unsure(answer: Answered) -> bool:
    """Return whether an answer may not answer its question."""
    return answer.evidence == "none" or (answer.applies is not None and answer.applies < APPLIES)


def filler(question: str, answer: Answered, found: Sequence[tuple[Memory, float]]) -> frozenset[str]:
    """Return the ids of memories, found with a score, that are not shown even if there is room."""
    if is_hopeless(answer):
        return frozenset(memory.id for memory, _ in found)
    if answer.evidence != "strong" or answer.strategy != "hybrid" or asks_for_advice(question):
        return frozenset()
    least = share(answer.strength) * max((score for _, score in found), default=0.0)
    return frozenset(memory.id for memory, score in found if score < least and not _is_turn(memory))


def share(strength: float) -> float:
    """Return the share of the best score that a hit needs.

    >>> [round(share(strength), 3) for strength in (0.9, 1.0, 1.3, 2.0)]
    [0.0, 0.35, 0.55, 0.75]
    """
    if strength < FROM:
        return 0.0
    return LEAST + (MOST - LEAST) * min((strength - FROM) / (FULL - FROM), 1.0)


def _is_turn(memory: Memory) -> bool:
    return memory.conversation is not None or memory.turn is not None or "session" in memory.metadata

"""Find the memories that may claim something else of a new memory's subject, by the words of subject and verb."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.postings import Postings
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Longs, Mask, Packed
from muisti.core.kernels.lexical import look_up
from muisti.core.text.terms import term_code
from muisti.core.write.conflicts.claims import BECOMES, EVENTS, OWNERS, PREPOSITIONS, Claim, claim, plain
from muisti.core.write.conflicts.denials import denial, may_deny
from muisti.core.write.conflicts.relations import CHANGING, TERMS
from muisti.core.write.conflicts.words import read

ROW_BITS = np.uint32(16)  # of a posting, the low ones, after which its row begins
LAST = (1 << 32) - 1  # more than any row
WORDS_MAX = 24  # words of a memory that is compared by its subject
MOST = 5  # memories with words of the subject that are compared with a new one
_BEING = frozenset({"is", "are"})


class Sought(NamedTuple):
    """Terms that a memory must have, and terms of which it must have one; no terms there means that none is needed."""

    every: frozenset[str]
    either: frozenset[str]


def sought(text: str) -> Sought | None:
    """Return the terms of memories that may contradict a text, or None for a text that claims nothing.

    >>> [found and sorted(found.every) for found in map(sought, ("My cat is red.", "Ann drinks no tea.", "Buy milk."))]
    [['cat'], ['ann', 'drink', 'tea'], None]
    """
    found = claim(text)
    if found is not None:
        return _of_claim(found)
    denied = denial(read(text)) if may_deny(text) and plain(text) is not None else None
    return None if denied is None else Sought(frozenset(denied), frozenset())


def _of_claim(found: Claim) -> Sought | None:
    every = [key for key in found.subject - OWNERS - PREPOSITIONS if " " not in key]
    spelled_alike = [key for key in every if "or" not in key]  # `color` may be `colour` elsewhere
    if found.subject & EVENTS or not every:
        return Sought(frozenset(every), frozenset()) if every else None
    relations = CHANGING if found.relation == BECOMES else (found.relation,)
    either = frozenset[str]().union(_BEING, *(TERMS.get(relation, frozenset()) for relation in relations))
    return Sought(frozenset(spelled_alike or every), either)


def of_subject(snapshot: Snapshot, text: str, allowed: Allowed) -> RowNumbers:
    """Return the allowed rows of short memories with the subject of a text: those of fewest words, the latest first."""
    wanted = sought(text)
    if wanted is None:
        return np.empty(0, np.int64)
    codes = np.array([term_code(term) for term in (*sorted(wanted.every), *sorted(wanted.either))], np.uint64)
    found = [np.empty(0, np.int64)]
    spans = np.empty((len(codes), 2), np.int32)
    for piece in snapshot.pieces:
        look_up(piece.terms, piece.starts, codes, spans)
        parts = [piece.packed[start:stop] for start, stop in spans.tolist()]
        if all(map(len, parts[: len(wanted.every)])):
            found.append(_in_piece(piece, parts[: len(wanted.every)], parts[len(wanted.every) :], allowed))
    return LAST - (np.sort(np.concatenate(found))[:MOST] & LAST)


def _in_piece(piece: Postings, every: Sequence[Packed], either: Sequence[Packed], allowed: Allowed) -> Longs:
    """Return the best rows of a piece with all terms and one of the others, as numbers whose order is theirs.

    `every` and `either` are the postings of these terms. None of `every` is empty. The high bits of a number are how
    many words the row has, the low ones count back from `LAST`.
    """
    rarest, *others = sorted(every, key=len)
    rows = rarest >> ROW_BITS
    starts = piece.token_starts
    rows = rows[(starts[rows + 1] - starts[rows] <= WORDS_MAX) & allowed.mask[rows + piece.first]]
    for postings in others:
        rows = rows[_among(rows, postings)]
    if either and len(rows):
        has = np.zeros(len(rows), np.bool_)
        for postings in filter(len, either):
            has |= _among(rows, postings)
        rows = rows[has]
    lengths = (starts[rows + 1] - starts[rows]).astype(np.int64)
    found = lengths * (LAST + 1) + LAST - (rows.astype(np.int64) + piece.first)
    return np.partition(found, MOST)[:MOST] if len(found) > MOST else found


def _among(rows: Packed, postings: Packed) -> Mask:
    """Return which rows have a posting; both ascend."""
    return postings.take(postings.searchsorted(rows << ROW_BITS), mode="clip") >> ROW_BITS == rows


def of_subject_before(texts: Sequence[str]) -> Sequence[Sequence[int]]:
    """Return for each text of a batch the places of the last earlier ones that claim something of its subject."""
    seen: dict[frozenset[str], list[int]] = {}
    found: list[Sequence[int]] = []
    for place, text in enumerate(texts):
        made = claim(text)
        earlier = () if made is None else seen.setdefault(made.subject, [])
        found.append(earlier[-MOST:])
        if made is not None:
            seen[made.subject].append(place)
    return found

"""Compare two texts word by word: the words of both, and the words of only one."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from muisti.core.write.conflicts.words import Word


class Alignment(msgspec.Struct, frozen=True):
    """Words of two texts: `only_existing` and `only_new` are the words of one text alone, in their order.

    `common` counts the words that both texts have. `order` is the share of common words whose order is the same in both
    texts; it is 1 without common words. Function words are ignored.
    """

    only_existing: tuple[Word, ...]
    only_new: tuple[Word, ...]
    common: int
    order: float


def align(existing: Sequence[Word], new: Sequence[Word]) -> Alignment:
    """Pair the words of two texts."""
    ours = [word for word in existing if word.kind != "function"]
    theirs = [word for word in new if word.kind != "function"]
    kept_ours, only_ours = _parted(ours, [word.key for word in theirs])
    kept_theirs, only_theirs = _parted(theirs, kept_ours)
    return Alignment(tuple(only_ours), tuple(only_theirs), len(kept_ours), order(kept_ours, kept_theirs))


def _parted(words: Sequence[Word], others: Iterable[str]) -> tuple[list[str], list[Word]]:
    """Return the keys of the words that the other text has too, each as often, and the words that are left."""
    left = Counter(others)
    kept: list[str] = []
    only: list[Word] = []
    for word in words:
        times = left.get(word.key)
        if times:
            left[word.key] = times - 1
            kept.append(word.key)
        else:
            only.append(word)
    return kept, only


def order(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Return the length of the longest common subsequence divided by the number of common words.

    Bit-parallel, a bit for each of our words: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    if ours == theirs:
        return 1.0
    places: dict[str, int] = {}
    for place, key in enumerate(ours):
        places[key] = places.get(key, 0) | 1 << place
    every = (1 << len(ours)) - 1
    unmatched = every
    for key in theirs:
        matching = unmatched & places[key]  # both have the same words
        unmatched = (unmatched + matching | unmatched - matching) & every
    return (len(ours) - unmatched.bit_count()) / len(ours)

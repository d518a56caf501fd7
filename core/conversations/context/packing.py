"""Choose what goes into a number of tokens: greedily, by value for each token, skipping what does not fit.

    short memory, whole      value / USUAL                                   whatever its length, so in order of rank
    piece of a long one      CUT * value * weight * new / max(tokens, LEAST)

`new` is 1 for a piece of words that are not there yet, down to `1 - NOVELTY` for one that says nothing new. The first
piece of a memory also pays for its line, and the first memory of a group for the group's heading. The best memory
comes first: whole when it takes at most half of the room, else with the piece that says most for its tokens.

The constants are chosen on the tuning halves of LoCoMo, BEAM and QMSum (docs/concepts/context.md).
"""

import heapq
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from muisti.core.conversations.context.weights import Pieces, weights

SHARPNESS = 6.0  # exponent of a score divided by the best
USUAL = 60  # tokens of a usual memory
CUT = 0.3  # value of all pieces of a memory, against the memory whole
LEAST = 16  # tokens that a piece counts as at least
NOVELTY = 0.6
GAP = 2  # tokens of the mark between pieces that do not follow each other
CRUMB = 3  # tokens of room that nothing is sought for any more
BEST = 0.5  # share of the room that the best memory may take whole


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that may go in. `tokens` is the size of its line, `around` that of the line without its content.

    `group` is its heading. `long` is its number among the memories that have pieces, None when it has none.
    """

    value: float
    tokens: int
    around: int
    group: str = ""
    long: int | None = None


class Packed(msgspec.Struct, frozen=True):
    """The chosen memories in the order in which they were chosen, and the tokens that are left.

    The value of a memory is None when it is whole, else the numbers of its pieces in order.
    """

    kept: dict[int, tuple[int, ...] | None]
    left: int


def values(scores: Sequence[float]) -> list[float]:
    """Return the value of each score, 1 for the best, which is the first.

    >>> values([0.5, 0.25])
    [1.0, 0.015625]
    """
    top = max(scores, default=0.0)
    return [(max(score, 0.0) / top) ** SHARPNESS if top > 0 else 1.0 for score in scores]


def pack(items: Sequence[Item], pieces: Pieces, room: int, heading: Callable[[str], int]) -> Packed:
    """Choose among items, best first, what fits; `heading` returns the tokens of a group's heading."""
    return _Packing(items, pieces, room, heading).packed()


class _Packing:
    """The state of one choice."""

    def __init__(self, items: Sequence[Item], pieces: Pieces, room: int, heading: Callable[[str], int]) -> None:
        self._items, self._pieces, self._room, self._heading = items, pieces, room, heading
        self._left = room
        self._kept: dict[int, set[int] | None] = {}
        self._groups: set[str] = set()
        self._seen = np.zeros(len(pieces.idf), np.bool_)
        self._weights = weights(pieces)
        self._counts = pieces.counts.tolist()
        self._first = pieces.first.tolist()

    def packed(self) -> Packed:
        if self._items:
            self._take_best()
        heap = self._densities()
        heapq.heapify(heap)
        fresh: dict[int, float] = {}
        while heap and self._left >= CRUMB:
            density, item, piece = heapq.heappop(heap)
            if piece < 0:
                self._take(item)
            elif self._counts[piece] <= self._left:
                share, before = self._share_new(piece), fresh.get(piece, 1.0)
                if share < before:  # others have said some of it meanwhile
                    fresh[piece] = share
                    heapq.heappush(heap, (density * share / before, item, piece))
                else:
                    self._take_piece(item, piece)
        return Packed({item: self._chosen(item) for item in self._kept}, self._left)

    def _take_best(self) -> None:
        best = self._items[0]
        if best.long is None or best.tokens <= BEST * self._room:
            self._take(0)
        else:
            self._take_best_piece(best.long)

    def _take_best_piece(self, long: int) -> None:
        """Take the piece of the best memory that says most for the root of its tokens, of those that fit.

        By its weight alone it would often be a block of code that fills the room.
        """
        first, stop = self._first[long], self._first[long + 1]
        worth = self._weights[first:stop] / np.sqrt(np.maximum(self._pieces.counts[first:stop], LEAST))
        for place in np.argsort(-worth, kind="stable").tolist():
            self._take_piece(0, first + place)
            if self._kept:
                return

    def _densities(self) -> list[tuple[float, int, int]]:
        """Return what may be taken: its density, negative, with its item and its piece, -1 for the whole."""
        pieces, items = self._pieces, self._items
        found = [(-item.value / USUAL, place, -1) for place, item in enumerate(items) if item.long is None]
        density = -CUT * self._weights / np.maximum(pieces.counts, LEAST)
        for place, item in enumerate(items):
            if item.long is not None:
                first, stop = self._first[item.long], self._first[item.long + 1]
                own = (density[first:stop] * item.value).tolist()
                found += [(each, place, first + number) for number, each in enumerate(own)]
        return found

    def _share_new(self, piece: int) -> float:
        """Return the factor of a piece for the share of its words, by idf, that are not there yet."""
        pieces = self._pieces
        mass = pieces.mass[piece]
        if mass <= 0:
            return 1.0
        terms = pieces.terms[pieces.bounds[piece] : pieces.bounds[piece + 1]]
        new = float(pieces.idf[terms] @ ~self._seen[terms])
        return 1.0 - NOVELTY + NOVELTY * new / mass

    def _take(self, item: int) -> None:
        one = self._items[item]
        if item not in self._kept and self._pay(one, one.tokens):
            self._kept[item] = None

    def _take_piece(self, item: int, piece: int) -> None:
        one, kept = self._items[item], self._kept.get(item, set())
        if kept is None or piece in kept:
            return
        beside = (piece - 1 in kept) + (piece + 1 in kept)
        price = self._counts[piece] + (GAP * (1 - beside) if kept else one.around)
        if self._pay(one, price):
            self._kept[item] = kept | {piece}
            terms = self._pieces.terms[self._pieces.bounds[piece] : self._pieces.bounds[piece + 1]]
            self._seen[terms] = True

    def _pay(self, item: Item, price: int) -> bool:
        """Take the price, and that of the group's first heading, from the room; return whether there was enough."""
        if item.group and item.group not in self._groups:
            price += self._heading(item.group)
        if price > self._left:
            return False
        self._left -= price
        self._groups.add(item.group)
        return True

    def _chosen(self, item: int) -> tuple[int, ...] | None:
        """Return the pieces of an item, numbered from its first; None when all are there."""
        kept, long = self._kept[item], self._items[item].long
        if kept is None or long is None:
            return None
        first, stop = self._first[long], self._first[long + 1]
        return None if len(kept) == stop - first else tuple(sorted(piece - first for piece in kept))

"""Choose among the hits of a search what goes into a number of tokens, counted exactly.

Memories are taken whole in order of rank, and what does not fit is passed over. The rest of the room goes to pieces of
long memories that were passed over, by density:

    value * weight * new / max(tokens, LEAST)

`new` is 1 for a piece of words that are not there yet, down to `1 - NOVELTY` for one that says nothing new. The first
piece of a memory also pays for its line. A memory of another day than the one before it pays for the heading. The best
memory is always there: when it does not fit, with the piece that says most for its tokens.

The constants are chosen on the tuning halves of LoCoMo, BEAM and QMSum (docs/concepts/context.md).
"""

import heapq
from bisect import bisect, insort
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from muisti.core.conversations.context.counting import Counter
from muisti.core.conversations.context.rendering import Shown, heading, headings, in_turn, shown, spoken, written
from muisti.core.conversations.context.weights import Features, Pieces, gathered, weights
from muisti.core.model.values import Memory

SHARPNESS = 6.0  # exponent of a score divided by the best
LEAST = 16  # tokens that a piece counts as at least
NOVELTY = 0.6
GAP = 2  # tokens of the mark between pieces that do not follow each other
CRUMB = 3  # tokens of room that nothing is sought for any more
BEST = 0.25  # share of the room that the first piece of the best memory may take, if any piece is so small


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
    def __init__(self, items: Sequence[Item], pieces: Pieces, room: int, heading: Callable[[str], int]) -> None:
        self._items, self._pieces, self._room, self._heading = items, pieces, room, heading
        self._left = room
        self._kept: dict[int, set[int] | None] = {}
        self._order: list[int] = []  # the kept items by rank
        self._seen = np.zeros(len(pieces.idf), np.bool_)
        self._weights = weights(pieces)
        self._counts = pieces.counts.tolist()
        self._first = pieces.first.tolist()

    def packed(self) -> Packed:
        best = self._items[0] if self._items else None
        if best is not None and best.long is not None and self._price(0, best.tokens) > self._room:
            self._take_best_piece(best.long)
        for item in range(len(self._items)):
            self._take(item)
        self._take_pieces()
        return Packed({item: self._chosen(item) for item in self._kept}, self._left)

    def _take_pieces(self) -> None:
        heap = self._densities()
        heapq.heapify(heap)
        fresh: dict[int, float] = {}
        while heap and self._left >= CRUMB:
            density, item, piece = heapq.heappop(heap)
            if self._counts[piece] <= self._left:
                share, before = self._share_new(piece), fresh.get(piece, 1.0)
                if share < before:  # others have said some of it meanwhile
                    fresh[piece] = share
                    heapq.heappush(heap, (density * share / before, item, piece))
                else:
                    self._take_piece(item, piece)

    def _take_best_piece(self, long: int) -> None:
        """Take the piece of the best memory that says most for the root of its tokens, of those that fit.

        By its weight alone it would often be a block of code that fills the room. Small pieces leave room for others.
        """
        first, stop = self._first[long], self._first[long + 1]
        counts = self._pieces.counts[first:stop]
        worth = self._weights[first:stop] / np.sqrt(np.maximum(counts, LEAST)) * (counts <= BEST * self._room)
        for place in np.argsort(-worth, kind="stable").tolist():
            self._take_piece(0, first + place)
            if self._kept:
                return

    def _densities(self) -> list[tuple[float, int, int]]:
        """Return the pieces that may be taken: the density, negative, with the item and the piece."""
        pieces = self._pieces
        density = -self._weights / np.maximum(pieces.counts, LEAST)
        found: list[tuple[float, int, int]] = []
        for place, item in enumerate(self._items):
            if item.long is not None and self._kept.get(place, ()) is not None:
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
        if item not in self._kept and self._pay(item, self._items[item].tokens):
            self._kept[item] = None

    def _take_piece(self, item: int, piece: int) -> None:
        one, kept = self._items[item], self._kept.get(item, set())
        if kept is None or piece in kept:
            return
        beside = (piece - 1 in kept) + (piece + 1 in kept)
        price = self._counts[piece] + (GAP * (1 - beside) if kept else one.around)
        if self._pay(item, price):
            self._kept[item] = kept | {piece}
            terms = self._pieces.terms[self._pieces.bounds[piece] : self._pieces.bounds[piece + 1]]
            self._seen[terms] = True

    def _pay(self, item: int, tokens: int) -> bool:
        """Take the price of some tokens of an item from the room; return whether there was enough."""
        price = tokens if item in self._kept else self._price(item, tokens)
        if price > self._left:
            return False
        self._left -= price
        if item not in self._kept:
            insort(self._order, item)
        return True

    def _price(self, item: int, tokens: int) -> int:
        """Return the tokens of an item that is not there yet, with the headings that it adds or moves."""
        at, order = bisect(self._order, item), self._order
        group = self._items[item].group
        before = self._items[order[at - 1]].group if at else ""
        after = self._items[order[at]].group if at < len(order) else ""
        price = tokens + self._above(before, group)
        return price + self._above(group, after) - self._above(before, after) if after else price

    def _above(self, before: str, group: str) -> int:
        """Return the tokens of the heading of a memory behind one of another group."""
        return self._heading(group) if group and group != before else 0

    def _chosen(self, item: int) -> tuple[int, ...] | None:
        """Return the pieces of an item, numbered from its first; None when all are there."""
        kept, long = self._kept[item], self._items[item].long
        if kept is None or long is None:
            return None
        first, stop = self._first[long], self._first[long + 1]
        return None if len(kept) == stop - first else tuple(sorted(piece - first for piece in kept))


SLACK = 12  # tokens of room that are worth another try: the sizes of pieces are slightly too large
AROUND = 2  # tokens of the mark of a cut line and its end, beside its speaker


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """Options of showing memories: never cut (`whole`), below their days, and ordered by turn instead of by rank."""

    whole: bool = False
    days: bool = True
    by_turn: bool = False


PLAIN = Style()


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that a search found, with its score and its sizes.

    `tokens` is the size of its line, shown whole; `around` that of the line without its content.
    """

    memory: Memory
    score: float
    features: Features
    tokens: int
    around: int


class Chosen(msgspec.Struct, frozen=True):
    """Chosen memories in the order in which they are shown, and the exact number of tokens that they take."""

    shown: tuple[Shown, ...] = ()
    tokens: int = 0

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(one.memory.id for one in self.shown)


def chosen(candidates: Sequence[Candidate], query: str, room: int, counter: Counter, style: Style = PLAIN) -> Chosen:
    """Return what of the candidates, best first, goes into `room` tokens.

    The first candidate is always there when there is room for a word of it, cut at a token if it must be.
    """
    first = _fitted(candidates, query, room, room, counter, style)
    slack = room - first.tokens
    if first.shown and SLACK < slack < room // 2 and any(one.cut for one in first.shown):
        more = _fitted(candidates, query, room + slack, room, counter, style)
        first = max(first, more, key=lambda one: one.tokens)
    if style.whole or not candidates or candidates[0].memory.id in first.ids:
        return first
    return _beginning(candidates[0], room, counter, style)


def candidate(memory: Memory, score: float, features: Features, counter: Counter) -> Candidate:
    """Return a candidate; `features` are those of its content in the encoding of the counter."""
    speaker = spoken(memory).rstrip()
    said = counter.short(speaker) if speaker else 0
    tokens = features.tokens + said if speaker else features.bare
    return Candidate(memory=memory, score=score, features=features, tokens=tokens, around=AROUND + said)


def _fitted(
    candidates: Sequence[Candidate], query: str, estimated: int, room: int, counter: Counter, style: Style
) -> Chosen:
    """Return what is chosen for an `estimated` room, without the last choices that do not fit into the real one."""
    kept = _kept(candidates, query, estimated, counter, style)
    found = {
        place: shown(one.memory, one.score, one.features, pieces)
        for place, pieces in kept.items()
        for one in [candidates[place]]
    }
    sizes = {place: counter.count(one.line) if one.cut else candidates[place].tokens for place, one in found.items()}
    while found:
        ranked = [found[place] for place in sorted(found)]
        ordered = in_turn(ranked) if style.by_turn else ranked
        titles = headings(ordered) if style.days else ()
        tokens = sum(sizes.values()) + sum(map(counter.short, titles))
        if tokens <= room:
            return Chosen(tuple(ordered), tokens)
        sizes.pop(found.popitem()[0])
    return Chosen()


def _kept(
    candidates: Sequence[Candidate], query: str, room: int, counter: Counter, style: Style
) -> dict[int, tuple[int, ...] | None]:
    """Return the chosen candidates by their place, each with its pieces, in the order in which they were chosen."""
    long = [] if style.whole else [place for place, one in enumerate(candidates) if one.features.is_long]
    numbers = {place: number for number, place in enumerate(long)}
    scores = values([one.score for one in candidates])
    items = [
        Item(
            value=value,
            tokens=one.tokens,
            around=one.around,
            group=heading(one.memory) if style.days else "",
            long=numbers.get(place),
        )
        for place, (one, value) in enumerate(zip(candidates, scores, strict=True))
    ]
    pieces = gathered([candidates[place].features for place in long], query)
    return pack(items, pieces, room, counter.short).kept


def _beginning(candidate: Candidate, room: int, counter: Counter, style: Style) -> Chosen:
    """Return as much of the beginning of a memory as fits; nothing when no word does."""
    whole = shown(candidate.memory, candidate.score, candidate.features, None)
    for most in range(room, 0, -1):
        text = counter.prefix(whole.text, most).rstrip()
        if not text:
            break
        one = msgspec.structs.replace(whole, text=text, cut=text != whole.text)
        tokens = counter.count(written([one], days=style.days)[0])
        if tokens <= room:
            return Chosen((one,), tokens)
    return Chosen()

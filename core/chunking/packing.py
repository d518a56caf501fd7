"""Units to chunks: each chunk ends at the best border that its size allows, so that equal text gets equal borders."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from muisti.core.chunking.anchors import anchor, anchored
from muisti.core.chunking.options import Chunking
from muisti.core.chunking.unit import SECTION, SENTENCE, Unit, weigh
from muisti.core.model.documents import Cut
from muisti.core.text.terms import token_starts


def pack(units: Iterable[Unit], options: Chunking) -> Iterator[Cut]:
    """Yield the chunks of a document. Texts without their overlaps join to the texts of the units."""
    packer = _Packer(options)
    if options.strategy == "sentence":
        units = (unit._replace(rank=min(unit.rank, SENTENCE), whole=0) for unit in units)
    reach = options.size // 2
    for unit, fixed in anchored(units, reach):
        titled = options.strategy == "heading" and unit.rank >= SECTION and unit.piece.kind != "code"
        if packer.waiting and (fixed or titled):
            yield from packer.finish(unit)
        packer.add(unit)
        while packer.weight > packer.room + reach:
            yield packer.cut_best()
    yield from packer.finish(None)


class _Packer:
    """Units of the chunk that is being filled, after the overlap that it begins with, and some that follow."""

    def __init__(self, options: Chunking) -> None:
        self.waiting: list[Unit] = []
        self.weight = 0
        self.room = options.size  # weight that the chunk may have after its overlap
        self._options = options
        self._overlap = ""

    def add(self, unit: Unit) -> None:
        self.waiting.append(unit)
        self.weight += unit.weight

    def finish(self, after: Unit | None) -> Iterator[Cut]:
        """Yield the chunks of all waiting units. A border is before the unit `after`, or the text ends."""
        while self.weight > self.room:
            yield self.cut_best(ends=True)
        if self.waiting:
            yield self._cut(len(self.waiting), after)

    def cut_best(self, *, ends: bool = False) -> Cut:
        """Return the next chunk; more units are waiting than it has room for.

        A block that would fit into a chunk of its own is not torn. Else the border of the highest rank counts. It
        may be anywhere after the first quarter before a section or definition, else in the second half. The text on
        both sides decides between equals. Where the text `ends`, the last chunk is not left tiny.
        """
        weights = [0, *accumulate(unit.weight for unit in self.waiting)]
        last = self._torn(weights, bisect_right(weights, self.room) - 1)
        most = self.weight - self.room // 4 if ends else self.weight
        candidates = [
            place
            for place in range(1, last + 1)
            if weights[place] * (4 if self.waiting[place].rank >= SECTION else 2) >= self.room
            and weights[place] <= most
        ] or [last]
        highest = max(self.waiting[place].rank for place in candidates)
        equals = [place for place in candidates if self.waiting[place].rank == highest]
        place = min(equals, key=lambda one: (anchor(self.waiting[one - 1], self.waiting[one]), -one))
        return self._cut(place, self.waiting[place])

    def _torn(self, weights: list[int], last: int) -> int:
        """Return the place of the first block that only a chunk of its own holds, else the last place."""
        for place in range(1, last + 1):
            if self.room - weights[place] < self.waiting[place].whole <= self._options.size:
                return place
        return last

    def _cut(self, place: int, after: Unit | None) -> Cut:
        """Return the first `place` units as a chunk; the others begin the next one, whose first unit is `after`."""
        taken, self.waiting = self.waiting[:place], self.waiting[place:]
        first, overlap = taken[0], self._overlap
        self._overlap = "" if after is None or after.rank >= SECTION else _end(taken, self._options.overlap)
        self.room = self._options.size - (weigh(self._overlap) if self._overlap else 0)
        self.weight = sum(unit.weight for unit in self.waiting)
        return Cut(
            text=overlap + "".join(unit.text for unit in taken),
            overlap=len(overlap),
            kind=first.piece.kind,
            page=first.piece.page,
            headings=first.piece.headings,
            language=first.piece.language,
            symbol=first.symbol,
            defines=tuple(dict.fromkeys(name for unit in taken for name in unit.begins)),
        )


def _end(units: list[Unit], most: int) -> str:
    """Return the whole sentences at the end that weigh at most `most`, else the last words."""
    place, weight = len(units), 0
    while place and weight + units[place - 1].weight <= most:
        place -= 1
        weight += units[place].weight
    end = "".join(unit.text for unit in units[place:])
    if place == len(units) and most:
        text = units[-1].text
        starts = token_starts(text)[-most:]
        at = next(
            (start for start in starts if start and text[start - 1].isspace()), starts[0] if starts else len(text)
        )
        end = text[at:]
    return end if end.strip() and weigh(end) <= most else ""

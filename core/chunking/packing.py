"""Units to chunks: each chunk ends at the best border that its size allows, so that equal text gets equal borders."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from muisti.core.chunking.options import Chunking
from muisti.core.chunking.unit import SECTION, SENTENCE, Unit, anchor, weigh
from muisti.core.model.documents import Cut
from muisti.core.text.terms import token_starts


def pack(units: Iterable[Unit], options: Chunking) -> Iterator[Cut]:
    """Yield the chunks of a document. Texts without their overlaps join to the texts of the units."""
    packer = _Packer(options)
    for unit in units:
        if options.strategy == "sentence" and unit.rank > SENTENCE:
            unit = unit._replace(rank=SENTENCE, whole=0)
        if options.strategy == "heading" and unit.rank >= SECTION and packer.waiting:
            yield packer.cut(len(packer.waiting), unit)
        while packer.waiting and packer.weight + unit.weight > packer.room:
            place, after = packer.best(unit)
            yield packer.cut(place, after)
        packer.add(unit)
    if packer.waiting:
        yield packer.cut(len(packer.waiting), None)


class _Packer:
    """Units of the chunk that is being filled, after the overlap that it begins with."""

    def __init__(self, options: Chunking) -> None:
        self.waiting: list[Unit] = []
        self.weight = 0
        self.room = options.size  # weight that the chunk may have after its overlap
        self._options = options
        self._overlap = ""

    def add(self, unit: Unit) -> None:
        self.waiting.append(unit)
        self.weight += unit.weight

    def best(self, following: Unit) -> tuple[int, Unit]:
        """Return how many units the chunk should hold, and the unit after them. `following` does not fit any more.

        A block that would fit into a chunk of its own is not torn. Else the border of the highest rank counts. It
        may be anywhere after the first quarter before a section or definition, else in the second half. The text on
        both sides decides between equals, so that a change elsewhere does not move the border.
        """
        units = [*self.waiting, following]
        weights = [0, *accumulate(unit.weight for unit in self.waiting)]
        last = self._torn(units, weights)
        candidates = [
            place
            for place in range(1, last + 1)
            if weights[place] * (4 if units[place].rank >= SECTION else 2) >= self.room
        ] or [last]
        highest = max(units[place].rank for place in candidates)
        equals = [place for place in candidates if units[place].rank == highest]
        place = min(equals, key=lambda one: (anchor(units[one - 1], units[one]), -one))
        return place, units[place]

    def _torn(self, units: list[Unit], weights: list[int]) -> int:
        """Return the place of the first block that only a chunk of its own holds, else the last place."""
        for place in range(1, len(units)):
            if self.room - weights[place] < units[place].whole <= self._options.size:
                return place
        return len(units) - 1

    def cut(self, place: int, after: Unit | None) -> Cut:
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

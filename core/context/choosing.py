"""Choose among the hits of a search what goes into a number of tokens, counted exactly."""

from collections.abc import Sequence

import msgspec

from muisti.core.context.counting import Counter
from muisti.core.context.features import Features
from muisti.core.context.packing import Item, pack, values
from muisti.core.context.rendering import Shown, heading, in_order, shown, spoken, written
from muisti.core.context.weights import gathered
from muisti.core.model.values import Memory

HEAD = 64  # characters in which the first word of a content is looked for
AROUND = 2  # tokens of the mark of a cut line and its end, beside its speaker


class Candidate(msgspec.Struct, frozen=True):
    """A memory that a search found, with its score and the sizes of its content."""

    memory: Memory
    score: float
    features: Features


class Chosen(msgspec.Struct, frozen=True):
    """Chosen memories in the order in which they are shown, and the exact number of tokens that they take."""

    shown: tuple[Shown, ...] = ()
    tokens: int = 0

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(one.memory.id for one in self.shown)


def chosen(
    candidates: Sequence[Candidate], query: str, room: int, counter: Counter, *, whole: bool = False, days: bool = True
) -> Chosen:
    """Return what of the candidates, best first, goes into `room` tokens. With `whole` nothing is cut.

    The first candidate is always there, cut at a token if it must, when there is room for anything.
    """
    kept = _kept(candidates, query, room, counter, whole=whole, days=days)
    found = {place: _shown(candidates[place], pieces) for place, pieces in kept.items()}
    while found:
        ordered = in_order([*found.values()])
        tokens = counter.count(written(ordered, days=days)[0])
        if tokens <= room:
            return Chosen(tuple(ordered), tokens)
        found.popitem()  # the sizes of lines did not add up to that of the text; the last chosen goes
    return _beginning(candidates[0], room, counter, days=days) if candidates else Chosen()


def price(candidate: Candidate, counter: Counter) -> int:
    """Return the tokens of a memory shown whole, with its speaker but without a heading."""
    speaker = spoken(candidate.memory).rstrip()
    if speaker:
        return candidate.features.tokens + counter.short(speaker)
    head = candidate.memory.content[:HEAD].split(maxsplit=1)[:1]  # the features count it with a space before it
    return candidate.features.tokens + sum(counter.short(word) - counter.short(f" {word}") for word in head)


def _kept(
    candidates: Sequence[Candidate], query: str, room: int, counter: Counter, *, whole: bool, days: bool
) -> dict[int, tuple[int, ...] | None]:
    """Return the chosen candidates by their place, each with its pieces, in the order in which they were chosen."""
    long = [] if whole else [place for place, one in enumerate(candidates) if one.features.is_long]
    numbers = {place: number for number, place in enumerate(long)}
    items = [
        Item(
            value=value,
            tokens=price(one, counter),
            around=AROUND + counter.short(spoken(one.memory).rstrip()),
            group=heading(one.memory) if days else "",
            long=numbers.get(place),
        )
        for place, (one, value) in enumerate(zip(candidates, values([one.score for one in candidates]), strict=True))
    ]
    pieces = gathered([candidates[place].features for place in long], query)
    return pack(items, pieces, room, counter.short).kept


def _shown(candidate: Candidate, pieces: tuple[int, ...] | None) -> Shown:
    return shown(candidate.memory, candidate.score, candidate.features, pieces)


def _beginning(candidate: Candidate, room: int, counter: Counter, *, days: bool) -> Chosen:
    """Return as much of the beginning of a memory as fits; nothing when no word does."""
    whole = shown(candidate.memory, candidate.score, candidate.features, None)
    for most in range(room, 0, -1):
        text = counter.prefix(whole.text, most).rstrip()
        if not text:
            break
        one = msgspec.structs.replace(whole, text=text, cut=text != whole.text)
        tokens = counter.count(written([one], days=days)[0])
        if tokens <= room:
            return Chosen((one,), tokens)
    return Chosen()

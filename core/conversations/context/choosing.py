"""Choose among the hits of a search what goes into a number of tokens, counted exactly."""

from collections.abc import Sequence

import msgspec

from muisti.core.conversations.context.counting import Counter
from muisti.core.conversations.context.features import Features
from muisti.core.conversations.context.packing import Item, pack, values
from muisti.core.conversations.context.rendering import Shown, heading, headings, in_order, shown, spoken, written
from muisti.core.conversations.context.weights import gathered
from muisti.core.model.values import Memory

SLACK = 12  # tokens of room that are worth another try: the sizes of pieces are slightly too large
AROUND = 2  # tokens of the mark of a cut line and its end, beside its speaker


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """Options of showing memories: never cut (`whole`), below their days, and ordered by turn instead of by time."""

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
    candidates: Sequence[Candidate],
    query: str,
    estimated: int,
    room: int,
    counter: Counter,
    style: Style,
) -> Chosen:
    """Return what is chosen for an `estimated` room, without the last choices that do not fit into the real one."""
    kept = _kept(candidates, query, estimated, counter, style)
    found = {place: _shown(candidates[place], pieces) for place, pieces in kept.items()}
    sizes = {place: counter.count(one.line) if one.cut else candidates[place].tokens for place, one in found.items()}
    while found:
        ordered = in_order([*found.values()], by_turn=style.by_turn)
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


def _shown(candidate: Candidate, pieces: tuple[int, ...] | None) -> Shown:
    return shown(candidate.memory, candidate.score, candidate.features, pieces)


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

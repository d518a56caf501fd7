"""Fills the sections of a context from what was found, within its budget, and says what the text rests on."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from muisti.core.conversations.context.choosing import Candidate, Chosen, Style, candidate, chosen
from muisti.core.conversations.context.counting import Counter, counter
from muisti.core.conversations.context.features import measure
from muisti.core.conversations.context.layout import Part, Text, laid_out, title
from muisti.core.conversations.context.rendering import NOTICE
from muisti.core.conversations.context.request import Request
from muisti.core.conversations.context.sections import EXCERPTS, LISTED, NOTHING
from muisti.core.conversations.context.sizes import Sizes
from muisti.core.model.context import Citation, Context, LeftOut, Section, SectionName, SpaceRead
from muisti.core.model.hits import Answered
from muisti.core.model.values import Memory, Seq

# Which summaries of a conversation are worth their tokens beside turns and memories

OTHER = 0.5  # score of a summary that no hit touches


def ranked(summaries: Sequence[Candidate], hits: Sequence[Candidate]) -> list[Candidate]:
    """Return summaries, those first that tell of the best hits, otherwise in their order.

    A hit is within the topic whose summary is the first that reaches up to its turn. Summaries of a whole conversation
    are touched by no hit.
    """
    ends = sorted((end, one.memory.id) for one in summaries if one.memory.topic is not None for end in _end(one.memory))
    best = max((one.score for one in hits), default=0.0)
    conversations = {one.memory.conversation for one in summaries}
    touched: dict[str, float] = {}
    for hit in hits:
        turn = hit.memory.turn
        place = len(ends) if turn is None else bisect_left(ends, (turn, ""))
        if place < len(ends) and best > 0 and hit.memory.conversation in conversations:
            name = ends[place][1]
            touched[name] = max(touched.get(name, OTHER), OTHER + (1 - OTHER) * hit.score / best)
    scored = [msgspec.structs.replace(one, score=touched.get(one.memory.id, OTHER)) for one in summaries]
    return sorted(scored, key=lambda one: -one.score)


def repeated(summaries: Sequence[Candidate], shown: Collection[str]) -> frozenset[str]:
    """Return the ids of summaries that tell nothing new: all that they are made from is shown, or is such a summary."""
    known = {*shown}
    found = set[str]()
    while True:
        more = {
            one.memory.id
            for one in summaries
            if one.memory.id not in found and one.memory.derived_from and known.issuperset(one.memory.derived_from)
        }
        if not more:
            return frozenset(found)
        found |= more
        known |= more


def _end(summary: Memory) -> Sequence[int]:
    turn = summary.structure.get("up_to")
    return [turn] if isinstance(turn, int) else []


NAMED = 10  # memories that were left out, named at most
WEIGHED, EACH = 500_000, 8  # characters of a section's candidates, and more for each token of the budget
BARE = frozenset({"profile", "summaries", "about"})  # sections without days


class Found(msgspec.Struct, frozen=True):
    """Memories found for a section, best first, and the spaces that were read for it.

    `answer` is None where nothing was searched for. `seq` is the point of the space that was asked.
    """

    name: SectionName
    memories: Sequence[tuple[Memory, float]]
    spaces: Sequence[SpaceRead]
    seq: Seq
    answer: Answered | None = None
    degraded: tuple[str, ...] = ()


class Assembly:
    """Fills the sections of one request."""

    def __init__(self, request: Request, found: Sequence[Found], sizes: Sizes) -> None:
        """`found` has the sections in the order in which they are filled."""
        self._request = request
        self._found = found = [within(one, WEIGHED + EACH * request.token_budget) for one in found]
        self._counter = counter(request.encoding)
        self._candidates: dict[SectionName, list[Candidate]] = {
            one.name: sized(one, sizes, self._counter) for one in found
        }
        if "summaries" in self._candidates:
            of = self._candidates["summaries"]
            self._candidates["summaries"] = ranked(of, self._candidates.get("memories", ()))

    def context(self) -> tuple[Context, Mapping[str, Memory]]:
        """Return the context, and the memories in its text by id."""
        budget = self._request.token_budget
        room = budget
        while True:
            filled = self._filled(room)
            text = self._text(filled)
            tokens = self._counter.count(text.text)
            if tokens <= budget:
                return self._answer(filled, text, tokens), _shown(text)
            if room <= 0:
                return self._answer({}, Text(""), 0), {}
            room = min(room - 1, room * budget // tokens)

    def _filled(self, room: int) -> dict[SectionName, Chosen]:
        """Return what each section shows, for a text of about `room` tokens."""
        left = room - self._around()
        filled: dict[SectionName, Chosen] = {}
        shown: set[str] = set()
        for name, candidates in self._candidates.items():
            wanted = self._request.wanted[name]
            above = self._title(name)
            limit = left if wanted.max_tokens is None else min(left, wanted.max_tokens)
            known = shown | repeated(candidates, _whole(filled)) if name == "summaries" else shown
            known = frozenset[str]() if name in EXCERPTS else known
            fresh = [one for one in candidates if one.memory.id not in known]
            if limit <= above or not fresh:
                continue
            filled[name] = chosen(fresh, self._request.query, limit - above, self._counter, self._style(name))
            if name in EXCERPTS:
                filled[name] = _excerpts(filled[name])
            else:
                shown |= filled[name].ids
            left -= filled[name].tokens + above
        return filled

    def _style(self, name: SectionName) -> Style:
        return Style(whole=self._request.compress == "never", days=name not in BARE, by_turn=name == "recent")

    def _around(self) -> int:
        """Return the tokens of the text without its sections."""
        if self._request.template is None:
            return self._counter.short(f"{NOTICE}\n")
        return self._counter.count(self._text({}).text)

    def _text(self, filled: Mapping[SectionName, Chosen]) -> Text:
        """Return the sections in the order of the request."""
        parts = [
            Part(name, filled.get(name, Chosen()).shown, days=name not in BARE, note=self._note(name))
            for name in self._request.wanted
        ]
        return laid_out(parts, self._request.template, self._request.query)

    def _note(self, name: SectionName) -> str:
        answer = self._answers.get(name)
        return NOTHING if name == "memories" and answer is not None and not answer.hits else ""

    @property
    def _main(self) -> Found:
        """The section whose evidence is that of the context: the memories, else the first that is searched for."""
        return max(self._found, key=lambda one: (one.name == "memories", one.answer is not None))

    @property
    def _answers(self) -> Mapping[SectionName, Answered]:
        return {one.name: one.answer for one in self._found if one.answer is not None}

    @property
    def _lacks(self) -> Iterator[str]:
        """Yield in words what could not be done."""
        for one in self._found:
            yield from () if one.answer is None else one.answer.degraded
            yield from one.degraded

    def _answer(self, filled: Mapping[SectionName, Chosen], text: Text, tokens: int) -> Context:
        request = self._request
        left_out, left_out_total = self._left_out(filled)
        main = self._main
        first = main.answer
        return Context(
            text=text.text,
            tokens=tokens,
            token_budget=request.token_budget,
            encoding=request.encoding,
            evidence="none" if first is None else first.evidence,
            strength=0.0 if first is None else first.strength,
            strategy=request.mode if first is None else first.strategy,
            sections=tuple(self._section(name, filled) for name in request.wanted),
            citations=tuple(_citations(text)),
            left_out=tuple(left_out),
            left_out_total=left_out_total,
            next_budget=request.token_budget + left_out[0].tokens if left_out else None,
            degraded=tuple(dict.fromkeys(self._lacks)),
            spaces=tuple(main.spaces),
            seq=main.seq,
        )

    def _section(self, name: SectionName, filled: Mapping[SectionName, Chosen]) -> Section:
        own = filled.get(name, Chosen())
        above = self._title(name) if own.shown else 0
        return Section(name=name, tokens=own.tokens + above, memories=len(own.shown), note=self._note(name).strip())

    def _title(self, name: SectionName) -> int:
        """Return the tokens of the line above a section."""
        return self._counter.short(title(name, len(self._found))) if self._request.template is None else 0

    def _left_out(self, filled: Mapping[SectionName, Chosen]) -> tuple[list[LeftOut], int]:
        """Return the first of what was found and is nowhere in the text, the best memories first, and their number."""
        seen = {one for name, own in filled.items() if name not in EXCERPTS for one in own.ids}
        seen |= repeated(self._candidates.get("summaries", ()), _whole(filled))
        found: list[LeftOut] = []
        total = 0
        names: list[SectionName] = [name for name in self._candidates if name not in EXCERPTS]
        for name in reversed(names):
            reason = "budget" if self._request.wanted[name].max_tokens is None else "section"
            fresh = [one for one in self._candidates[name] if one.memory.id not in seen]
            found += [
                LeftOut(
                    id=one.memory.id,
                    space=one.memory.space,
                    section=name,
                    score=one.score,
                    tokens=one.tokens,
                    reason=reason,
                )
                for one in fresh[: NAMED - len(found)]
            ]
            total += len(fresh)
            seen.update(one.memory.id for one in fresh)
        return found, total


def _whole(filled: Mapping[SectionName, Chosen]) -> frozenset[str]:
    """Return the ids of the memories that are shown whole."""
    return frozenset(one.memory.id for own in filled.values() for one in own.shown if not one.cut)


def _shown(text: Text) -> Mapping[str, Memory]:
    """Return the memories in a text by id; a memory itself counts before a line about it."""
    ordered = sorted(text.places, key=lambda one: one[0] not in EXCERPTS)
    return {place.shown.memory.id: place.shown.memory for _, place in ordered}


def _excerpts(own: Chosen) -> Chosen:
    """Return lines about memories marked as cut: not all of the memory is there."""
    return Chosen(tuple(msgspec.structs.replace(one, cut=True) for one in own.shown), own.tokens)


def within(found: Found, characters: int) -> Found:
    """Return a section with only its best memories when all of them are longer than so many characters."""
    for place, (memory, _) in enumerate(found.memories):
        characters -= len(memory.content)
        if characters < 0 and place:
            lack = f"{found.name}: only the best {place} of {len(found.memories)} memories were weighed; they are long"
            return msgspec.structs.replace(found, memories=found.memories[:place], degraded=(*found.degraded, lack))
    return found


def sized(found: Found, sizes: Sizes, counts: Counter) -> list[Candidate]:
    """Return the memories of a section with their sizes."""
    memories = [memory for memory, _ in found.memories]
    excerpts = found.name in EXCERPTS  # the sizes that are kept are those of whole memories
    features = [measure(one.content, counts) for one in memories] if excerpts else sizes.of(memories, counts)
    return [
        candidate(memory, score, size, counts) for (memory, score), size in zip(found.memories, features, strict=True)
    ]


def _citations(text: Text) -> Iterator[Citation]:
    for n, (name, place) in enumerate(text.places, start=1):
        memory = place.shown.memory
        yield Citation(
            n=n,
            id=memory.id,
            space=memory.space,
            version=memory.version,
            section=name,
            start=place.start,
            stop=place.stop,
            cut=place.shown.cut,
            score=None if name in LISTED else place.shown.score,
        )

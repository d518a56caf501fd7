"""Fills the sections of a context from what was found, within its budget, and says what the text rests on."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from muisti.core.conversations.context.choosing import Candidate, Chosen, Style, candidate, chosen
from muisti.core.conversations.context.counting import Counter, counter
from muisti.core.conversations.context.rendering import NOTICE, Part, Sizes, Text, laid_out, title
from muisti.core.conversations.context.request import EXCERPTS, LISTED, NEAREST, NOTHING, Request
from muisti.core.conversations.context.weights import is_unsure, measure
from muisti.core.model.context import Citation, Context, LeftOut, Reason, Section, SectionName, SpaceRead
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

    `answer` is None where nothing was searched for. `seq` is the point of the space that was asked. `filler` has the
    ids of memories that say little beside the best.
    """

    name: SectionName
    memories: Sequence[tuple[Memory, float]]
    spaces: Sequence[SpaceRead]
    seq: Seq
    answer: Answered | None = None
    degraded: tuple[str, ...] = ()
    filler: frozenset[str] = frozenset()


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
        self._filler = {one.name: one.filler for one in found}
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
            above = self._title(name) + self._counter.short(self._note(name))
            limit = left if wanted.max_tokens is None else min(left, wanted.max_tokens)
            known = shown | repeated(candidates, _whole(filled)) if name == "summaries" else shown
            known = self._filler[name] | (frozenset[str]() if name in EXCERPTS else known)
            fresh = [one for one in candidates if one.memory.id not in known]
            if limit <= above or not fresh:
                continue
            style = Style(whole=self._request.compress == "never", days=name not in BARE, by_turn=name == "recent")
            filled[name] = chosen(fresh, self._request.query, limit - above, self._counter, style)
            if name in EXCERPTS:
                own = filled[name]  # lines about memories: not all of the memory is there
                filled[name] = Chosen(tuple(msgspec.structs.replace(one, cut=True) for one in own.shown), own.tokens)
            else:
                shown |= filled[name].ids
            left -= filled[name].tokens + above
        return filled

    def _around(self) -> int:
        """Return the tokens of the text without its sections."""
        if self._request.template is None:
            return self._counter.short(f"{NOTICE}\n")
        return self._counter.count(self._text({}).text)

    def _text(self, filled: Mapping[SectionName, Chosen]) -> Text:
        parts = [
            Part(name, own, days=name not in BARE, note=self._note(name, bool(own)))
            for name in self._request.wanted
            for own in [filled.get(name, Chosen()).shown]
        ]
        return laid_out(parts, self._request.template, self._request.query)

    def _note(self, name: SectionName, shown: bool = True) -> str:
        """Return the line above the section `memories`, or in its place: that there is no evidence, or nothing."""
        answer = self._answers.get(name)
        if name != "memories" or answer is None:
            return ""
        if len(self._filler[name]) == len(answer.hits):
            return NOTHING
        return NEAREST if shown and is_unsure(answer) else ""

    @property
    def _main(self) -> Found:
        """The section whose evidence is that of the context: the memories, else the first that is searched for."""
        return max(self._found, key=lambda one: (one.name == "memories", one.answer is not None))

    @property
    def _answers(self) -> Mapping[SectionName, Answered]:
        return {one.name: one.answer for one in self._found if one.answer is not None}

    @property
    def _lacks(self) -> Iterator[str]:
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
            next_budget=next((request.token_budget + one.tokens for one in left_out if one.reason != "filler"), None),
            degraded=tuple(dict.fromkeys(self._lacks)),
            spaces=tuple(main.spaces),
            seq=main.seq,
        )

    def _section(self, name: SectionName, filled: Mapping[SectionName, Chosen]) -> Section:
        own = filled.get(name, Chosen())
        note = self._note(name, bool(own.shown))
        above = self._title(name) + self._counter.short(note) if own.shown else 0
        return Section(name=name, tokens=own.tokens + above, memories=len(own.shown), note=note.strip())

    def _title(self, name: SectionName) -> int:
        return self._counter.short(title(name, len(self._found))) if self._request.template is None else 0

    def _left_out(self, filled: Mapping[SectionName, Chosen]) -> tuple[list[LeftOut], int]:
        """Return the first of what was found and is nowhere in the text, the best memories first, and their number."""
        seen = {one for name, own in filled.items() if name not in EXCERPTS for one in own.ids}
        seen |= repeated(self._candidates.get("summaries", ()), _whole(filled))
        found: list[LeftOut] = []
        total = 0
        names: list[SectionName] = [name for name in self._candidates if name not in EXCERPTS]
        for name in reversed(names):
            room: Reason = "budget" if self._request.wanted[name].max_tokens is None else "section"
            fresh = [one for one in self._candidates[name] if one.memory.id not in seen]
            filler = self._filler[name]
            fresh.sort(key=lambda one: one.memory.id in filler)  # of these, none would fit with more tokens
            found += [
                LeftOut(
                    id=one.memory.id,
                    space=one.memory.space,
                    section=name,
                    score=one.score,
                    tokens=one.tokens,
                    reason="filler" if one.memory.id in filler else room,
                )
                for one in fresh[: NAMED - len(found)]
            ]
            total += len(fresh)
            seen.update(one.memory.id for one in fresh)
        return found, total


def _whole(filled: Mapping[SectionName, Chosen]) -> frozenset[str]:
    return frozenset(one.memory.id for own in filled.values() for one in own.shown if not one.cut)


def _shown(text: Text) -> Mapping[str, Memory]:
    """Return the memories in a text by id; a memory itself counts before a line about it."""
    ordered = sorted(text.places, key=lambda one: one[0] not in EXCERPTS)
    return {place.shown.memory.id: place.shown.memory for _, place in ordered}


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

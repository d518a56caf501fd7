"""Builds contexts: searches for each section, packs it into its room, and counts the whole text."""

from collections.abc import Mapping, Sequence

import msgspec

from muisti.core.context.choosing import Candidate, Chosen, candidate, chosen
from muisti.core.context.counting import Counter, counter
from muisti.core.context.layout import Part, Text, laid_out, title
from muisti.core.context.rendering import NOTICE
from muisti.core.context.request import Request
from muisti.core.context.sections import NOTHING, of_conversation, source
from muisti.core.context.sizes import Sizes
from muisti.core.identity.caller import Caller
from muisti.core.model.context import Citation, Context, LeftOut, Section, SectionName
from muisti.core.model.hits import Answer
from muisti.core.model.values import LIMIT_MAX, Memory, Seq
from muisti.core.query.filters import And, Filter, Leaf
from muisti.core.read.listing import NEWEST, page, page_of
from muisti.core.read.past import read_at
from muisti.core.search.searcher import Searcher
from muisti.core.store.database import Database

NAMED = 10  # memories that were left out, named at most
BARE = frozenset({"profile", "summaries"})  # sections without days


class Found(msgspec.Struct, frozen=True):
    """Memories found for a section, best first; `answer` is None where nothing was searched for."""

    name: SectionName
    memories: Sequence[tuple[Memory, float]]
    seq: Seq
    answer: Answer | None = None


class Builder:
    """Makes contexts. Thread-safe."""

    def __init__(self, database: Database, searcher: Searcher, sizes: Sizes) -> None:
        self._database = database
        self._searcher = searcher
        self._sizes = sizes

    def context(self, space: str, request: Request, caller: Caller, now: int) -> tuple[Context, Mapping[str, Memory]]:
        """Return the context of a request that was checked, and the memories in it by id.

        Raises:
            NotFound: there is no such space.
            ModelMismatch, EpochGone, PastRetention, PointAhead: as `Searcher.search`.
        """
        found = [self._found(space, name, request, caller, now) for name in _in_turn(request)]
        return _Assembly(request, found, self._sizes).context()

    def candidates(self, space: str, request: Request, caller: Caller, now: int) -> list[Candidate]:
        """Return what the section `memories` is chosen from, best first, with sizes."""
        return _sized(self._found(space, "memories", request, caller, now), self._sizes, counter(request.encoding))

    def _found(self, space: str, name: SectionName, request: Request, caller: Caller, now: int) -> Found:
        if name in ("recent", "summaries"):
            return self._listed(space, name, request, caller, now)
        of = source(name, request.wanted, request.filter)
        query = request.search(caller.only(of.filter), request.candidates, None if of.surely else request.min_evidence)
        answer = self._searcher.search(space, query, now)
        memories = [(hit.memory, hit.score) for hit in answer.hits]
        if of.surely and len(memories) < request.candidates:  # the rest has nothing in common with the query
            known = {memory.id for memory, _ in memories}
            rest, _ = self._newest(space, query.filter, request.candidates - len(memories) + len(known), request, now)
            memories += [(memory, 0.0) for memory in rest if memory.id not in known][: request.candidates]
        return Found(name, memories, answer.seq, answer)

    def _listed(self, space: str, name: SectionName, request: Request, caller: Caller, now: int) -> Found:
        """Return the last memories of the conversation, newest first, all of the same score."""
        assert request.conversation is not None
        only: list[Filter] = [of_conversation(request.conversation)]
        if name == "summaries":
            only.append(Leaf("kind", "eq", "summary"))
        newest, seq = self._newest(space, caller.only(And(tuple(only))), request.wanted[name].turns, request, now)
        return Found(name, [(memory, 1.0) for memory in newest], seq)

    def _newest(
        self, space: str, filter: Filter | None, limit: int, request: Request, now: int
    ) -> tuple[Sequence[Memory], Seq]:
        """Return the newest memories that a filter selects, and the point of history at which they were read."""
        limit = min(limit, LIMIT_MAX)
        row, _, (rows,) = read_at(
            self._database,
            space,
            request.as_of,
            now,
            lambda row, point: [page_of(row, filter, limit, NEWEST, None, point)],
        )
        return page(row, rows, limit, NEWEST).items, row.seq


def _in_turn(request: Request) -> list[SectionName]:
    """Return the sections in the order in which they are filled: the memories last, with all room that is left."""
    return sorted(request.wanted, key=lambda name: name == "memories")


class _Assembly:
    """Fills the sections of one request."""

    def __init__(self, request: Request, found: Sequence[Found], sizes: Sizes) -> None:
        self._request = request
        self._found = found
        self._counter = counter(request.encoding)
        self._candidates: Mapping[SectionName, list[Candidate]] = {
            one.name: _sized(one, sizes, self._counter) for one in found
        }
        self._whole = request.compress == "never"

    def context(self) -> tuple[Context, Mapping[str, Memory]]:
        budget = self._request.token_budget
        room = budget
        while True:
            filled = self._filled(room)
            text = self._text(filled)
            tokens = self._counter.count(text.text)
            if tokens <= budget:
                return self._answer(filled, text, tokens), {p.shown.memory.id: p.shown.memory for _, p in text.places}
            if room <= 0:
                empty = Text("")
                return self._answer({}, empty, 0), {}
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
            fresh = [one for one in candidates if one.memory.id not in shown]
            if limit <= above or not fresh:
                continue
            filled[name] = chosen(
                fresh,
                self._request.query,
                limit - above,
                self._counter,
                whole=self._whole,
                days=name not in BARE,
            )
            shown |= filled[name].ids
            left -= filled[name].tokens + above
        return filled

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
    def _answers(self) -> Mapping[SectionName, Answer]:
        return {one.name: one.answer for one in self._found if one.answer is not None}

    def _answer(self, filled: Mapping[SectionName, Chosen], text: Text, tokens: int) -> Context:
        request = self._request
        left_out, left_out_total = self._left_out(filled)
        answers = self._answers
        first = answers.get("memories") or next(iter(answers.values()), None)
        return Context(
            text=text.text,
            tokens=tokens,
            token_budget=request.token_budget,
            encoding=request.encoding,
            evidence="none" if first is None else first.evidence,
            strength=0.0 if first is None else first.strength,
            strategy=request.mode if first is None else first.strategy,
            sections=tuple(self._section(name, filled) for name in request.wanted),
            citations=tuple(
                Citation(
                    n=n,
                    id=place.shown.memory.id,
                    version=place.shown.memory.version,
                    section=name,
                    start=place.start,
                    stop=place.stop,
                    cut=place.shown.cut,
                    score=None if name in ("recent", "summaries") else place.shown.score,
                )
                for n, (name, place) in enumerate(text.places, start=1)
            ),
            left_out=tuple(left_out),
            left_out_total=left_out_total,
            next_budget=request.token_budget + left_out[0].tokens if left_out else None,
            degraded=tuple(dict.fromkeys(words for answer in answers.values() for words in answer.degraded)),
            seq=self._found[-1].seq,  # of the memories, which are filled last
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
        seen = {one for own in filled.values() for one in own.ids}
        found: list[LeftOut] = []
        total = 0
        names: list[SectionName] = [*self._candidates]
        for name in reversed(names):
            reason = "budget" if self._request.wanted[name].max_tokens is None else "section"
            fresh = [one for one in self._candidates[name] if one.memory.id not in seen]
            found += [
                LeftOut(id=one.memory.id, section=name, score=one.score, tokens=one.tokens, reason=reason)
                for one in fresh[: NAMED - len(found)]
            ]
            total += len(fresh)
            seen.update(one.memory.id for one in fresh)
        return found, total


def _sized(found: Found, sizes: Sizes, counts: Counter) -> list[Candidate]:
    features = sizes.of([memory for memory, _ in found.memories], counts)
    return [
        candidate(memory, score, size, counts) for (memory, score), size in zip(found.memories, features, strict=True)
    ]

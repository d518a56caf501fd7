"""Answers within a budget of tokens: as many memories as fit, and a note about the rest."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from muisti.core.conversations.context.choosing import Item, pack, values
from muisti.core.conversations.context.counting import LONG, counter
from muisti.core.conversations.context.weights import gathered
from muisti.core.model.choices import APPLIES
from muisti.core.model.hits import Answered, Hit, JointAnswer
from muisti.core.model.values import Memory, Page
from muisti.core.support.waiting import refuse_long
from muisti.service.tools.rendering import NOTICE, counted, located, one_line, quoted, shown

Json = dict[str, Any]
Render = Callable[[Json, int], tuple[Json, str]]  # an answer of one memory that names so many of the others

NEAREST = 120  # characters of the nearest memory, where nothing answers
NAMED = 5  # ids of memories that were left out, at most
_AROUND = 100  # tokens of an answer without memories and ids, at most; counting takes as long as a search
_ID = 40  # of the id of a memory that was left out, at most
_MARGIN = 12  # tokens of a score, and by which two texts together may take more than each alone
_ADDRESS = 8  # the part of the budget, one in so many, that the address of a memory may take when its content is cut
REMEMBERED = 20_000  # versions whose size is known


NO_PIECES = gathered([], "")  # an answer cuts no memory but one that stands alone


def tokens(text: str) -> int:
    """Count the tokens in the usual encoding; other models count slightly differently."""
    return counter().count(text)


def size(structured: Json, text: str = "") -> int:
    """Count the tokens of the larger form of a part."""
    return max(tokens(msgspec.json.encode(structured).decode()), tokens(text) if text else 0)


class _Costs:
    """Tokens of versions of memories, which never change; counting takes longer than the search that found them."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], int] = OrderedDict()

    def of(self, memories: Sequence[Memory], *, full: bool) -> list[int]:
        """Return the size of each memory.

        Raises:
            WouldWait: texts of unknown size are long, and this thread may not wait.
        """
        unknown = sum(len(one.content) for one in memories if self._version(one, full) not in self._known)
        if unknown > LONG:
            refuse_long()
        return [self._of(one, full) for one in memories]

    def _version(self, memory: Memory, full: bool) -> tuple[object, ...]:
        return memory.space, memory.id, memory.version, memory.updated_at, full

    def _of(self, memory: Memory, full: bool) -> int:
        """Return the size of the larger form: JSON has more around a content, text has marks and escapes."""
        version = self._version(memory, full)
        cost = self._known.get(version)
        if cost is None:
            about = msgspec.json.encode({**shown(memory, full=full), "content": ""}).decode()
            content = msgspec.json.encode(memory.content).decode()
            lines = memory.content.count("\n") + len(memory.content.splitlines())
            cost = tokens(one_line(about)) + tokens(content) + 2 * lines
            self._known[version] = cost
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return cost


_costs = _Costs()


def space_of(memory: Memory, *, several: bool) -> Json:
    """Return the space of a memory where an answer is of several; else nothing."""
    return {"space": memory.space} if several else {}


def packed(answer: Answered, max_tokens: int, *, full: bool = False) -> tuple[Json, str]:
    """Return the answer structured and as text, each within `max_tokens`.

    The top hit is always there, cut short if it does not fit.
    """
    hits = answer.hits
    named = min(NAMED, (max_tokens - _AROUND) // (2 * _ID))  # at most half of the budget
    around = _AROUND + _ID * min(len(hits), named) + (tokens(str(answer.degraded)) if answer.degraded else 0)
    several = isinstance(answer, JointAnswer)
    places = [space_of(hit.memory, several=several) | located(hit) | _stating(hit) for hit in hits]
    kept = _chosen(hits, places, max_tokens - around, full=full)
    if hits and 0 not in kept:
        passage, place = hits[0].passage, places[0]
        if size(place) > max_tokens // _ADDRESS:
            place = space_of(hits[0].memory, several=several)
        return _alone(
            hits[0].memory,
            hits[0].memory.content[passage.start : passage.stop],
            max_tokens,
            lambda one, names: _answered(answer, {0: {**_scored(hits[0], one), **place}}, names),
            named=named,
            full=full,
        )
    found = {at: _scored(hits[at], shown(hits[at].memory, full=full)) | places[at] for at in kept}
    return _answered(answer, found, named)


def fits(memories: Sequence[Memory], max_tokens: int, *, full: bool = False) -> int:
    """Return how many of them a page within `max_tokens` holds."""
    left = max_tokens - _AROUND
    for number, cost in enumerate(_costs.of(memories, full=full)):
        left -= cost + _MARGIN
        if left < 0:
            return number
    return len(memories)


def listed(page: Page, left_out: int, max_tokens: int, *, full: bool = False) -> tuple[Json, str]:
    """Return a page that fits, structured and as text; a memory that does not fit alone is cut short.

    `left_out`: how many of those asked for come on the next page.
    """
    if page.items and not fits(page.items, max_tokens, full=full):
        alone = page.items[0]
        cursor = page.next_cursor
        return _alone(
            alone, alone.content, max_tokens, lambda one, _: _page([one], cursor, left_out), named=0, full=full
        )
    return _page([shown(memory, full=full) for memory in page.items], page.next_cursor, left_out)


def _stating(hit: Hit) -> Json:
    return {"facts": [*hit.facts]} if hit.facts else {}


def _scored(hit: Hit, one: Json) -> Json:
    other = {"speaker": hit.speaker} if hit.speaker not in (None, hit.memory.author) else {}
    return {**one, **other, "score": round(hit.score, 3)}


def _chosen(hits: Sequence[Hit], places: Sequence[Json], left: int, *, full: bool) -> list[int]:
    """Return the places of the hits that go into the tokens that are left: those of a context, all whole."""
    costs = _costs.of([hit.memory for hit in hits], full=full)
    items = [
        Item(value=value, tokens=cost + _MARGIN + (size(place) if place else 0), around=0)
        for place, value, cost in zip(places, values([hit.score for hit in hits]), costs, strict=True)
    ]
    return sorted(pack(items, NO_PIECES, left, len).kept)


def _alone(
    memory: Memory, passage: str, max_tokens: int, render: Render, *, named: int, full: bool
) -> tuple[Json, str]:
    """Return an answer with one memory: whole if that fits when counted exactly, else cut short."""
    for wide in (True, False) if full else (False,):  # with less and less beside it
        one = shown(memory, full=wide)
        for names in dict.fromkeys((named, 0)):
            structured, text = render(one, names)
            if size(structured, text) <= max_tokens:
                return structured, text
    content, around = passage, _identity(memory, max_tokens)
    while True:
        structured, text = render({**around, "content": content}, 0)
        if size(structured, text) <= max_tokens or not content:
            return structured, text
        content = content[: len(content) * 2 // 3]


def _identity(memory: Memory, max_tokens: int) -> Json:
    """Return the fields that identify a memory whose content is cut. A long address is left out."""
    one = shown(memory)
    address = {name: one[name] for name in ("category", "key") if name in one}
    if size(address) > max_tokens // _ADDRESS:
        address = {}
    return {"id": memory.id, "version": memory.version, **address, "updated_at": one["updated_at"], "cut": True}


def _page(found: Sequence[Json], next_cursor: str | None, left_out: int) -> tuple[Json, str]:
    structured = {"memories": list(found), "next_cursor": next_cursor, "left_out": left_out, "notice": NOTICE}
    parts = [f"{counted(len(found))}. {NOTICE}", *map(quoted, found)]
    if next_cursor:
        rest = f"{left_out} more of those asked for did not fit. " if left_out else ""
        parts.append(f"{rest}More: cursor {next_cursor}")
    return structured, "\n\n".join(parts)


def _answered(answer: Answered, found: Mapping[int, Json], named: int) -> tuple[Json, str]:
    """Return the answer with the memories that fit, by their places, and the ids of the first `named` of the others."""
    kept = [*found.values()]
    rest = [hit for place, hit in enumerate(answer.hits) if place not in found]
    ids = [hit.memory.id for hit in rest[:named]]
    structured: Json = {
        "evidence": answer.evidence,
        "memories": kept,
        "left_out": {"count": len(rest), "ids": ids},
        "total": answer.total,
        "notice": NOTICE,
    }
    if answer.left_out:
        structured["doubtful"] = answer.left_out
    if answer.degraded:
        structured["degraded"] = list(answer.degraded)
    return structured, _text(answer, kept, len(rest), ids)


def _text(answer: Answered, kept: Sequence[Json], left_out: int, ids: Sequence[str]) -> str:
    parts = [_heading(answer, len(kept)), *(quoted(one) for one in kept)]
    if kept and (doubtful := answer.left_out):
        one = "1 more memory was found that probably doesn't answer this; applies 0 shows it"
        many = f"{doubtful} more memories were found that probably don't answer this; applies 0 shows them"
        parts.append(one if doubtful == 1 else many)
    if left_out:
        named = f": {', '.join(ids)}" if ids else ""
        parts.append(f"{left_out} more did not fit; get_memory reads them{named}")
    if answer.degraded:
        parts.append(f"Degraded: {'; '.join(answer.degraded)}")
    return "\n\n".join(parts)


def _heading(answer: Answered, number: int) -> str:
    """Return a line that says how surely the memories below it are about the question."""
    evidence = f"evidence: {answer.evidence}"
    if answer.nearest is not None:
        nearest = one_line(answer.nearest.memory.content)
        nearest = nearest if len(nearest) <= NEAREST else f"{nearest[:NEAREST]}…"
        return f"Nothing stored answers this ({evidence}). applies 0 shows what is nearest: {nearest}"
    if not answer.hits:
        return f"Nothing found ({evidence})."
    if answer.applies is not None and answer.applies < APPLIES:
        return f"Probably unrelated: {counted(number)}, {evidence}. {NOTICE}"
    if answer.evidence in ("none", "weak"):
        return f"Possibly related: {counted(number)}, {evidence}. {NOTICE}"
    return f"{counted(number)}, {evidence}. {NOTICE}"

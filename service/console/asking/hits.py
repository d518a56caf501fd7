"""Answers of a search as columns: hits with bars and marked words, and their ranks in the other column."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from muisti.service.console.asking.scores import LEAST, Bar, Piece, bar, factors, legend, reach
from muisti.service.console.asking.snippets import Snippet

# Matched words of a passage: the places that the API puts between asterisks, without asterisks of the text itself

MARK = "**"
CUT = "…"


class Run(NamedTuple):
    """A stretch of text, and whether it matches the question."""

    text: str
    is_match: bool


def marked(highlight: str | None, passage: str) -> list[Run]:
    """Return the text of a highlight in runs; the passage without marks when there is none.

    A match never begins with an asterisk, so an asterisk that the passage has at that place is its own.

    >>> found = marked("…**the **lake** at **noon**", "See **the lake at noon")
    >>> [run.text for run in found if run.is_match]
    ['lake', 'noon']
    """
    if highlight is None:
        return [Run(passage, is_match=False)] if passage else []
    for start in range(len(passage)):
        before = CUT if start else ""
        shown = highlight[len(before) :]
        is_here = highlight.startswith(before) and passage.startswith(shown.partition(MARK)[0], start)
        if is_here and (found := _aligned(shown, passage, start)) is not None:
            return _joined([Run(before, is_match=False), *found])
    return [Run(highlight, is_match=False)]


def _aligned(text: str, passage: str, at: int) -> list[Run] | None:
    """Return the runs of a text whose characters, but for marks, are those of the passage from a place on."""
    runs: list[Run] = []
    here, inside, begun = 0, False, 0
    while here < len(text):
        own = at < len(passage) and passage[at] == text[here]
        if text.startswith(MARK, here) and (inside or not own):
            runs.append(Run(text[begun:here], inside))
            inside = not inside
            here = begun = here + len(MARK)
        elif own:
            here, at = here + 1, at + 1
        elif text[here:] == CUT and not inside:
            here += 1
        else:
            return None
    return None if inside else [*runs, Run(text[begun:], is_match=False)]


def _joined(runs: list[Run]) -> list[Run]:
    """Join neighbours of one sort; leave out empty runs."""
    joined: list[Run] = []
    for one in runs:
        if one.text and joined and joined[-1].is_match == one.is_match:
            joined[-1] = Run(joined[-1].text + one.text, one.is_match)
        elif one.text:
            joined.append(one)
    return joined


WIDE = 1000
ROOM = 1.3  # length of the meter over the threshold of strong evidence

WORDS = {"none": "bad", "weak": "fair", "strong": "good", "uncalibrated": ""}


class Meter(NamedTuple):
    """A meter: a bar of `strength`, and the places of both thresholds on it; `known` is false without thresholds."""

    level: str
    kind: str
    told: str
    known: bool
    width: str = "0"
    weak: str = "0"
    strong: str = "0"
    weak_from: str = ""
    strong_from: str = ""
    weak_at: str = "0"
    strong_at: str = "0"


def meter(found: Mapping[str, Any]) -> Meter:
    """Return the meter of an answer.

    >>> found = {"evidence": "weak", "strength": 0.65, "thresholds": {"weak": 0.5, "strong": 1.0}, "strategy": "hybrid"}
    >>> made = meter(found)
    >>> made.width, made.weak, made.strong, made.told
    ('500.0', '384.6', '769.2', 'Strength 0.65: weak from 0.50, strong from 1.00.')
    """
    level, strength, ends = found["evidence"], found["strength"], found["thresholds"]
    kind = WORDS[level]
    if ends is None:
        return Meter(level, kind, _unknown(level, found["strategy"], strength), known=False)
    told = f"Strength {strength:.2f}: weak from {ends['weak']:.2f}, strong from {ends['strong']:.2f}."
    if level == "weak" and strength < ends["weak"]:
        told += " It counts as weak because one memory has every word."
    scale = WIDE / max(ROOM * ends["strong"], strength)
    return Meter(
        level=level,
        kind=kind,
        told=told,
        known=True,
        width=f"{strength * scale:.1f}",
        weak=f"{ends['weak'] * scale:.1f}",
        strong=f"{ends['strong'] * scale:.1f}",
        weak_at=f"{ends['weak'] * scale * 100 / WIDE:.1f}",
        strong_at=f"{ends['strong'] * scale * 100 / WIDE:.1f}",
        weak_from=f"{ends['weak']:.2f}",
        strong_from=f"{ends['strong']:.2f}",
    )


def _unknown(level: str, strategy: str, strength: float) -> str:
    if level == "uncalibrated":
        return f"Strength {strength:.2f}. Its worth is not known: the model has no thresholds (muisti calibrate)."
    return f"The mode {strategy} ranks no text: evidence only says whether anything was found."


RANKINGS = {"lexical": "by words", "dense": "by meaning", "graph": "by ties"}
UP, DOWN = "▲", "▼"
CONTENT_MAX = 600  # characters of a passage that is shown without marks


class Moved(NamedTuple):
    """The place of a hit in the other column, in words, and the class of its badge."""

    told: str
    kind: str


class HitView(NamedTuple):
    """A hit as it is drawn."""

    rank: int
    id: str
    title: str
    runs: Sequence[Run]
    bar: Bar
    ranks: str
    sentence: str
    factors: Sequence[tuple[str, str]]
    badges: Sequence[str]
    trust: str
    at: str
    place: str
    moved: Moved | None


class Expected(NamedTuple):
    """A memory that was expected, with the reason why it is a hit or none."""

    id: str
    reason: str
    sentence: str
    rank: int | None
    ranks: str
    conditions: Sequence[str]
    successor: str | None
    known: bool
    bar: Bar | None
    last: str | None
    factors: Sequence[tuple[str, str]]


class Column(NamedTuple):
    """An answer beside its settings."""

    name: str
    meter: Meter
    hits: Sequence[HitView]
    total: int
    strategy: str
    title: str
    notes: Sequence[str]
    expected: Expected | None
    copies: Sequence[Snippet]
    nothing: str
    advice: Sequence[str]


class Answered(NamedTuple):
    """An answer of the API, the name of its column, and the request as texts to copy."""

    name: str
    found: Mapping[str, Any]
    copies: Sequence[Snippet]


def columns(answers: Sequence[Answered], *, filtered: bool) -> tuple[list[Column], list[Piece]]:
    """Return a column for each answer, drawn to one scale, and the legend of all their bars."""
    longest = max((reach(parts) for one in answers for parts in _parts(one.found)), default=0.0)
    longest = max(longest, LEAST)
    places = [{hit["memory"]["id"]: rank for rank, hit in enumerate(one.found["hits"], 1)} for one in answers]
    drawn = [
        _column(one, longest, places[1 - at] if len(answers) == 2 else None, filtered=filtered)
        for at, one in enumerate(answers)
    ]
    bars = [hit.bar for one in drawn for hit in one.hits]
    bars += [one.expected.bar for one in drawn if one.expected is not None and one.expected.bar is not None]
    return drawn, legend(bars)


def _parts(found: Mapping[str, Any]) -> list[Mapping[str, float]]:
    told = [hit["explain"] for hit in found["hits"]] + [one["explain"] for one in found.get("explained", ())]
    return [one["parts"] for one in told if one is not None]


def _column(one: Answered, longest: float, others: Mapping[str, int] | None, *, filtered: bool) -> Column:
    found = one.found
    notes = list(found["degraded"])
    if (intent := found.get("intent")) is not None:
        notes.insert(0, f"Read as {intent['kind']}: {intent['sentence']}")
    notes += [_instruction(each) for each in found.get("instructions", ())]
    explained = found.get("explained", ())
    nothing, advice = _nothing(found, filtered=filtered)
    return Column(
        name=one.name,
        meter=meter(found),
        hits=[_hit(rank, hit, longest, others) for rank, hit in enumerate(found["hits"], 1)],
        total=found["total"],
        strategy=found["strategy"],
        title=_title(len(found["hits"]), nearest=bool(nothing)),
        notes=notes,
        expected=_expected(explained[0], longest) if explained else None,
        copies=one.copies,
        nothing=nothing,
        advice=advice,
    )


def _instruction(one: Mapping[str, Any]) -> str:
    """Return a standing instruction that applies, and why it counts as one."""
    why = "a guard" if one["reason"] == "type" else "reads like one"
    content = one["memory"]["content"]
    return f"Standing instruction ({why}): {content[:CONTENT_MAX]}{' …' if len(content) > CONTENT_MAX else ''}"


def _hit(rank: int, hit: Mapping[str, Any], longest: float, others: Mapping[str, int] | None) -> HitView:
    memory, passage = hit["memory"], hit["passage"]
    text = memory["content"][passage["start"] : passage["stop"]]
    shown = text if len(text) <= CONTENT_MAX or hit.get("highlight") else text[:CONTENT_MAX].rstrip() + " …"
    at = memory["event_at"] or memory["created_at"]
    return HitView(
        rank=rank,
        id=memory["id"],
        title=_address(memory),
        runs=marked(hit.get("highlight"), text) if hit.get("highlight") else marked(None, shown),
        bar=bar(hit["explain"]["parts"], hit["score"], longest),
        ranks=_ranks(hit["ranks"]),
        sentence=hit["explain"]["sentence"],
        factors=factors(hit["explain"]),
        badges=_badges(memory),
        trust=f"trust {memory['trust']} %",
        at=at,
        place=_place(hit.get("place")),
        moved=None if others is None else moved(rank, others.get(memory["id"])),
    )


def moved(rank: int, other: int | None) -> Moved:
    """Return how the rank of a hit differs from that in the other column.

    >>> [moved(2, other).told for other in (2, 5, 1, None)]
    ['same rank', '▲ 3 above the other', '▼ 1 below the other', 'only here']
    """
    if other is None:
        return Moved("only here", "good")
    if other == rank:
        return Moved("same rank", "")
    if rank < other:
        return Moved(f"{UP} {other - rank} above the other", "good")
    return Moved(f"{DOWN} {rank - other} below the other", "fair")


def _expected(one: Mapping[str, Any], longest: float) -> Expected:
    explain = one["explain"]
    return Expected(
        id=one["id"],
        reason=one["reason"].replace("_", " "),
        sentence=one["sentence"],
        rank=one["rank"],
        ranks=_ranks(one["ranks"]),
        conditions=one["conditions"],
        successor=one["superseded_by"],
        known=one["reason"] != "unknown",
        bar=None if explain is None or one["score"] is None else bar(explain["parts"], one["score"], longest),
        last=None if one["last_score"] is None else f"{one['last_score']:.3f}",
        factors=[] if explain is None else factors(explain),
    )


def _ranks(ranks: Mapping[str, int]) -> str:
    return ", ".join(f"{rank:,} {RANKINGS.get(name, 'by ' + name)}" for name, rank in ranks.items())


def _address(memory: Mapping[str, Any]) -> str:
    return "/".join(filter(None, (memory["category"], memory["key"])))


def _badges(memory: Mapping[str, Any]) -> list[str]:
    found = [memory["type"]]
    found += [memory["kind"]] if memory["kind"] != "memory" else []
    found += [memory["status"]] if memory["status"] != "active" else []
    found += [f"{memory['importance']} importance"] if memory["importance"] != "medium" else []
    found += [f"by {memory['author']}"] if memory["author"] else []
    return found + [f"#{tag}" for tag in memory["tags"]]


def _place(place: Mapping[str, Any] | None) -> str:
    if place is None:
        return ""
    page, first, last = place["page"], place["first_line"], place["last_line"]
    lines = f"lines {first}–{last}" if page is None else f"page {page}"
    return " › ".join([place["path"], *place["headings"], lines])


def _title(hits: int, *, nearest: bool) -> str:
    """Return the title of an answer. Hits without evidence are only what comes nearest.

    >>> _title(1, nearest=False), _title(9, nearest=True), _title(0, nearest=True)
    ('1 hit', '9 memories come nearest', 'No hits')
    """
    if not hits:
        return "No hits"
    if nearest:
        return f"{hits} memories come nearest" if hits > 1 else "1 memory comes nearest"
    return f"{hits} hits" if hits > 1 else "1 hit"


def _nothing(found: Mapping[str, Any], *, filtered: bool) -> tuple[str, list[str]]:
    """Return in words that nothing was found, and what to try; empty when something was."""
    if not found["total"]:
        told = "Nothing passes the filter." if filtered else "Nothing here matches."
        return told, ["Take the filter away."] if filtered else ["Rank by meaning and words, with any word."]
    if found["evidence"] != "none" and found["hits"]:
        return "", []
    if found["hits"] and found["strategy"] not in ("metadata", "recent"):
        told = "Nothing about this is stored here. What comes nearest:"
    elif found["evidence"] == "none":
        told = "Nothing about this is stored here."
    else:
        told = "There is less evidence than was asked for, so no hits are shown."
    advice = ["Take the filter away."] if filtered else []
    advice += ["Say it in other words: names and numbers as they were written."]
    return told, [*advice, "Enter the id of a memory that you expected under “Why not this one?”."]

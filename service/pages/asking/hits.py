"""Answers of a search as columns: hits with bars and marked words, and their ranks in the other column."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from muisti.service.pages.asking.marking import marked
from muisti.service.pages.asking.scores import LEAST, USUAL, WIDE, Piece, bar, factors, legend, reach

REPHRASE = "Rephrase: use names and numbers as they were written."
NEAREST = 120  # characters of the nearest memory, where nothing answers


ROOM = 1.3  # length of the meter over the threshold of strong evidence

WORDS = {"none": "bad", "weak": "fair", "strong": "good", "uncalibrated": ""}


def meter(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the meter of an answer: a bar, and the places of both thresholds on it where they are `known`.

    >>> found = {"evidence": "weak", "strength": 0.65, "thresholds": {"weak": 0.5, "strong": 1.0}, "strategy": "hybrid"}
    >>> made = meter(found)
    >>> made["width"], made["weak"], made["strong"], made["told"]
    ('500.0', '384.6', '769.2', 'Strength 0.65: weak from 0.50, strong from 1.00.')
    """
    level, strength, ends = found["evidence"], found["strength"], found["thresholds"]
    kind = WORDS[level]
    if ends is None:
        return {"level": level, "kind": kind, "told": _unknown(level, found["strategy"], strength), "known": False}
    told = f"Strength {strength:.2f}: weak from {ends['weak']:.2f}, strong from {ends['strong']:.2f}."
    if level == "weak" and strength < ends["weak"]:
        told += " It counts as weak because one memory has every word."
    scale = WIDE / max(ROOM * ends["strong"], strength)
    return {
        "level": level,
        "kind": kind,
        "told": told,
        "known": True,
        "width": f"{strength * scale:.1f}",
        "weak": f"{ends['weak'] * scale:.1f}",
        "strong": f"{ends['strong'] * scale:.1f}",
        "weak_at": f"{ends['weak'] * scale * 100 / WIDE:.1f}",
        "strong_at": f"{ends['strong'] * scale * 100 / WIDE:.1f}",
        "weak_from": f"{ends['weak']:.2f}",
        "strong_from": f"{ends['strong']:.2f}",
    }


def _unknown(level: str, strategy: str, strength: float) -> str:
    if level == "uncalibrated":
        return f"Strength {strength:.2f}. Its worth is not known: the model has no thresholds (muisti calibrate)."
    return f"The mode {strategy} ranks no text: evidence only says whether anything was found."


RANKINGS = {"lexical": "by words", "dense": "by meaning", "graph": "by ties"}
UP, DOWN = "▲", "▼"
CONTENT_MAX = 600  # characters of a passage that is shown without marks


class Answered(NamedTuple):
    """An answer of the API, the name of its column, and the request as texts to copy."""

    name: str
    found: Mapping[str, Any]
    copies: Sequence[Any]


def columns(answers: Sequence[Answered], *, filtered: bool) -> tuple[list[dict[str, Any]], list[Piece]]:
    """Return a column for each answer, drawn to one scale, and the legend of all their bars."""
    longest = max((reach(parts) for one in answers for parts in _parts(one.found)), default=0.0)
    longest = max(longest, LEAST)
    places = [{hit["memory"]["id"]: rank for rank, hit in enumerate(one.found["hits"], 1)} for one in answers]
    drawn = [
        _column(one, longest, places[1 - at] if len(answers) == 2 else None, filtered=filtered)
        for at, one in enumerate(answers)
    ]
    bars = [hit["bar"] for one in drawn for hit in one["hits"]]
    bars += [one["expected"]["bar"] for one in drawn if one["expected"] and one["expected"]["bar"] is not None]
    return drawn, legend(bars)


def _parts(found: Mapping[str, Any]) -> list[Mapping[str, float]]:
    told = [hit["explain"] for hit in found["hits"]] + [one["explain"] for one in found.get("explained", ())]
    return [one["parts"] for one in told if one is not None]


def _column(one: Answered, longest: float, others: Mapping[str, int] | None, *, filtered: bool) -> dict[str, Any]:
    found = one.found
    notes = list(found["degraded"])
    if (intent := found.get("intent")) is not None:
        notes.insert(0, f"Read as {intent['kind']}: {intent['sentence']}")
    notes += [_instruction(each) for each in found.get("instructions", ())]
    explained = found.get("explained", ())
    nothing, advice = _nothing(found, filtered=filtered)
    return {
        "name": one.name,
        "meter": meter(found),
        "hits": [_hit(rank, hit, longest, others) for rank, hit in enumerate(found["hits"], 1)],
        "total": found["total"],
        "strategy": found["strategy"],
        "title": _title(len(found["hits"]), found["left_out"], nearest=bool(nothing)),
        "notes": notes,
        "expected": _expected(explained[0], longest) if explained else None,
        "copies": one.copies,
        "nothing": nothing,
        "advice": advice,
    }


def _instruction(one: Mapping[str, Any]) -> str:
    """Return a standing instruction that applies, and why it counts as one."""
    why = "a guard" if one["reason"] == "type" else "reads like one"
    content = one["memory"]["content"]
    return f"Standing instruction ({why}): {content[:CONTENT_MAX]}{' …' if len(content) > CONTENT_MAX else ''}"


def _hit(rank: int, hit: Mapping[str, Any], longest: float, others: Mapping[str, int] | None) -> dict[str, Any]:
    memory, passage = hit["memory"], hit["passage"]
    text = memory["content"][passage["start"] : passage["stop"]]
    shown = text if len(text) <= CONTENT_MAX or hit.get("highlight") else text[:CONTENT_MAX].rstrip() + " …"
    return {
        **hit,
        "rank": rank,
        "title": "/".join(filter(None, (memory["category"], memory["key"]))),
        "runs": marked(hit.get("highlight"), text) if hit.get("highlight") else marked(None, shown),
        "bar": bar(hit["explain"]["parts"], hit["score"], longest),
        "ranks": _ranks(hit["ranks"]),
        "factors": factors(hit["explain"]),
        "badges": _badges(memory),
        "speaker": hit.get("speaker"),
        "facts": hit.get("facts", ()),
        "place": _place(hit.get("place")),
        "moved": None if others is None else moved(rank, others.get(memory["id"])),
    }


def moved(rank: int, other: int | None) -> dict[str, Any]:
    """Return how the rank of a hit differs from that in the other column.

    >>> [moved(2, other)["told"] for other in (2, 5, 1, None)]
    ['same rank', '▲ 3 above the other', '▼ 1 below the other', 'only here']
    """
    if other is None:
        return {"told": "only here", "kind": "good"}
    if other == rank:
        return {"told": "same rank", "kind": ""}
    if rank < other:
        return {"told": f"{UP} {other - rank} above the other", "kind": "good"}
    return {"told": f"{DOWN} {rank - other} below the other", "kind": "fair"}


def _expected(one: Mapping[str, Any], longest: float) -> dict[str, Any]:
    explain = one["explain"]
    return {
        **one,
        "ranks": _ranks(one["ranks"]),
        "bar": None if explain is None or one["score"] is None else bar(explain["parts"], one["score"], longest),
        "factors": [] if explain is None else factors(explain),
    }


def _ranks(ranks: Mapping[str, int]) -> str:
    return ", ".join(f"{rank:,} {RANKINGS.get(name, 'by ' + name)}" for name, rank in ranks.items())


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


def _title(hits: int, left_out: int = 0, *, nearest: bool) -> str:
    """Return the title of an answer. Hits without evidence are only what comes nearest.

    >>> _title(1, nearest=False), _title(9, nearest=True), _title(0, nearest=True), _title(2, 4, nearest=False)
    ('1 hit', '9 memories come nearest', 'No hits', "2 hits; 4 more probably don't answer")
    """
    if not hits:
        return "No hits"
    if nearest:
        return f"{hits} memories come nearest" if hits > 1 else "1 memory comes nearest"
    more = f"; {left_out} more probably don't answer" if left_out else ""
    return f"{hits} hits{more}" if hits > 1 else f"1 hit{more}"


def _only_near(found: Mapping[str, Any]) -> bool:
    """Return whether the hits are only what comes nearest: probably none of them answers."""
    return found["evidence"] == "none" if found["applies"] is None else bool(found["applies"] < USUAL)


def _nothing(found: Mapping[str, Any], *, filtered: bool) -> tuple[str, list[str]]:
    """Return in words that nothing was found, and what to try; empty when something was."""
    if not found["total"]:
        told = "Nothing matches the filter." if filtered else "Nothing here matches."
        return told, ["Remove the filter."] if filtered else ["Rank by meaning and words, with any word."]
    if found["hits"] and not _only_near(found):
        return "", []
    if found["hits"] and found["strategy"] not in ("metadata", "recent"):
        told = "Nothing about this is stored here. What comes nearest:"
    elif found["left_out"]:
        nearest = found["nearest"]["memory"]["content"][:NEAREST]
        told = f"Nothing stored answers this; what comes nearest is “{nearest}”."
        return told, ["Show all hits that were found.", REPHRASE]
    elif found["evidence"] == "none":
        told = "Nothing about this is stored here."
    else:
        told = "The evidence is below your minimum, so no hits are shown."
    advice = ["Remove the filter."] if filtered else []
    advice += [REPHRASE]
    return told, [*advice, "Name the memory that you expected under “Expected another memory?”."]

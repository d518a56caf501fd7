"""Explanations of a score: its summands, which add up to it, and a sentence.

A factor f changes a score s by s * f - s, so each factor is the summand of its own change. The order is that in which
a search computes the score. Most names are those of an explanation's fields. `bound` is the change that keeps a sum of
rankings in [0, 1]. `cap` is the part above 1 in the end. `listed` is the 1 of all memories in a mode that ranks no
text.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import UNSET, UnsetType

from muisti.core.model.choices import Mode
from muisti.core.model.hits import Explanation
from muisti.core.search.default_score import LATE, ORDER
from muisti.core.search.lifted import raised
from muisti.core.search.rankers import Name

SPACE = "space_weight"
ROUNDING = 1e-12  # smaller summands come from the rounding of sums
FIELDS: Mapping[Name, str] = {"lexical": "lexical", "dense": "cosine", "graph": "graph"}


def parts_of(explain: Explanation, shares: Mapping[Name, float]) -> dict[str, float]:
    """Return the summands by name, in order, without those that are 0.

    `shares` are those of the rankings in the fused score, empty for a single ranking and for the absolute fusion.
    """
    if not isinstance(explain.composite, UnsetType) and not isinstance(explain.signals, UnsetType):
        base: dict[str, float] = {name: share.contribution for name, share in explain.signals.items()}
        score = explain.composite
    else:
        base, score = dict(_fused(explain, shares)), explain.fused
        base["bound"] = score - sum(base.values())
    return {name: part for name, part in (*base.items(), *_changes(explain, score)) if abs(part) > ROUNDING}


def _fused(explain: Explanation, shares: Mapping[Name, float]) -> Iterator[tuple[str, float]]:
    """Yield what the rankings bring to the fused score, before it is bounded."""
    if explain.blend is not None:
        yield from _blended(explain, explain.blend)
    elif shares:
        yield from ((FIELDS[name], share) for name, share in shares.items())
    elif explain.lexical is not None:
        yield "lexical", explain.lexical
    elif explain.cosine is not None:
        yield from _meaning(explain, 1.0)
    else:
        yield "listed", 1.0


def _blended(explain: Explanation, blend: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield the summands of the absolute fusion, as `core.search.default_score` has its formula."""
    assert explain.alpha is not None and explain.lexical is not None and explain.cosine is not None
    words = (1 - explain.alpha) * blend["scale"]
    summands = {
        "lexical": words * explain.lexical,
        "around": words * blend["around"],
        "related": words * blend["related"],
        "order": words * ORDER * blend["order"],
        "late": -words * LATE * blend["late"],
        **dict(_meaning(explain, explain.alpha)),
        "context": explain.alpha * blend["context"],
    }
    yield from summands.items()
    total, brevity = sum(summands.values()), blend["brevity"]
    yield "brevity", total * brevity - total
    yield "speaker", total * brevity * blend["speaker"]
    expanded = (total + explain.alpha * blend["expansion"]) * blend["level"]
    yield "expansion", (expanded - total) * brevity * (1 + blend["speaker"])


def _meaning(explain: Explanation, weight: float) -> Iterator[tuple[str, float]]:
    """Yield the summands of the weighted cosine: what the model of the space brings, and what a second one does."""
    assert explain.cosine is not None
    second = explain.second
    brought = 0.0 if isinstance(second, UnsetType) else second.share * second.second
    yield "cosine", weight * (explain.cosine - brought)
    yield "second", weight * brought


def _changes(explain: Explanation, score: float) -> Iterator[tuple[str, float]]:
    """Yield the change of the score by each factor, in the order of their application."""
    for name, factor in _factors(explain):
        yield name, score * factor - score
        score *= factor
    if not isinstance(explain.symbol, UnsetType):
        above = float(raised(explain.symbol.above, np.array(score)))
        yield "symbol", above - score
        score = above
    if explain.time is not None:
        yield "time", score * explain.time.factor - score
        score *= explain.time.factor
    if not isinstance(explain.quoted, UnsetType):
        above = float(raised(explain.quoted.above, np.array(score)))
        yield "quoted", above - score
        score = above
    if not isinstance(explain.facts, UnsetType):
        above = float(raised(explain.facts.above, np.array(score)))
        yield "facts", above - score
        score = above
    yield "cap", min(score, 1.0) - score


def _factors(explain: Explanation) -> Iterator[tuple[str, float]]:
    yield "importance", explain.importance
    yield "recency", explain.recency
    yield "trust", explain.trust
    yield "feedback", explain.feedback
    if not isinstance(explain.answer, UnsetType):
        yield "answer", explain.answer
    if not isinstance(explain.graph, UnsetType):
        yield "graph", explain.graph.contribution
    if isinstance(explain.composite, UnsetType) and not isinstance(explain.signals, UnsetType):
        yield from ((name, share.contribution) for name, share in explain.signals.items())


# A sentence for each explanation: why a memory is where it is, in words

HIGH, SOME = 0.6, 0.3  # scores from which a match or similarity is called strong, and worth naming
SHARE = 0.2  # of a composite that makes a signal worth naming
LOST = 0.1  # of its score that a factor must take from a memory to be named


def sentence(explain: Explanation, mode: Mode) -> str:
    """Return why a memory is ranked as it is.

    What is strong comes first; a factor is named when it takes a tenth of the score or more.
    """
    if mode == "recent":
        return "Ranked by age alone."
    if mode == "metadata":
        return "Passes the filter; ranked by importance, then age" + _signals(explain) + "."
    reasons = [*_matches(explain)]
    by = "Ranked by " + (_listed(reasons) if reasons else "a weak match")
    lowered = [*_losses(explain)]
    return by + (f"; lowered by {_listed(lowered)}" if lowered else "") + "."


def _matches(explain: Explanation) -> Iterator[str]:
    if not isinstance(explain.symbol, UnsetType):
        yield f"it defines {explain.symbol.name}"
    if not isinstance(explain.quoted, UnsetType):
        yield "the words in quotes"
    yield from _tags(explain)
    if explain.lexical is not None and explain.lexical > 0:
        strong = "strong" if explain.lexical >= HIGH else "some" if explain.lexical >= SOME else "few"
        named = ", ".join(sorted(explain.terms, key=lambda term: -explain.terms[term])[:3])
        yield f"{strong} matching words" + (f" ({named})" if named else "")
    if explain.cosine is not None and explain.cosine >= SOME:
        yield f"{'high' if explain.cosine >= HIGH else 'some'} similarity of meaning ({explain.cosine:.2f})"
    yield from _told(explain)
    if explain.time is not None and explain.time.factor == 1:
        yield f"its time ({explain.time.words})"
    if not isinstance(explain.signals, UnsetType) and explain.composite is not UNSET:
        for name in ("recency", "position"):
            share = explain.signals.get(name)
            if share is not None and share.contribution >= SHARE / 4 and share.score > 0.8:
                yield "a recent time" if name == "recency" else "an early place in its text"


def _told(explain: Explanation) -> Iterator[str]:
    if not isinstance(explain.graph, UnsetType) and explain.graph.score >= SOME:
        yield "ties to what the query names"
    if not isinstance(explain.facts, UnsetType):
        yield "a fact that answers"
    if not isinstance(explain.answer, UnsetType) and explain.answer > 1:
        yield "an answer of the kind asked for"


def _tags(explain: Explanation) -> Iterator[str]:
    if not isinstance(explain.signals, UnsetType):
        share = explain.signals.get("tag")
        if share is not None and share.score > 0.5:
            yield "strong tag match" if share.score >= 0.8 else "tag match"


def _signals(explain: Explanation) -> str:
    named = [*_tags(explain)]
    return f", with {_listed(named)}" if named else ""


def _losses(explain: Explanation) -> Iterator[str]:
    factors = {
        "another time than the one named": 1.0 if explain.time is None else explain.time.factor,
        "age": explain.recency,
        "low importance": explain.importance,
        "low trust": explain.trust,
        "feedback": explain.feedback,
    }
    if not isinstance(explain.signals, UnsetType) and explain.composite is UNSET:
        names = {"tag": "its tags", "position": "a late place in its text"}
        factors |= {names[name]: share.contribution for name, share in explain.signals.items() if name in names}
    yield from (name for name, factor in factors.items() if factor <= 1 - LOST)


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))

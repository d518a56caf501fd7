"""A sentence for each explanation: why a memory is where it is, in words."""

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from muisti.core.model.hits import Explanation
from muisti.core.model.terms import Mode

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
    if not isinstance(explain.graph, UnsetType) and explain.graph.score >= SOME:
        yield "ties to what the query names"
    if explain.time is not None and explain.time.factor == 1:
        yield f"its time ({explain.time.words})"
    if not isinstance(explain.signals, UnsetType) and explain.composite is not UNSET:
        for name in ("recency", "position"):
            share = explain.signals.get(name)
            if share is not None and share.contribution >= SHARE / 4 and share.score > 0.8:
                yield "a recent time" if name == "recency" else "an early place in its text"


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

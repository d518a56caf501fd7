"""Facts as short texts, for tests."""

from collections.abc import Sequence

from muisti.core.graph.facts.between import ADDRESSEE, AUTHOR
from muisti.core.graph.facts.reading import facts
from muisti.core.graph.model import Mention
from muisti.core.model.choices import EntityKind


def mention(text: str, name: str, kind: EntityKind, confidence: float = 1.0) -> Mention:
    """Return the first mention of a name in a text."""
    start = text.index(name)
    return Mention(start, start + len(name), kind, confidence, "recogniser")


def said(text: str, mentions: Sequence[Mention] = (), *, author: str | None = "Eve", two: bool = False) -> list[str]:
    """Return the facts of a text as "subject kind object"; "not" precedes what is denied."""
    return [
        f"{_name(text, mentions, one.subject)} {'' if one.polarity else 'not '}{one.kind} "
        + (text[slice(*one.literal)] if one.literal else _name(text, mentions, one.object))
        for one in facts(text, mentions, author, two=two)
    ]


def _name(text: str, mentions: Sequence[Mention], number: int | None) -> str:
    if number is None or number < 0:
        return {AUTHOR: "I", ADDRESSEE: "you"}[number or 0]
    return text[mentions[number].start : mentions[number].stop]

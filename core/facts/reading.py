"""Read the facts of a text."""

from collections.abc import Sequence

from muisti.core.facts.fact import Fact, Named


def facts(text: str, mentions: Sequence[Named], author: str | None, *, two: bool = False) -> list[Fact]:
    """Return what a text states, in the order of the text, each fact once. Takes linear time.

    `author` is the name of who wrote the text, who is "I"; an assistant's "I" states nothing. With `two` the text
    belongs to a dialogue of two, so that "you" is the other side.
    """
    return []

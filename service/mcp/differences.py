"""Describes where a new text differs from a stored memory, for the caller who sent it."""

from collections.abc import Sequence

from muisti.core.model.outcomes import Difference

NAMED = 3


def differences(parts: Sequence[Difference]) -> list[str]:
    """Return a sentence without its full stop for each of the first differences."""
    return [sentence(one) for one in parts[:NAMED]]


def sentence(part: Difference) -> str:
    """Describe a difference between two texts in a sentence for the caller who sent the new one.

    >>> sentence(Difference("number", "9000", "9001"))
    'You said 9001; the stored memory says 9000'
    >>> sentence(Difference("negation", None, "not"))
    "You said 'not'; the stored memory does not"
    """
    existing, new = (None if text is None else _word(text) for text in (part.existing, part.new))
    if existing is None:
        return f"You said {new}; the stored memory does not"
    if new is None:
        return f"The stored memory says {existing}; you did not"
    return f"You said {new}; the stored memory says {existing}"


def _word(text: str) -> str:
    return text if text.isascii() and any(map(str.isdigit, text)) and text.isprintable() else repr(text)

"""Words of the question marked in a passage."""

from typing import NamedTuple

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

"""Show where a text answers: the best stretch of it, with the words that match in bold."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from muisti.core.text.terms import Span, spans

MARK = "**"
CUT = "…"
LOOK = 24  # characters within which a cut looks for white space


class _Stretch(NamedTuple):
    start: int
    stop: int


def highlight(text: str, terms: Collection[str], around: int = 240) -> str | None:
    """Return the stretch of about `around` characters in which most different terms match, the first of equals.

    Matches are between `**`; a `…` marks omitted text. Return None when no term matches. The function analyses the
    whole text, so pass a passage rather than a long document.

    >>> highlight("It rained. Then Ann painted the lake at sunrise.", {"paint", "lake"}, around=24)
    '…Ann **painted** the **lake** at…'
    """
    wanted = set(terms)
    matches = [span for span in spans(text) if not wanted.isdisjoint(span.terms)]
    if characters := [term for term in wanted if len(term) == 1 and not term.isascii()]:  # found within bigrams
        found = re.finditer("|".join(map(re.escape, characters)), text)
        matches = sorted({*matches, *(Span(*match.span(), (match[0],)) for match in found)})
    if not matches:
        return None
    window = _window(text, _densest(matches, wanted, around), around)
    marked = _bold(text, window, _merged(matches))
    return (CUT if window.start else "") + marked + (CUT if window.stop < len(text) else "")


def _densest(matches: list[Span], wanted: set[str], around: int) -> _Stretch:
    """Return the matches within `around` characters that have the most different terms, then the most matches."""
    inside: Counter[str] = Counter()
    best, best_rank, first, different = _Stretch(0, 0), (0, 0), 0, 0
    for last, match in enumerate(matches):
        for term in wanted.intersection(match.terms):
            inside[term] += 1
            different += inside[term] == 1
        while match.stop - matches[first].start > around and first < last:
            for term in wanted.intersection(matches[first].terms):
                inside[term] -= 1
                different -= inside[term] == 0
            first += 1
        rank = (different, last - first + 1)
        if rank > best_rank:
            best, best_rank = _Stretch(matches[first].start, match.stop), rank
    return best


def _window(text: str, core: _Stretch, around: int) -> _Stretch:
    """Widen to `around` characters with the matches in the middle. Cut at nearby white space, if there is any."""
    room = max(0, around - (core.stop - core.start)) // 2
    start = max(0, min(core.start - room, len(text) - around))
    stop = min(len(text), max(start + around, core.start + 1))
    if start > 0:
        start = next((at for at in range(start, min(start + LOOK, core.start + 1)) if text[at - 1].isspace()), start)
    if stop < len(text):
        stop = next((at for at in range(stop, max(stop - LOOK, core.stop) - 1, -1) if text[at].isspace()), stop)
    return _Stretch(start, stop)


def _merged(matches: Iterable[Span]) -> list[_Stretch]:
    merged: list[_Stretch] = []
    for start, stop, _ in matches:
        if merged and start <= merged[-1].stop:
            merged[-1] = _Stretch(merged[-1].start, max(stop, merged[-1].stop))
        else:
            merged.append(_Stretch(start, stop))
    return merged


def _bold(text: str, window: _Stretch, matches: Iterable[_Stretch]) -> str:
    parts: list[str] = []
    at = window.start
    for match in matches:
        start, stop = max(match.start, at), min(match.stop, window.stop)
        if start < stop:
            parts += [text[at:start], MARK, text[start:stop], MARK]
            at = stop
    return "".join([*parts, text[at : window.stop]])

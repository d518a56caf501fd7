"""Difference of two texts, word by word."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

Change = Literal["same", "ins", "del"]

WORDS_MAX = 1_500  # of either text between their common ends: comparing takes the square of it
SHOWN = 120  # characters that `around` keeps on each side of a change

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of text that both texts have, that the new one adds, or that it takes away."""

    change: Change
    text: str


def diff(old: str, new: str) -> list[Piece]:
    """Return the pieces of both texts in order. Without `ins` they are the old text, without `del` the new.

    >>> [tuple(one) for one in diff("We meet on Monday.", "We meet on Tuesday.")]
    [('same', 'We meet on '), ('del', 'Monday'), ('ins', 'Tuesday'), ('same', '.')]
    """
    return list(_joined(_pieces(_WORD.findall(old), _WORD.findall(new))))


def around(pieces: Sequence[Piece], length: int = SHOWN) -> list[Piece]:
    """Return the pieces with long stretches that did not change cut to their ends, and an ellipsis between.

    >>> around([Piece("same", "a" * 9), Piece("ins", "b")], 3)
    [Piece(change='same', text='… aaa'), Piece(change='ins', text='b')]
    """
    last = len(pieces) - 1
    return [
        one if one.change != "same" else Piece("same", _cut(one.text, length, first=at == 0, last=at == last))
        for at, one in enumerate(pieces)
    ]


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    start = _common(old, new)
    stop = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - stop], new[start : len(new) - stop]
    yield Piece("same", "".join(old[:start]))
    if max(len(before), len(after)) > WORDS_MAX:
        yield from (Piece("del", "".join(before)), Piece("ins", "".join(after)))
    else:
        for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if kind == "equal":
                yield Piece("same", "".join(before[a:b]))
            else:
                yield from (Piece("del", "".join(before[a:b])), Piece("ins", "".join(after[c:d])))
    yield Piece("same", "".join(old[len(old) - stop :]))


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many words both begin with."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return at
    return min(len(first), len(second))


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces without empty ones; changes with only white space between them are one change."""
    found = [one for one in pieces if one.text]
    same, gone, came = "", "", ""
    for at, one in enumerate(found):
        if one.change == "del":
            gone += one.text
        elif one.change == "ins":
            came += one.text
        elif (gone or came) and one.text.isspace() and at + 1 < len(found):
            gone, came = gone + one.text, came + one.text
            continue
        else:
            yield from _change(gone, came)
            gone, came, same = "", "", same + one.text
            continue
        if same:
            yield Piece("same", same)
            same = ""
    yield from _change(gone, came)
    if same:
        yield Piece("same", same)


def _change(gone: str, came: str) -> Iterator[Piece]:
    if gone:
        yield Piece("del", gone)
    if came:
        yield Piece("ins", came)


def _cut(text: str, length: int, *, first: bool, last: bool) -> str:
    if first and last:
        return text
    if first:
        return text if len(text) <= length else "… " + text[-length:]
    if last:
        return text if len(text) <= length else text[:length] + " …"
    return text if len(text) <= 2 * length else f"{text[:length]} … {text[-length:]}"

"""Conversations with known boundaries, and how well a segmentation finds them."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from loadtests.quality.turns import sessions
from muisti.service.evaluation.dataset import Dataset, DatasetError

STRETCHES = 8  # in a joined text, each from another session
TURNS = (6, 30)  # of a stretch
TEXTS = 30  # of a half


@dataclass(frozen=True, slots=True)
class Text:
    """Turns, without the names of their speakers, and the places where another subject begins."""

    turns: tuple[str, ...]
    boundaries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Errors:
    """Shares of wrong judgements, lower is better: Pk and WindowDiff."""

    pk: float
    window_diff: float


def halves(dataset: Dataset, seed: int = 1) -> tuple[list[Text], list[Text]]:
    """Return joined texts to tune on and to report. Each half draws from sessions of its own.

    Raises:
        DatasetError: the set has too few sessions.
    """
    long = [[turn.text for turn in turns] for turns in sessions(dataset).values() if len(turns) >= TURNS[0]]
    if len(long) < 2 * STRETCHES:
        raise DatasetError(f"{dataset.name}: {len(long)} sessions are too few; {2 * STRETCHES} are needed")
    draw = random.Random(seed)
    return _joined(long[::2], draw), _joined(long[1::2], draw)


def errors(text: Text, found: Collection[int]) -> Errors:
    """Compare pairs of turns half a mean segment apart: is there a boundary between them, and how many?

    Pk: Beeferman, Berger and Lafferty, 1999. WindowDiff: Pevzner and Hearst, 2002.

    >>> errors(Text(("a",) * 8, (4,)), [4])
    Errors(pk=0.0, window_diff=0.0)
    """
    length = len(text.turns)
    width = max(2, round(length / (len(text.boundaries) + 1) / 2))
    true, guessed = _counts(length, text.boundaries), _counts(length, found)
    pairs = [(true[at + width] - true[at], guessed[at + width] - guessed[at]) for at in range(max(0, length - width))]
    if not pairs:
        return Errors(0.0, 0.0)
    return Errors(fmean((a > 0) != (b > 0) for a, b in pairs), fmean(a != b for a, b in pairs))


def mean(found: Sequence[Errors]) -> Errors:
    """Return the mean over texts."""
    return Errors(fmean(one.pk for one in found), fmean(one.window_diff for one in found))


def segment_length(texts: Sequence[Text]) -> int:
    """Return the mean number of turns of a true segment."""
    return round(sum(len(text.turns) for text in texts) / sum(len(text.boundaries) + 1 for text in texts))


def _counts(length: int, boundaries: Collection[int]) -> list[int]:
    places = frozenset(boundaries)
    return [*accumulate(int(turn in places) for turn in range(length))]


def _joined(sessions: Sequence[Sequence[str]], draw: random.Random) -> list[Text]:
    return [_text([_stretch(one, draw) for one in draw.sample(sessions, STRETCHES)]) for _ in range(TEXTS)]


def _stretch(session: Sequence[str], draw: random.Random) -> Sequence[str]:
    length = draw.randint(TURNS[0], min(TURNS[1], len(session)))
    start = draw.randint(0, len(session) - length)
    return session[start : start + length]


def _text(stretches: Sequence[Sequence[str]]) -> Text:
    ends = accumulate(map(len, stretches))
    return Text(tuple(turn for one in stretches for turn in one), tuple(ends)[:-1])

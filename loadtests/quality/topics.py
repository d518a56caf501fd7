"""Measures how well topics are found in conversations of known stretches.

    python -m loadtests.quality.topics FOLDER ... [--tune] [--docs docs]

Each FOLDER holds judged data (`evaluation.dataset`) with sessions. A text has eight stretches of 6 to 30 turns, each
from another session, one after the other. Half of the sessions make the texts to tune on, the others those that are
reported. Turns are given one by one, as in a conversation. --tune prints the errors of several settings on the first
half instead. With --docs the table is put into quality.md there.
"""

import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from time import process_time

import click

from loadtests.document import put_table
from loadtests.quality import text_peers
from loadtests.quality.turns import sessions
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.text.discourse.segmentation import AGREEMENT, PENALTY, segment
from muisti.core.text.terms import count_tokens
from muisti.service.evaluation.dataset import Dataset, DatasetError, load

PENALTIES = (2.25, 2.5, 2.75, 3.0)
AGREEMENTS = (3, 5, 8)
ENCODER = StaticEncoder()
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


Way = Callable[[Text], Sequence[int]]


def change_points(penalty: float = PENALTY, agreement: int = AGREEMENT) -> Way:
    """Return the way of conversations, with a setting."""
    return lambda text: segment(
        ENCODER.encode(text.turns), [*map(count_tokens, text.turns)], penalty=penalty, agreement=agreement
    )


def ways(length: int) -> Mapping[str, Way]:
    """Return the ways that are reported, by their names in the table; `length` is that of a mean segment, in turns."""
    return {
        "no boundary": lambda _: [],
        "one each mean length": lambda text: range(length, len(text.turns), length),
        "TextTiling of nltk": lambda text: text_peers.text_tiling(text.turns),
        "**change points**": change_points(),
    }


def settings() -> Mapping[str, Way]:
    """Return the settings to choose from."""
    return {
        f"penalty {penalty}, agreement {agreement}": change_points(penalty, agreement)
        for penalty in PENALTIES
        for agreement in AGREEMENTS
    }


def measured(way: Way, texts: Sequence[Text]) -> tuple[Errors, float]:
    """Return the mean errors, and the milliseconds of processor time for each turn."""
    start = process_time()
    found = [way(text) for text in texts]
    taken = process_time() - start
    turns = sum(len(text.turns) for text in texts)
    return mean([errors(text, one) for text, one in zip(texts, found, strict=True)]), 1_000 * taken / turns


def table(sets: Mapping[str, tuple[Mapping[str, Way], Sequence[Text]]]) -> Iterator[str]:
    """Yield the table: Pk / WindowDiff of each way, and its milliseconds for each turn, a column for each set."""
    yield f"| Pk / WindowDiff, ms a turn | {' | '.join(sets)} |"
    yield "| --- " * (len(sets) + 1) + "|"
    for name in next(iter(sets.values()))[0]:
        cells = [_cell(*measured(ways[name], texts)) for ways, texts in sets.values()]
        yield f"| {name} | {' | '.join(cells)} |"


def _cell(found: Errors, ms: float) -> str:
    return f"{found.pk:.3f} / {found.window_diff:.3f}, {ms:.2f}"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tune", is_flag=True, help="Print the errors of several settings on the half to tune on.")
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Put the table there.")
def main(folders: Sequence[Path], tune: bool, docs: Path | None) -> None:
    """Measure how well topics are found."""
    sets: dict[str, tuple[Mapping[str, Way], Sequence[Text]]] = {}
    try:
        for folder in folders:
            dataset = load(folder)
            tuning, reported = halves(dataset)
            sets[dataset.name] = (settings(), tuning) if tune else (ways(segment_length(tuning)), reported)
        ENCODER.encode(["loads the model"])
        lines = list(table(sets))
    except (DatasetError, text_peers.NotInstalled) as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n".join(lines))
    if docs and not tune:
        put_table(docs / "why" / "quality.md", "topics", lines)


if __name__ == "__main__":
    sys.exit(main())

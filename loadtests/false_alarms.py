"""False alarms of evidence: how often `none` is said of questions with an answer, and how often of others.

    python -m loadtests.false_alarms FOLDER ... [--save alarms.json] [--second mapped]

Each FOLDER holds judged data (`service.evaluation.dataset`), which is stored once. Each search judges its evidence
twice: as it is, and without the rule for questions that ask for advice. So all differences are paired. Foreign
questions are those of the other folders, once as they are and once in words that ask for advice. The rule's constants
are also chosen without the folder that they are judged on. With `--second`, spaces have the second model `minilm` too.
"""

import itertools
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import click
import msgspec
import numpy as np
import numpy.typing as npt

from loadtests.ablation import over_sets
from muisti.client import calls
from muisti.core.model.choices import OFF, SecondQuery
from muisti.core.query import evidence
from muisti.core.query.evidence import Calibration, Entry, Unrelated, advised
from muisti.core.search import judged as judging
from muisti.core.search import searcher
from muisti.core.search.judged import has_every_word
from muisti.service.app.local import start
from muisti.service.evaluation.dataset import Dataset, DatasetError, load
from muisti.service.evaluation.evidence import DEPTH, HIDDEN_MOST, Cosines, fit_unrelated, from_others, largest
from muisti.service.evaluation.metrics import Interval, bootstrap
from muisti.service.evaluation.run import Stored, stored
from muisti.service.settings import Settings
from muisti.service.settings.table import MINILM
from muisti.service.terminal.client import Client

OWN, HIDDEN, FOREIGN, AS_ADVICE = KINDS = ("with an answer", "answer hidden", "foreign", "foreign, asking for advice")
ASKING = (
    "Can you recommend something on this: {}",
    "Any advice for me about {}",
    "What would you suggest to me about {}",
    "I am looking for tips on {}",
    "{} What would you recommend for me?",
)
SLACK = 0.001  # a difference of the means that counts as none
WORDS, NEAR, MARGIN = (0.25, 0.5, 0.75, 1.0), (0.1, 0.15, 0.2, 0.25), (0.0, 0.25, 0.5, 0.75, 1.0)

Flags = npt.NDArray[np.bool_]


class Seen(msgspec.Struct, frozen=True):
    """Values from which the levels of one question follow; `advised` is None for questions that ask for no advice.

    `every` says that one memory has every word. `nearest` and `deeper` are the cosines of the best and of the tenth.
    """

    strength: float
    weak: float
    advised: judging.Advised | None
    every: bool
    nearest: float
    deeper: float
    before: bool
    after: bool


class Choice(msgspec.Struct, frozen=True):
    """Constants of the rule, named as in `core.query.evidence`."""

    words: float
    near: float
    margin: float

    @contextmanager
    def made(self) -> Iterator[None]:
        """Within this, the rule has these constants."""
        with patch.multiple(evidence, WORDS=self.words, NEAR=self.near, MARGIN=self.margin):
            yield


Asked = Mapping[str, Sequence[Seen]]


class Measured(msgspec.Struct, frozen=True):
    """The questions of all sets, by name of the set and kind, and the cosines that foreign ones find."""

    usual: Unrelated
    sets: Mapping[str, Asked]


SHIPPED = Choice(evidence.WORDS, evidence.NEAR, evidence.MARGIN)


def ask_all(client: Client, held: Stored, others: Sequence[str]) -> Asked:
    """Ask the questions of a set, with its answers and without them, and the others in its largest group."""
    data, found = held.dataset, dict[str, list[Seen]]((kind, []) for kind in KINDS)
    foreign = held.spaces[largest(data)]
    with _watching() as seen:

        def ask(kind: str, space: str, text: str, **more: Any) -> None:
            client.send(calls.search(space, {"query": text, "limit": 1, **more}))
            found[kind].append(seen[-1])  # the last judgement: a search may be ranked again

        for group, queries in data.queries.items():
            for query in queries:
                relevant = list(data.qrels[query.id])
                ask(OWN, held.spaces[group], query.text)
                if len(relevant) <= HIDDEN_MOST:
                    ask(HIDDEN, held.spaces[group], query.text, filter={"not": {"source": relevant}})
        for text, asking in zip(others, itertools.cycle(ASKING), strict=False):
            ask(FOREIGN, foreign, text)
            ask(AS_ADVICE, foreign, asking.format(text))
    return found


@contextmanager
def _watching() -> Iterator[list[Seen]]:
    """Note every judgement of evidence, and the one without the rule."""
    seen: list[Seen] = []
    as_is = searcher.judged

    def judged(calibration: Calibration, asked: Any, found: Any, *place: Any) -> Any:
        thresholds = calibration.thresholds(asked.mode, *place)
        assert thresholds is not None, "the model has no thresholds"
        plain = Calibration([Entry(generation=place[0], modes={asked.mode: thresholds})])
        before, after = (as_is(one, asked, found, *place) for one in (plain, calibration))
        assert found.meaning is not None
        best = found.meaning.own[np.searchsorted(found.rows, found.rankings["dense"].best)]
        cosines = -np.sort(-best)[:DEPTH]
        nearest, deeper = (float(cosines[0]), float(cosines[-1])) if len(cosines) else (0.0, 0.0)
        every = has_every_word(asked, found)
        none = (before.evidence == "none", after.evidence == "none")
        seen.append(Seen(found.strength, thresholds.weak, after.advised, every, nearest, deeper, *none))
        return after

    with patch.object(searcher, "judged", judged):
        yield seen


def none(seen: Sequence[Seen], choice: Choice, usual: Unrelated) -> Flags:
    """Return for each question whether the rule with these constants says `none`."""
    with choice.made():
        return np.array([not one.every and strength(one, usual) < one.weak for one in seen])


def strength(one: Seen, usual: Unrelated) -> float:
    return one.strength if one.advised is None else advised(one.strength, one.weak, one.advised.nearest, usual)


def usual_in(sets: Sequence[Asked], sizes: Sequence[int]) -> Unrelated:
    """Return the cosines that foreign questions find in these sets, whose largest groups have some passages."""
    found = [
        Cosines(np.array([s.nearest for s in one[FOREIGN]]), np.array([s.deeper for s in one[FOREIGN]]), DEPTH, size)
        for one, size in zip(sets, sizes, strict=True)
    ]
    usual = fit_unrelated(found)
    assert usual is not None
    return usual


def chosen(sets: Sequence[Asked], usual: Unrelated) -> Choice:
    """Return the constants with the fewest false alarms that cost nothing, as means over the sets.

    No fewer foreign questions of either kind get `none`, and the distance of hidden answers to answers is as large.
    """
    before = {kind: _mean([one.before for one in found[kind]] for found in sets) for kind in KINDS}
    best, least = Choice(1.0, 0.0, 0.0), before[OWN]
    for choice in (Choice(words, near, margin) for words in WORDS for near in NEAR for margin in MARGIN):
        after = {kind: _mean(none(found[kind], choice, usual) for found in sets) for kind in KINDS}
        kept = all(after[kind] >= before[kind] - SLACK for kind in (FOREIGN, AS_ADVICE))
        if kept and after[HIDDEN] - after[OWN] >= before[HIDDEN] - before[OWN] - SLACK and after[OWN] < least:
            best, least = choice, after[OWN]
    return best


def _mean(flags: Iterator[Any]) -> float:
    return float(np.mean([np.mean(one) for one in flags]))


def table(names: Sequence[str], sets: Sequence[Asked], others: Sequence[tuple[Choice, Unrelated]]) -> Iterator[str]:
    """Return a row for each set: percent of `none` by kind; the last columns with constants chosen without the set."""
    yield f"| | {' | '.join(KINDS)} | chosen without the set: {' / '.join(KINDS)} |"
    yield "| --- " * (len(KINDS) + 2) + "|"
    moved = dict[str, list[npt.NDArray[np.float64]]]((kind, []) for kind in KINDS)
    apart = dict[str, list[float]]((kind, []) for kind in KINDS)
    for name, found, (choice, usual) in zip(names, sets, others, strict=True):
        cells: list[str] = []
        for kind in KINDS:
            before, after = (np.array([getattr(one, when) for one in found[kind]]) for when in ("before", "after"))
            moved[kind].append(after.astype(float) - before)
            apart[kind].append(float(none(found[kind], choice, usual).mean()))
            cells.append(_cell(before.mean(), after.mean(), bootstrap(moved[kind][-1])))
        yield f"| {name} | {' | '.join(cells)} | {' / '.join(_percent(apart[kind][-1]) for kind in KINDS)} |"
    means: list[str] = []
    for kind in KINDS:
        before = _mean([one.before for one in found[kind]] for found in sets)
        after = _mean([one.after for one in found[kind]] for found in sets)
        means.append(_cell(before, after, over_sets(moved[kind])))
    left_out = " / ".join(_percent(float(np.mean(apart[kind]))) for kind in KINDS)
    yield f"| mean | {' | '.join(means)} | {left_out} |"


def _cell(before: float, after: float, moved: Interval) -> str:
    if moved.mean == moved.low == moved.high == 0:
        return f"{_percent(before)}"
    return f"{_percent(before)} → {_percent(after)} ({100 * moved.low:+.1f} {100 * moved.high:+.1f})".replace("-", "−")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _asked(dataset: Dataset, others: Sequence[str], second: SecondQuery) -> tuple[Asked, int]:
    with (
        tempfile.TemporaryDirectory(prefix="muisti-alarms-") as place,
        start(_settings(Path(place) / "alarms.db", second)) as client,
        stored(client, dataset, lambda *_: None) as held,
    ):
        return ask_all(client, held, others), max(len(found) for found in dataset.documents.values())


def _settings(database: Path, second: SecondQuery) -> Settings:
    url = f"file:{database}"
    if second == OFF:
        return Settings(database_url=url)
    return Settings(database_url=url, second_model=MINILM, second_query=second)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="File of all judgements, to draw.")
@click.option("--second", type=click.Choice(get_args(SecondQuery)), default=OFF, help="How to ask the second model.")
def main(folders: Sequence[Path], save: Path | None, second: SecondQuery) -> None:
    """Measure false alarms of evidence, with the rule for advice and without it."""
    try:
        datasets = [load(folder) for folder in folders]
    except DatasetError as error:
        raise click.UsageError(str(error)) from error
    found: list[tuple[Asked, int]] = []
    for one in datasets:
        found.append(_asked(one, from_others(datasets, one), second))
        click.echo(one.name, err=True)
    sets, sizes, names = [one[0] for one in found], [one[1] for one in found], [one.name for one in datasets]
    usual = usual_in(sets, sizes)
    click.echo(f"all sets: {usual}, {chosen(sets, usual)}; shipped: {SHIPPED}", err=True)
    apart: list[tuple[Choice, Unrelated]] = []
    for left_out, name in enumerate(names):
        rest = [place for place in range(len(sets)) if place != left_out]
        without = usual_in([sets[place] for place in rest], [sizes[place] for place in rest])
        apart.append((chosen([sets[place] for place in rest], without), without))
        click.echo(f"without {name}: {apart[-1][1]}, {apart[-1][0]}", err=True)
    click.echo("\n".join(table(names, sets, apart)) + "\n")
    if save is not None:
        save.write_bytes(msgspec.json.encode(Measured(usual, dict(zip(names, sets, strict=True)))))


if __name__ == "__main__":
    sys.exit(main())

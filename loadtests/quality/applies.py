"""Fits the probability that a memory answers a question, and measures what the cut by it costs.

    python -m loadtests.quality.applies FOLDER ... [--docs docs] [--save applies.json]

Each FOLDER holds judged data (`evaluation.dataset`). Its questions are asked in their own group. So are questions of
other groups (`other`), and those of the other folders (`foreign`). The same is done in spaces of 20 to 1,000 memories
that are drawn from a group. There `other` are its questions whose answers were not drawn. The beliefs of two people in
`beliefs.json` are two more sets: there `other` are questions that only share words with a belief.

A logistic regression on the signs of `core.query.applies` separates questions whose answer is among ten hits from the
two other kinds. No weight may have the wrong sign. The table judges each set by weights fitted without it. The weights
printed at the end are fitted with all sets. With --docs the table is put into quality.md there, without spaces of 40
memories and more.
`loadtests.applies_plot` draws what is saved.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import msgspec
import numpy as np

from loadtests.document import put_table
from loadtests.quality.stores import Question, stores
from muisti.client import calls
from muisti.core.kernels import Doubles
from muisti.core.model.choices import APPLIES
from muisti.core.query.applies import Signs
from muisti.core.search import applied
from muisti.service.app.local import start
from muisti.service.evaluation.dataset import Dataset, DatasetError, Document, Query, load
from muisti.service.evaluation.run import LIMIT, Stored, stored
from muisti.service.settings import Settings
from muisti.service.terminal.client import Client

OWN, OTHER, FOREIGN = KINDS = ("own", "other", "foreign")
BELIEFS = Path(__file__).with_name("beliefs.json")
SIZES = (20, 40, 100, 1_000)
SPACES = 5  # drawn of each size
DRAWN = 60  # questions of one drawn space, at most
ASKED = 120  # questions of a kind in a set, at most
OTHERS_WEIGHT = 0.2  # of `other` questions against foreign ones: many of them are about what is here
CUT = 0.43  # probability, with as many questions of each side, that becomes the usual cut
RIDGE = 1e-3
STEPS = 40
FITTED = {"near": 1, "telling": 1, "pairs": 1, "stranger": -1, "word": -1, "name": -1}  # the sign of each weight


class Asked(msgspec.Struct, frozen=True):
    """One question: its kind, its signs, and for each of its hits the closeness and whether it is relevant."""

    kind: str
    signs: Signs
    closeness: Sequence[float]
    relevant: Sequence[bool]

    @property
    def counts(self) -> bool:
        """Return whether the fit takes it: questions whose answer was not found say nothing."""
        return self.kind != OWN or any(self.relevant)

    def kept(self, sure: float, least: float) -> list[bool]:
        """Return a flag for each hit: whether a cut at `least` keeps it."""
        best = max(self.closeness, default=0.0)
        return [sure * best >= least and one >= least * best for one in self.closeness]


Set = Sequence[Asked]


class Weights(msgspec.Struct, frozen=True):
    """The result of a fit: a constant, and one weight for each sign."""

    constant: float
    each: Sequence[float]

    def sure(self, one: Asked) -> float:
        value = self.constant + float(np.dot(self.each, values(one.signs)))
        return 1 / (1 + float(np.exp(-value)))


def values(signs: Signs) -> Doubles:
    return np.array([getattr(signs, name) for name in FITTED])


def ask(client: Client, held: Stored, others: Mapping[str, Sequence[str]], foreign: Sequence[str]) -> Set:
    """Ask the questions of a set, and in each of its groups `others` and foreign ones."""
    found: list[Asked] = []
    with _watching() as seen:

        def put(kind: str, group: str, text: str, judged: Mapping[str, float]) -> None:
            hits = client.send(calls.search(held.spaces[group], {"query": text[:2_000], "limit": LIMIT})).data["hits"]
            if hits:
                ids = [held.documents[hit["memory"]["id"]].id for hit in hits]
                relevant = [judged.get(one, 0) > 0 for one in ids]
                found.append(Asked(kind, seen[-1], [hit["applies"] for hit in hits], relevant))

        groups = [group for group, queries in held.dataset.queries.items() if queries]
        most = -(-ASKED // len(groups))
        chance = random.Random(len(groups))
        for group in groups:
            own = chance.sample(held.dataset.queries[group], min(most, len(held.dataset.queries[group])))
            for query in own:
                put(OWN, group, query.text, held.dataset.qrels.get(query.id, {}))
            for kind, texts in ((OTHER, others.get(group, ())), (FOREIGN, foreign)):
                for text in chance.sample(texts, min(most, len(texts))):
                    put(kind, group, text, {})
    return found


@contextmanager
def _watching() -> Iterator[list[Signs]]:
    """Note the signs of every search; with a probability of 1 that it is answered, hits show their closeness."""
    seen: list[Signs] = []

    def answers(signs: Signs) -> float:
        seen.append(signs)
        return 1.0

    with patch.object(applied, "answers", answers):
        yield seen


def of_other_groups(data: Dataset) -> dict[str, list[str]]:
    """Return for each group the questions of the other ones."""
    return {
        group: [query.text for other, queries in data.queries.items() if other != group for query in queries]
        for group in data.queries
    }


def drawn(data: Dataset, size: int) -> tuple[Dataset, dict[str, list[str]]]:
    """Return spaces of `size` memories drawn from groups, and for each the questions whose answers are not in it."""
    chance = random.Random(size)
    large = [group for group, documents in data.documents.items() if len(documents) >= size and data.queries.get(group)]
    documents, queries, others = dict[str, Any](), dict[str, Any](), dict[str, list[str]]()
    for number in range(SPACES if large else 0):
        group = large[number % len(large)]
        few = [one for one in data.queries[group] if 0 < len(data.qrels.get(one.id, ())) <= max(3, size // 10)]
        taken = chance.sample(few, min(len(few), max(4, min(DRAWN, size // 5))))
        ids = {id_ for one in taken for id_ in data.qrels[one.id]}
        rest = sorted({one.id for one in data.documents[group]} - ids)
        ids |= {*chance.sample(rest, max(0, min(len(rest), size - len(ids))))}
        name = f"{group} {number}"
        documents[name] = tuple(one for one in data.documents[group] if one.id in ids)
        queries[name] = tuple(taken)
        others[name] = [one.text for one in data.queries[group] if not ids & data.qrels.get(one.id, {}).keys()]
    named = f"{data.name}, {size:,}"
    return Dataset(name=named, documents=documents, queries=queries, qrels=data.qrels, notes=()), others


def beliefs() -> Iterator[tuple[Dataset, dict[str, list[str]], list[str]]]:
    """Yield the beliefs of each person and of the seen stores, and their questions without an answer."""
    for number, person in enumerate(json.loads(BELIEFS.read_text("utf-8")), start=1):
        texts = [Document(id=key, part=0, text=text, meta={}) for key, text in person["beliefs"].items()]
        yield _believed(f"beliefs {number}", texts, [Question(**one) for one in person["questions"]])
    for number, store in enumerate((one for one in stores() if one.half == "seen"), start=1):
        texts = [
            Document(id=key, part=0, text=one.content, meta={"speaker": one.author})
            for key, one in store.beliefs.items()
            if key not in store.superseded
        ]
        yield _believed(f"store {number}", texts, store.questions)


def _believed(
    name: str, texts: Sequence[Document], questions: Sequence[Question]
) -> tuple[Dataset, dict[str, list[str]], list[str]]:
    asked = [one for one in questions if one.answers]
    own = tuple(Query(id=str(at), text=one.text, group="all", category=one.kind) for at, one in enumerate(asked))
    qrels = {str(at): dict.fromkeys(one.answers, 1.0) for at, one in enumerate(asked)}
    near = [one.text for one in questions if one.kind == "near"]
    data = Dataset(name=name, documents={"all": tuple(texts)}, queries={"all": own}, qrels=qrels, notes=())
    return data, {"all": near}, [one.text for one in questions if one.kind in ("foreign", "none")]


def fit(sets: Sequence[Set]) -> Weights:
    """Fit the weights: each set counts the same, answered questions as much as the others.

    By Newton's method. A weight that would get the wrong sign is 0.
    """
    rows, wanted, weights = list[Doubles](), list[float](), list[float]()
    shares = {OWN: 0.5, OTHER: 0.5 * OTHERS_WEIGHT, FOREIGN: 0.5 * (1 - OTHERS_WEIGHT)}
    for asked in sets:
        for kind in KINDS:
            some = [one for one in asked if one.kind == kind and one.counts]
            rows += [values(one.signs) for one in some]
            wanted += [float(kind == OWN)] * len(some)
            weights += [shares[kind] / len(some) for _ in some]
    x, y, w = np.array(rows), np.array(wanted), np.array(weights)
    w *= len(y) / w.sum()
    mean, scale, ridge = x.mean(0), x.std(0) + 1e-9, RIDGE * len(y)
    x, right = np.column_stack([np.ones(len(x)), (x - mean) / scale]), np.array([0, *FITTED.values()])
    b = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        slope = x.T @ (w * (p - y)) + ridge * b
        free = (right == 0) | (b * right > 0) | (slope * right < 0)
        curve = (x[:, free].T * (w * p * (1 - p))) @ x[:, free] + ridge * np.eye(int(free.sum()))
        b[free] -= np.linalg.solve(curve, slope[free])
        b[b * right < 0] = 0
    each = b[1:] / scale
    return Weights(float(b[0] - each @ mean - np.log(CUT / (1 - CUT))), each.tolist())


class Judged(msgspec.Struct, frozen=True):
    """Figures of a cut on a set: recall without it and lost by it, and the relevant share of the hits that it keeps.

    `other` and `foreign` are the shares of these questions for which anything surfaces.
    """

    recall: float
    lost: float
    hits: float
    precision: float
    other: float
    foreign: float


def judge(asked: Set, weights: Weights, least: float = APPLIES) -> Judged:
    """Judge a set by a cut. Recall is the share of the relevant hits among ten that are kept."""
    kept = [(one, one.kept(weights.sure(one), least)) for one in asked]
    own = [(np.array(one.relevant), np.array(flags)) for one, flags in kept if one.kind == OWN]
    found = [bool(relevant.any()) for relevant, _ in own]
    lost = [1 - (relevant & flags).sum() / relevant.sum() if relevant.any() else 0.0 for relevant, flags in own]
    number = sum(int(flags.sum()) for _, flags in own)
    right = sum(int((relevant & flags).sum()) for relevant, flags in own)
    shown = {kind: [any(flags) for one, flags in kept if one.kind == kind] for kind in (OTHER, FOREIGN)}
    return Judged(
        float(np.mean(found)),
        float(np.mean(lost)),
        number / max(1, len(own)),
        right / max(1, number),
        *(float(np.mean(one)) if one else float("nan") for one in shown.values()),
    )


def table(sets: Mapping[str, Set], apart: Mapping[str, Weights]) -> Iterator[str]:
    yield "| | answered | recall lost | hits kept of 10 | precision | other surfaces | foreign surfaces |"
    yield "| --- " * 7 + "|"
    for name, asked in sets.items():
        one = judge(asked, apart[name])
        shown = ["" if np.isnan(share) else f"{share:.3f}" for share in (one.other, one.foreign)]
        cells = (f"{one.recall:.2f}", f"{one.lost:.3f}", f"{one.hits:.1f}", f"{one.precision:.2f}", *shown)
        yield f"| {name} | {' | '.join(cells)} |"


def measured(folders: Sequence[Dataset]) -> Iterator[tuple[str, str, Set]]:
    """Yield the sets: the name of each, the name of the data it comes from, and its questions."""
    for data in folders:
        texts = [
            [query.text for queries in one.queries.values() for query in queries] for one in folders if one != data
        ]
        chance = random.Random(1)
        foreign = [text for some in texts for text in chance.sample(some, min(len(some), ASKED // len(texts)))]
        yield data.name, data.name, _asked(data, of_other_groups(data), foreign)
        for size in SIZES:
            some, others = drawn(data, size)
            if some.queries:
                yield some.name, data.name, _asked(some, others, foreign)
    for data, others, foreign in beliefs():
        yield data.name, data.name, _asked(data, others, foreign)


def _asked(data: Dataset, others: Mapping[str, Sequence[str]], foreign: Sequence[str]) -> Set:
    with (
        tempfile.TemporaryDirectory(prefix="muisti-applies-") as place,
        start(Settings(database_url=f"file:{Path(place) / 'applies.db'}")) as client,
        stored(client, data, lambda *_: None) as held,
    ):
        return ask(client, held, others, foreign)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Put the table there.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="File of all questions, to draw.")
def main(folders: Sequence[Path], docs: Path | None, save: Path | None) -> None:
    """Fit the probability that memories answer, and measure the cut by it."""
    try:
        data = [load(folder) for folder in folders]
    except DatasetError as error:
        raise click.UsageError(str(error)) from error
    sets, origins = dict[str, Set](), dict[str, str]()
    for name, origin, asked in measured(data):
        sets[name], origins[name] = asked, origin
        click.echo(f"{name}: {len(asked)} questions", err=True)
    without = {one: fit([sets[name] for name in sets if origins[name] != one]) for one in {*origins.values()}}
    apart = {name: without[origins[name]] for name in sets}
    lines = [*table(sets, apart)]
    click.echo("\n".join(lines))
    shipped = fit([*sets.values()])
    each = dict(zip(FITTED, np.round(shipped.each, 3).tolist(), strict=True))
    click.echo(f"fitted with all sets: {each}, constant {shipped.constant:.3f}", err=True)
    if docs is not None:
        larger = tuple(f"| {name}, {size:,} |" for name in {*origins.values()} for size in SIZES[1:])
        put_table(docs / "why" / "quality.md", "applies", [line for line in lines if not line.startswith(larger)])
    if save is not None:
        save.write_bytes(msgspec.json.encode({name: (sets[name], apart[name]) for name in sets}))


if __name__ == "__main__":
    sys.exit(main())

"""Fits the weights of the pieces of long memories (`core.conversations.context.weights`) on judged data.

    python -m loadtests.quality.pieces DATA...

The label of a piece is whether it has most words of the answer among the pieces of a relevant memory. Memories without
one such piece are left out. The fit is a logistic regression with a weak ridge; every folder counts the same. AUROC is
on the other half. "without" is fitted without the folder that it is measured on. The command prints the coefficients
for `COEFFICIENTS`, and changes nothing.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from loadtests.quality.contexts import Question, groups, opened, questions
from muisti.core.conversations.context.weights import NAMES, body, gathered, signals
from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.text.terms import tokenize
from muisti.service.evaluation.dataset import Dataset, load
from muisti.service.evaluation.evidence import auroc

RIDGE = 2.0
STEPS = 50

Doubles = npt.NDArray[np.float64]
Rows = tuple[Doubles, Doubles]  # signals of pieces, and 1 for the piece with the answer


def rows(encoder: Encoder, dataset: Dataset, half: str) -> Rows:
    """Return the pieces of relevant memories among the candidates of each question of a half."""
    found: list[Rows] = []
    with opened(encoder) as engine:
        for number, group in enumerate(groups(dataset, half)):
            for question in questions(engine, dataset, group, f"g{number}"):
                if question.answer:
                    found += _labelled(question)
    return np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found])


def fit(found: Sequence[Rows]) -> Doubles:
    """Return the coefficients of a logistic regression; each set of rows has the same weight."""
    x = np.concatenate([own for own, _ in found])
    y = np.concatenate([own for _, own in found])
    weight = np.concatenate([np.full(len(own), 1_000 / own.sum()) for _, own in found])
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    scaled = np.column_stack([(x - mean) / spread, np.ones(len(x))])
    ridge = np.diag([RIDGE] * len(mean) + [0.0])
    beta = np.zeros(len(mean) + 1)
    for _ in range(STEPS):  # Newton's method
        p = 1 / (1 + np.exp(-scaled @ beta))
        gradient = scaled.T @ (weight * (p - y)) + ridge @ beta
        curvature = (scaled * (weight * p * (1 - p))[:, None]).T @ scaled + ridge
        beta -= np.linalg.solve(curvature, gradient)
    return beta[:-1] / spread


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Print the coefficients fitted on the tuning halves, and how well they tell pieces apart on the others."""
    encoder = StaticEncoder()
    data = [load(folder) for folder in folders]
    tuned = [rows(encoder, one, "tune") for one in data]
    held = [rows(encoder, one, "report") for one in data]
    every = fit(tuned)
    for name, value in zip(NAMES, every.round(2).tolist(), strict=True):
        click.echo(f"{value:6.2f}  {name}")
    for place, (one, (x, y)) in enumerate(zip(data, held, strict=True)):
        others = [own for at, own in enumerate(tuned) if at != place]
        without = f", without {_auroc(x @ fit(others), y):.3f}" if others else ""
        click.echo(f"{one.name}: {len(y)} pieces, AUROC {_auroc(x @ every, y):.3f}{without}")


def _labelled(question: Question) -> list[Rows]:
    """Return a row for each piece of each relevant memory, with the idf of the question's candidates."""
    asked = question.asked
    long = [one for one in asked.candidates if one.features.is_long]
    places = {one.memory.id: place for place, one in enumerate(long)}
    pieces = gathered([one.features for one in long], question.query.text)
    if not long:
        return []
    signal = signals(pieces)
    found: list[Rows] = []
    for id_ in (id_ for ids in question.relevant.values() for id_ in ids if id_ in places):
        one = long[places[id_]]
        first, stop = pieces.first[places[id_]], pieces.first[places[id_] + 1]
        text = body(one.memory.content)
        spans = np.frombuffer(one.features.spans, np.int32).reshape(-1, 2).tolist()
        words = np.array([len(question.answer.intersection(tokenize(text[start:end]))) for start, end in spans])
        label = (words == words.max()).astype(np.float64)
        if label.sum() == 1:
            found.append((signal[first:stop], label))
    return found


def _auroc(scores: Doubles, labels: Doubles) -> float:
    return auroc(scores[labels == 1], scores[labels == 0])


if __name__ == "__main__":
    main()

"""Train the model of relations between names, and write its weights with their card.

    python -m deploy.relations DATA [--output core/graph/facts/weights]

DATA is a folder with `relations_conll04/train.jsonl` and `dev.jsonl`. The penalty is the one that fits `dev` best.
For each kind the default threshold is the lowest probability from which 90 % of the relations of `dev` are right. None
is below 0.85.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deploy.relations.fit import Rows, fit, logits, rounded, stacked
from loadtests.quality.relations import Judged, judged_pairs, sentences
from muisti.core.graph.facts import between

PENALTIES = (0.1, 0.25, 0.5, 1.0, 2.0)
PRECISION = 0.9
LEAST = 0.85  # below it, most relations found in chats about code were wrong
FEWEST = 10  # relations of a kind above a threshold
NEVER = 1.01  # a threshold that no probability reaches
CARD = Path(__file__).with_name("card.txt")


def pairs(judged: Sequence[Judged]) -> tuple[Rows, list[str]]:
    """Return the pairs of sentences with gold entities as arrays, and the kind of each pair."""
    found = [(key, features, one) for one in judged for key, features in judged_pairs(one, one.mentions)]
    rows = stacked([features for _, features, _ in found], [key in one.relations for key, _, one in found])
    return rows, [key[2] for key, _, _ in found]


def probabilities(rows: Rows, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how probable the relation of each pair is."""
    return 1 / (1 + np.exp(-logits(rows, weights)))


def loss(rows: Rows, weights: npt.NDArray[np.float64]) -> float:
    """Return the mean negative log likelihood of the labels."""
    right = np.where(rows.labels > 0, probabilities(rows, weights), 1 - probabilities(rows, weights))
    return float(-np.log(np.maximum(right, 1e-9)).mean())


def sure(rows: Rows, kinds: Sequence[str], weights: npt.NDArray[np.float64]) -> list[float]:
    """Return for each kind the lowest probability from which enough of the relations are right."""
    found = probabilities(rows, weights)
    return [_lowest(found[here], rows.labels[here]) for here in (np.array(kinds) == k for k in between.KINDS.values())]


def _lowest(found: npt.NDArray[np.float64], labels: npt.NDArray[np.float64]) -> float:
    order = np.argsort(-found)
    precision = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero((precision >= PRECISION) & (np.arange(1, len(order) + 1) >= FEWEST))
    return max(LEAST, float(found[order[enough[-1]]])) if len(enough) else NEVER


def main() -> None:
    """Train, choose, and write."""
    parser = argparse.ArgumentParser(prog="python -m deploy.relations", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, default=between.WEIGHTS.parent)
    given = parser.parse_args()
    folder = given.data / "relations_conll04"
    train, _ = pairs(sentences(folder / "train.jsonl"))
    dev, kinds = pairs(sentences(folder / "dev.jsonl"))
    fits = {penalty: fit(train, between.BUCKETS, penalty) for penalty in PENALTIES}
    penalty = min(fits, key=lambda one: loss(dev, fits[one]))
    weights, scale = rounded(fits[penalty])
    thresholds = sure(dev, kinds, weights * scale)
    given.output.mkdir(parents=True, exist_ok=True)
    path = given.output / between.WEIGHTS.name
    np.savez_compressed(path, weights=weights, scale=np.float64(scale), sure=np.array(thresholds))
    table = "\n".join(
        f"| {kind} | {least:.3f} |" for kind, least in zip(between.KINDS.values(), thresholds, strict=True)
    )
    card = CARD.read_text(encoding="utf-8").format(
        pairs=f"{len(train.labels):,}",
        true=f"{int(train.labels.sum()):,}",
        penalty=penalty,
        buckets=f"{between.BUCKETS:,}",
        used=f"{np.count_nonzero(weights):,}",
        size=round(path.stat().st_size / 1000),
        thresholds=table,
    )
    (given.output / "MODEL.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()

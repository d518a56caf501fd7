"""Fits the map of queries: from vectors of the model that ships to those of the second model `minilm`.

It runs in Muisti's own environment with the extra `minilm`, because both models must embed as they do in the product.
The texts are those of `make model`. The build folder keeps them and the vectors, so an interrupted build resumes.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from deploy.model import corpus, packages
from deploy.model.decontaminate import Contamination
from deploy.model.map_card import Facts, write_card
from deploy.model.packages import Source
from deploy.model.progress import say
from deploy.model.values import Pair
from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.embedding.minilm import minilm
from muisti.core.embedding.vectors import MATRIX, MODELS, Between

CORPUS_SEED = 20_261_122  # that of `make model`, so that both build from the same pairs
SEED = 20_261_128
TEXTS = 12_000  # at most
SHARD = 500  # texts whose vectors rest in one file
RIDGES = np.geomspace(1e-3, 1.0, 7)  # times the mean variance of the inputs; the held-out texts choose one
HELD_OUT = 10  # one text of so many
LONGEST = 400  # characters of a text
# Pairs of a source whose first text is learned from, by its reader.
PER_SOURCE = {
    "chitchat": 6_000,
    "wordnet": 5_000,
    "html": 1_200,
    "plain": 1_000,
    "factbook": 1_000,
    "chatterbot": 700,
    "bioregistry": 600,
    "caniuse": 300,
    "python": 250,
}
PACKAGES = 14  # of Python that are read
DOCUMENTS = 0.05  # share of these pairs whose second text is learned from too

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A map, the cosine of mapped and true vectors of texts that were held out, and the ridge that was chosen."""

    matrix: Matrix
    offset: Matrix
    cosine: float
    ridge: float


def main() -> None:
    options = _options()
    sources = few(packages.texts(packages.listed()))
    say("1/4 fetching packages by pip, npm and apt-get (Debian's need `apt-get update` first)")
    folder = options.build / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    packages.fetch(sources, folder)
    say("2/4 reading texts")
    contamination = Contamination.of_folder(options.decontaminate)
    shelf = corpus.Shelf(folder, options.build / "pairs", contamination, CORPUS_SEED)
    readings = corpus.read_all(sources, shelf, options.threads)
    texts = chosen({source: corpus.load_pairs(source, shelf.cache, shelf.seed) for source in sources})
    say(f"3/4 embedding {len(texts):,} texts by both models")
    own, second = StaticEncoder(), minilm()
    inputs = np.stack([own.encode_query(text) for text in texts])
    targets = embedded(second, texts, options.build / "query-map")
    say("4/4 fitting")
    fitted = fit(inputs, targets)
    write(fitted, Between(own.identity, second.identity), options.output)
    write_card(options.output, Facts(readings, len(texts), fitted.cosine, fitted.ridge))
    say(f"done: {options.output}; cosine of mapped and true vectors {fitted.cosine:.4f}")


def few(sources: Sequence[Source]) -> list[Source]:
    """Return the sources without most packages of Python: a map has few numbers, which a part of the texts fits."""
    python = [source for source in sources if source.registry == "pypi" and source.reads == "python"][:PACKAGES]
    return [source for source in sources if source.reads != "python" or source in python or source.registry == "python"]


def chosen(pairs: dict[Source, list[Pair]]) -> list[str]:
    """Return the texts to learn from in a random order: questions, other short texts, some of what they should find."""
    texts: dict[str, None] = {}
    for source, found in pairs.items():
        chance = random.Random(f"{SEED} {source.name}")
        for pair in found[: PER_SOURCE[source.reads]]:
            texts[pair.query[:LONGEST]] = None
            if chance.random() < DOCUMENTS:
                texts[pair.document[:LONGEST]] = None
    shuffled = list(texts)
    random.Random(SEED).shuffle(shuffled)
    return shuffled[:TEXTS]


def embedded(encoder: Encoder, texts: Sequence[str], cache: Path) -> Matrix:
    """Return the vectors of texts; those in the cache are not computed again."""
    cache.mkdir(parents=True, exist_ok=True)
    shards: list[Matrix] = []
    for at in range(0, len(texts), SHARD):
        shard = texts[at : at + SHARD]
        file = cache / f"{sha256(chr(0).join((encoder.identity, *shard)).encode()).hexdigest()[:32]}.npy"
        if not file.exists():
            part = file.with_suffix(".part.npy")
            np.save(part, encoder.encode(shard).astype(np.float16))
            part.rename(file)
        shards.append(np.load(file).astype(np.float32))
    return np.concatenate(shards)


def fit(inputs: Matrix, targets: Matrix) -> Fitted:
    """Fit the map by ridge regression, with the ridge that brings held-out texts closest to their true vectors."""
    known = inputs.any(axis=1)  # a text without known words has no vector
    inputs, targets = inputs[known], targets[known]
    held = np.arange(len(inputs)) % HELD_OUT == 0
    tried = [_solved(inputs[~held], targets[~held], ridge) for ridge in RIDGES]
    cosines = [_closeness(inputs[held], targets[held], *one) for one in tried]
    best = int(np.argmax(cosines))
    return Fitted(*_solved(inputs, targets, RIDGES[best]), cosines[best], float(RIDGES[best]))


def write(fitted: Fitted, between: Between, folder: Path) -> None:
    """Write the map, its columns rounded to int8."""
    folder.mkdir(parents=True, exist_ok=True)
    scales = (np.abs(fitted.matrix).max(axis=0) / 127).astype(np.float32)
    steps = np.divide(fitted.matrix, scales, out=np.zeros_like(fitted.matrix), where=scales > 0)
    arrays = {"matrix": np.rint(steps).astype(np.int8), "scales": scales, "offset": fitted.offset}
    save_file(arrays, folder / MATRIX)
    (folder / MATRIX).chmod(0o644)  # safetensors writes for the owner alone
    (folder / MODELS).write_bytes(msgspec.json.format(msgspec.json.encode(between)) + b"\n")


def _solved(inputs: Matrix, targets: Matrix, ridge: float) -> tuple[Matrix, Matrix]:
    mean, middle = inputs.mean(axis=0), targets.mean(axis=0)
    own, wanted = (inputs - mean).astype(np.float64), (targets - middle).astype(np.float64)
    gram = own.T @ own
    gram[np.diag_indices_from(gram)] += ridge * np.trace(gram) / len(gram)
    matrix = np.linalg.solve(gram, own.T @ wanted).astype(np.float32)
    return matrix, (middle - mean @ matrix).astype(np.float32)


def _closeness(inputs: Matrix, targets: Matrix, matrix: Matrix, offset: Matrix) -> float:
    mapped = inputs @ matrix + offset
    return float(np.mean(np.sum(mapped * targets, axis=1) / np.linalg.norm(mapped, axis=1)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make query-map", description=__doc__)
    parser.add_argument(
        "--decontaminate", type=Path, metavar="FOLDER", required=True, help="evaluation data: *.jsonl, at any depth"
    )
    parser.add_argument(
        "--build", type=Path, default=Path("build/model"), help="downloads and stages, kept between runs"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("build/model/query-map/output"), help="where the map is written"
    )
    parser.add_argument("--threads", type=int, default=1, help="readers")
    return parser.parse_args()


if __name__ == "__main__":
    main()

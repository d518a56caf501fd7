"""From the trained table to the files that Muisti loads: whitened lightly, rounded to int8, norms kept as weights."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from deploy.model.pooling import Matrix, pool, weighted
from deploy.model.start import principal_axes
from deploy.model.train import PairCounts, Student, stack

DIMENSIONS = 256
CLIPPED = 99.995  # percentile of |x| that becomes 127
MODULES = [
    {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"},
    {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
]
CONFIG = {"max_length": None, "normalize": True, "embedding_dtype": "int8", "repeats": "sqrt"}


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays of model.safetensors. A document is the sum of √n · weights[t] · embeddings[t], scaled to length 1."""

    embeddings: npt.NDArray[np.int8]  # tokens × dimensions
    weights: npt.NDArray[np.float32]
    query_weights: npt.NDArray[np.float32]  # take the place of `weights` in queries


def whiten(table: Matrix, query_weights: npt.NDArray[np.float32], texts: PairCounts, power: float) -> Matrix:
    """The table on the first principal axes of pooled texts, each axis scaled by (variance / largest)^-power."""
    vectors = np.concatenate(
        [pool(weighted(texts.queries, query_weights), table).units, pool(texts.documents, table).units]
    )
    _, axes = principal_axes(vectors, DIMENSIONS)
    spread = ((vectors - vectors.mean(axis=0)) @ axes).var(axis=0)
    return (table @ axes * (spread / spread.max()) ** -power).astype(np.float32)


def round_table(student: Student) -> Arrays:
    """Rows of length 1 on one int8 scale; the lengths become the weights, so that rounding never costs a rare token."""
    lengths = np.linalg.norm(student.table, axis=1)
    rows = student.table / np.maximum(lengths, 1e-9)[:, None]
    scale = 127 / np.percentile(np.abs(rows), CLIPPED)
    embeddings = np.clip(np.rint(rows * scale), -127, 127).astype(np.int8)
    weights = (lengths / lengths.mean()).astype(np.float32)
    return Arrays(embeddings, weights, (weights * student.query_weights).astype(np.float32))


def save(arrays: Arrays, tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: np.ascontiguousarray(getattr(arrays, name)) for name in Arrays.__slots__}
    save_file(tensors, folder / "model.safetensors")
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner alone
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=4) + "\n")
    (folder / "modules.json").write_text(json.dumps(MODULES, indent=4) + "\n")


def digests(folder: Path) -> dict[str, str]:
    names = ("model.safetensors", "tokenizer.json", "config.json", "modules.json")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def sample(parts: list[PairCounts], wanted: int, seed: int) -> PairCounts:
    """About `wanted` pairs of each part."""
    chance = np.random.default_rng(seed)
    chosen: list[PairCounts] = []
    for part in parts:
        size = part.queries.shape[0]
        rows = chance.choice(size, min(wanted, size), replace=False)
        chosen.append(PairCounts(part.queries[rows], part.documents[rows]))
    return stack(chosen)

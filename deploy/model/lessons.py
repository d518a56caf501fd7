"""What the teacher is asked to embed: some pairs of every source. The build's longest stage, so it rests on disk."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deploy.model.packages import Source
from deploy.model.pooling import Matrix
from deploy.model.teacher import SPECIAL, Teacher
from deploy.model.values import Pair

TOKENS = 40  # of a text that the teacher and, in these lessons, the student read
# Pairs of a source, by its reader: many short texts of every kind teach more than a few long ones.
PER_SOURCE = {
    "chitchat": 2_000,
    "wordnet": 1_200,
    "html": 150,
    "plain": 150,
    "factbook": 150,
    "chatterbot": 150,
    "bioregistry": 150,
    "caniuse": 50,
    "python": 30,
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """Pairs and the teacher's vectors of both sides, unit length, float32 (pairs, 384)."""

    pairs: list[Pair]
    queries: Matrix
    documents: Matrix


def teach(source: Source, pairs: list[Pair], teacher: Teacher, cache: Path) -> Lesson:
    """The teacher's vectors of the first pairs of a source; what `cache` has is not computed again."""
    chosen = pairs[: PER_SOURCE[source.reads]]
    cache.mkdir(parents=True, exist_ok=True)
    file = cache / f"{source.name.replace('/', '-')}-{len(chosen)}.npy"
    if not file.exists():
        texts = [pair.query for pair in chosen] + [pair.document for pair in chosen]
        vectors = teacher.encode(texts, TOKENS + SPECIAL).reshape(2, len(chosen), -1)
        part = file.with_suffix(".part.npy")
        np.save(part, vectors.astype(np.float16))
        part.rename(file)
    vectors = np.load(file).astype(np.float32)
    return Lesson(chosen, vectors[0], vectors[1])


def join(parts: list[Lesson]) -> Lesson:
    return Lesson(
        [pair for part in parts for pair in part.pairs],
        np.concatenate([part.queries for part in parts]),
        np.concatenate([part.documents for part in parts]),
    )

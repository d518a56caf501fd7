"""Lessons: pairs of every source that the teacher embeds. The build's longest stage, so it keeps them on disk."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deploy.model.packages import Source
from deploy.model.pooling import Matrix
from deploy.model.teacher import SPECIAL, Teacher
from deploy.model.values import Pair

TOKENS = 64  # of a text that the teacher and, in these lessons, the student read
SHARD = 1_000  # pairs
# Pairs of a source, by its reader.
PER_SOURCE = {
    "chitchat": 30_000,
    "wordnet": 30_000,
    "html": 6_000,
    "plain": 4_000,
    "factbook": 5_000,
    "chatterbot": 2_000,
    "bioregistry": 3_000,
    "caniuse": 1_000,
    "python": 600,
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """Pairs and the teacher's vectors of both sides, unit length, float32 (pairs, 384)."""

    pairs: list[Pair]
    queries: Matrix
    documents: Matrix


def teach(source: Source, pairs: list[Pair], teacher: Teacher, cache: Path) -> Lesson:
    """The teacher's vectors of the first pairs of a source; shards that `cache` has are not computed again."""
    chosen = pairs[: PER_SOURCE[source.reads]]
    cache.mkdir(parents=True, exist_ok=True)
    shards: list[Matrix] = []
    for at in range(0, len(chosen), SHARD):
        shard = chosen[at : at + SHARD]
        file = cache / f"{source.name.replace('/', '-')}-{at}-{len(shard)}.npy"
        if not file.exists():
            texts = [pair.query for pair in shard] + [pair.document for pair in shard]
            part = file.with_suffix(".part.npy")
            np.save(part, teacher.encode(texts, TOKENS + SPECIAL).reshape(2, len(shard), -1).astype(np.float16))
            part.rename(file)
        shards.append(np.load(file).astype(np.float32))
    vectors = np.concatenate(shards, axis=1)
    return Lesson(chosen, vectors[0], vectors[1])


def join(parts: list[Lesson]) -> Lesson:
    return Lesson(
        [pair for part in parts for pair in part.pairs],
        np.concatenate([part.queries for part in parts]),
        np.concatenate([part.documents for part in parts]),
    )

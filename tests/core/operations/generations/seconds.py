"""An engine with a second model that is a fake: its background work, and the vectors that an index has."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import Engine
from muisti.core.index.snapshot import Snapshot
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from tests.core.fakes import SPACE, Clock, WordEncoder, open_engine
from tests.stores import Store

TEXTS = [f"text number {number} about {topic}" for number, topic in enumerate(["rivers", "stones", "lamps"] * 20)]
NAME = "words-slow"


class Slow(WordEncoder):
    """A model that no write waits for, which counts the texts that it has embedded."""

    deferred = True

    def __init__(self, seed: str = "slow", dimensions: int = 96) -> None:
        super().__init__(seed, dimensions)
        self.embedded: Counter[str] = Counter()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.embedded.update(texts)
        return super().encode(texts)

    def encode_query(self, text: str) -> np.ndarray:
        return super().encode([text])[0]


def opened(store: Store, slow: WordEncoder) -> Engine:
    return open_engine(store, encoder=WordEncoder("own"), seconds={NAME: slow}, clock=Clock())


def switch(engine: Engine, to: str = NAME, space: str = SPACE) -> None:
    engine.spaces.set_policy(space, {"second_model": to})
    settle(engine)


def settle(engine: Engine) -> None:
    """Do all background work, in steps and in tasks."""
    runner = engine.runner(60, 2)
    while spaces := engine.second_vectors.lagging():
        for space in spaces:
            while engine.second_vectors.step(space):
                pass
        while runner.run_one() is not None:
            pass


def search(engine: Engine, text: str = "stones", space: str = SPACE) -> list[str]:
    return [hit.memory.id for hit in engine.owner.read.search(space, Query(text=text)).hits]


def snapshot(engine: Engine, space: str = SPACE) -> Snapshot:
    """The snapshot that a search uses, which takes over what the store has."""
    search(engine, space=space)
    return engine._indexes.fresh(space)[1]


def vectors(engine: Engine, space: str = SPACE) -> dict[tuple[int, int], tuple[bytes, bytes, float, float]]:
    """The second vectors of the current rows, by version and passage; those that have none are left out."""
    seen = snapshot(engine, space)
    if seen.second is None:
        return {}
    alive = np.flatnonzero(seen.alive(0) & (seen.second.scales > 0))
    s, c = seen.second, seen.columns
    return {
        (int(c.version[row]), int(c.number[row])): (
            s.codes[row].tobytes(), s.fine[row].tobytes(), float(s.scales[row]), float(s.fine_scales[row]),
        )
        for row in alive.tolist()
    }  # fmt: skip


def reloaded(engine: Engine, space: str = SPACE) -> dict[tuple[int, int], tuple[bytes, bytes, float, float]]:
    engine._indexes.drop(space)
    return vectors(engine, space)


def stored(engine: Engine) -> int:
    asked = "SELECT count(*) FROM embeddings e JOIN generations g ON g.id = e.generation_id WHERE g.model = ?"
    return int(str(engine._database.read([Statement(asked, (NAME,))])[0][0][0]))

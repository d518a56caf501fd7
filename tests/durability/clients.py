"""Clients that write to a store from concurrent threads, and record the replies."""

import itertools
import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import numpy as np

from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import Engine
from muisti.core.model.values import Draft, RequestKey
from muisti.core.support.waiting import Overtaken, WouldWait
from muisti.core.views.write import Outcome
from tests.durability.crash_vfs import RecordingDisk
from tests.durability.history import History, NotingDatabase

SPACES = ("default", "notes")
WORDS = ("river", "stone", "lamp", "market", "winter", "engine", "letter", "garden", "signal", "harbour")


class HashingEncoder:
    """Vectors from words, without a model."""

    identity = "hashing"
    name = "hashing"
    dimensions = 16
    deferred = False

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.array(
            [[1 + text.count(chr(97 + i)) for i in range(self.dimensions)] for text in texts], np.float32
        )
        return cast(Vectors, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


class Clients:
    """Threads that add, change and delete, each only its own memories, so that no writes conflict."""

    def __init__(self, engine: Engine, database: NotingDatabase, disk: RecordingDisk, history: History) -> None:
        self._engine = engine
        self._database = database
        self._disk = disk
        self._history = history
        self.together = 0  # batches of several calls

    def run(self, threads: int, steps: int, rng: random.Random) -> None:
        for name in SPACES:
            if name not in {life.name for life in self._history.lifecycle.values()}:
                space = self._engine.spaces.ensure(name)
                self._history.made(name, space.epoch, self._database.acknowledged)
        seeds = [rng.random() for _ in range(threads)]
        with ThreadPoolExecutor(threads + 1) as pool:
            works = [pool.submit(self._work, seed, steps) for seed in seeds]
            works.append(pool.submit(self._make_and_delete, rng.random()))
            for work in works:
                work.result()

    def _work(self, seed: float, steps: int) -> None:
        rng = random.Random(seed)
        own: list[tuple[str, str]] = []
        for _ in range(steps):
            if len(own) < 3 or rng.random() < 0.4:
                own += self._add_together(rng.choice(SPACES), rng) or self._add(
                    rng.choice(SPACES), rng, rng.choice((1, 1, 4))
                )
            else:
                chosen = own[rng.randrange(len(own))]
                if rng.random() < 0.6:
                    written = self._engine.owner.write.update(
                        *chosen, {"content": sentence(rng), "tags": (rng.choice(WORDS),)}
                    )
                    self._history.wrote("updated", written, self._database.acknowledged)
                else:
                    own.remove(chosen)
                    self._history.wrote(
                        "deleted", self._engine.owner.write.delete(*chosen), self._database.acknowledged
                    )

    def _add(self, space: str, rng: random.Random, count: int) -> list[tuple[str, str]]:
        drafts = [Draft(content=sentence(rng), tags=(rng.choice(WORDS),)) for _ in range(count)]
        key = f"{rng.getrandbits(64):x}" if rng.random() < 0.5 else None
        request = None if key is None else RequestKey("test", key, b"body")
        written = self._engine.owner.write.add(space, drafts, on_conflict="keep", request=request)
        self._history.wrote("created", written, self._database.acknowledged, key)
        return [(space, memory.id) for memory in written.memories]

    def _add_together(self, space: str, rng: random.Random) -> list[tuple[str, str]]:
        """Add some memories as one batch of several calls, as a server does; none when that would have to wait."""
        write, ended = self._engine.owner.write, Future[tuple[Outcome, int]]()
        drafts = [Draft(content=sentence(rng)) for _ in range(rng.randint(2, 8))]
        try:
            begun = write.begin_adds(
                space,
                [(write, draft) for draft in drafts],
                "keep",
                lambda outcome: ended.set_result((outcome, self._disk.position)),
            )
            outcome, position = ended.result()
            written = [write.end_add(one, outcome) for one in begun]
        except (WouldWait, Overtaken):
            return []
        self.together += 1
        for one in written:
            self._history.wrote("created", one, position, is_last=one is written[-1])
        return [(space, one.memories[0].id) for one in written]

    def _make_and_delete(self, seed: float) -> None:
        rng = random.Random(seed)
        for _ in range(2):
            space = self._engine.spaces.create(f"scratch-{rng.getrandbits(32)}")
            self._history.made(space.name, space.epoch, self._database.acknowledged)
            drafts = [Draft(content=sentence(rng)) for _ in range(5)]
            written = self._engine.owner.write.add(space.name, drafts, on_conflict="keep")
            self._history.wrote("created", written, self._database.acknowledged)
            life = self._history.lifecycle[space.epoch]
            life.deleting = self._disk.position
            self._engine.spaces.delete(space.name)
            life.deleted = self._database.acknowledged


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(5, 60)))


def ticking() -> Callable[[], int]:
    """Return a clock that advances by a millisecond at each reading."""
    return itertools.count(1_700_000_000_000_000, 1_000).__next__

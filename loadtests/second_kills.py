"""kill -9 while two processes make the vectors of a second model: what is lost, and what is there twice.

`python -m loadtests.second_kills` prints the result for a file and for sqld.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from loadtests.second_worker import settings
from loadtests.task_kills import places
from muisti.core.embedding.minilm import minilm
from muisti.core.embedding.vectors import pack
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.generations import Generation
from muisti.core.model.values import Draft
from muisti.core.store.database import Statement
from muisti.service.app.app import open_engine

ROOT = Path(__file__).parents[1]
SPACE = "default"
PATIENCE = 120.0  # seconds in which a vector must follow
LATE = 4  # texts that come at a time while others are embedded
_WORDS = ("river", "stone", "lamp", "garden", "letter", "winter", "copper", "window", "harbour", "table", "engine")


@dataclass
class Outcome:
    """Results: passages, vectors by the second model, vectors that are not those of their text, and kills.

    `tasks` has the finished and the expected passages of each task. `indexed` counts the vectors in an index.
    """

    passages: int
    vectors: int
    wrong: int
    kills: int
    tasks: list[tuple[str, int, int]]
    indexed: int
    seconds: float


def run(url: str, namespace: str, folder: Path, *, texts: int, kills: int, lease: float, seed: int = 1) -> Outcome:
    """Store texts, let two processes embed them, and kill one of them so many times; some texts come meanwhile."""
    rng = random.Random(seed)
    began = time.monotonic()
    with open_engine(settings(url, namespace, lease)) as engine:
        contents = [f"{' '.join(rng.choices(_WORDS, k=30))} number {number}" for number in range(texts)]
        late = contents[-texts // 5 :]
        _add(engine, contents[: -len(late)])
        processes = [_start(url, namespace, lease, folder) for _ in range(2)]
        done, known, since = 0, 0, began
        try:
            while late or not _is_complete(engine):
                if (stored := _stored(engine)) > known:
                    known, since = stored, time.monotonic()
                assert time.monotonic() < since + PATIENCE, "the vectors do not come"
                _add(engine, late[-LATE:])
                del late[-LATE:]
                assert all(one.poll() is None for one in processes), "a process ended by itself"
                time.sleep(rng.uniform(0.2, 0.6))
                if done < kills and all((folder / str(one.pid)).exists() for one in processes):
                    victim = rng.choice(processes)
                    processes.remove(victim)
                    victim.kill()
                    victim.wait()
                    done += 1
                    processes.append(_start(url, namespace, lease, folder))
        finally:
            for one in processes:
                one.kill()
                one.wait()
        return _outcome(engine, done, time.monotonic() - began)


def _start(url: str, namespace: str, lease: float, folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "loadtests.second_worker", url, namespace, str(lease), str(folder)]
    return subprocess.Popen(command, cwd=ROOT)


def _add(engine: Engine, contents: list[str]) -> None:
    for start in range(0, len(contents), 100):
        drafts = [Draft(content=text) for text in contents[start : start + 100]]
        engine.owner.write.add(SPACE, drafts, on_conflict="keep")


def _second(engine: Engine) -> Generation | None:
    return next((one for one in engine.generations.list(SPACE, OWNER) if one.role == "second"), None)


def _stored(engine: Engine) -> int:
    """Return how many passages have vectors of the second model."""
    second = _second(engine)
    return 0 if second is None else second.embedded


def _is_complete(engine: Engine) -> bool:
    """Return whether all passages have vectors, and the space says so."""
    second = _second(engine)
    return second is not None and not second.missing and not engine.second_vectors.lagging()


def _outcome(engine: Engine, kills: int, seconds: float) -> Outcome:
    encoder = minilm()
    asked = (
        "SELECT v.content, v.tags, e.vector FROM versions v JOIN passages p ON p.version_id = v.id "
        "LEFT JOIN embeddings e ON e.version_id = p.version_id AND e.number = p.number "
        "AND e.generation_id = (SELECT id FROM generations WHERE hash = ?)"
    )
    (rows,) = engine._database.read([Statement(asked, (encoder.identity,))])
    made = pack(encoder.encode([cast(str, content) for content, _, _ in rows]))
    tasks = engine.tasks.list(SPACE, OWNER, kinds=["embed"]).items
    index, snapshot = engine._indexes.fresh(SPACE)
    engine._indexes.drop(SPACE, index)
    _, snapshot = engine._indexes.fresh(SPACE)
    return Outcome(
        passages=len(rows),
        vectors=sum(vector is not None for _, _, vector in rows),
        wrong=sum(vector is not None and vector != blob for (_, _, vector), blob in zip(rows, made, strict=True)),
        kills=kills,
        tasks=[(one.state, one.done, one.total or 0) for one in tasks],
        indexed=0 if snapshot.second is None else len(snapshot.second.scales) - snapshot.second.blanks,
        seconds=seconds,
    )


def main() -> int:
    """0 when nothing was lost, and no vector is another than that of its text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=24)
    options = parser.parse_args()
    wrong = 0
    for store in ("file", "sqld"):
        with tempfile.TemporaryDirectory() as name, places(store, Path(name)) as (url, namespace):
            seen = run(url, namespace, Path(name), texts=options.texts, kills=options.kills, lease=3.0)
            print(store, seen)  # noqa: T201
            wrong += seen.wrong + seen.passages - seen.vectors
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

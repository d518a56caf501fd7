"""Print an engine's exact answers to fixed questions, and how its kernels are compiled.

`test_versions.py` runs this program with a folder in PYTHONPATH that contains `muisti/core`.
"""

import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.graph.entities.recogniser import shipped
from muisti.core.kernels import stages
from muisti.core.kernels.target import KERNELS, warning
from muisti.core.model.hits import Fusion, Mode, Recency
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase

STANDING = "Always name the server when I ask about backups and keys"
NOW = 1_700_000_000_000_000
WORDS = """
deploy friday server backup key index memory vector search query cache thread commit group sqlite write token budget
policy category filter passage language stem rank score decay weight trust author
"""


def texts(number: int) -> list[str]:
    """Return texts of words of the field, some so long that they are cut into passages."""
    rng, words = np.random.default_rng(7), WORDS.split()
    return [" ".join(rng.choice(words, 5 + 40 * (i % 50 == 0) * 10)) + f" number{i}" for i in range(number)]


def answers(engine: Engine) -> list[object]:
    """Return what is found in each mode and fusion, with scores as hexadecimal floats."""
    found: list[object] = []
    filters = [None, parse({"tags": ["even"]})]
    for mode, fusion, filter in product(get_args(Mode), get_args(Fusion), filters):
        for text in ("when do we deploy the server?", "backup AND keys", '"search query" cache number17'):
            query = Query(text=text, mode=mode, fusion=fusion, filter=filter, limit=30, recency=Recency(), explain=True)
            answer = engine.owner.read.search("s", query)
            hits = sorted((hit.score.hex(), hit.memory.content, hit.passage.start) for hit in answer.hits)
            lane = [(one.memory.content, one.score.hex()) for one in answer.instructions]
            found.append([mode, fusion, answer.total, answer.evidence, answer.strength.hex(), hits, lane])
    return found


def main() -> None:
    """Store, search, forget and search again, also with an index that is read from the file."""
    drafts = [Draft(content=text, tags=("even",) * (i % 2 == 0)) for i, text in enumerate([*texts(600), STANDING])]
    with tempfile.TemporaryDirectory() as folder:
        with opened(folder) as engine:
            engine.spaces.create("s")
            stored = engine.owner.write.add("s", drafts, on_conflict="keep").memories
            found = answers(engine)
            for memory in stored[::7]:
                engine.owner.write.delete("s", memory.id)
            engine.owner.write.add(
                "s", [Draft(content="The backup of the server is no index of the search")], on_conflict="reject"
            )
            found += answers(engine)
        with opened(folder) as engine:
            found += answers(engine)
    mentions = shipped().read("Ann Lee of Acme Corp met Bob in Oslo")
    found.append([(one.start, one.stop, one.kind, one.confidence.hex()) for one in mentions])
    used = {stage.__name__ for stage in stages for loop in vars(stage).values() if getattr(loop, "signatures", ())}
    report = {"library": KERNELS is not None, "warning": warning(), "used": sorted(used), "found": found}
    sys.stdout.write(json.dumps(report))


def opened(folder: str) -> Engine:
    return Engine(FileDatabase(Path(folder) / "a.db", readers=1), StaticEncoder(), lambda: NOW)


main()

"""`python -m loadtests.moving`: move a space from a file to sqld and back, and check that it is unchanged.

`muisti export` and `muisti import` run as processes of their own, with the model that Muisti ships. Then both ends get
the same queries, and all their histories, vectors and counts are compared.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from rich.console import Console

from deploy.cluster.sqld import Sqld
from loadtests import tables, texts
from loadtests.tables import Table
from muisti.core.databases import open_database
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.collisions import AddressTaken
from muisti.core.model.errors import ChangedSince, InvalidInput, NotFound
from muisti.core.model.hits import Answer
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft
from muisti.core.query.filters import Leaf
from muisti.core.query.query import Query
from muisti.service.runtime.databases import location_of
from muisti.service.settings import Settings

STEPS, SEARCHES = 4_000, 500
SPACE, TAGS = "moved", ("red", "green", "blue")
MUISTI = Path(sys.executable).with_name("muisti")


@dataclass
class Place:
    """A database with the space, and what the commands did with it: rows of the table."""

    name: str
    settings: Mapping[str, str]
    told: dict[str, str] = field(default_factory=dict[str, str])

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        settings = Settings(**{key.removeprefix("MUISTI_").lower(): value for key, value in self.settings.items()})
        with Engine(open_database(location_of(settings)), StaticEncoder(), lambda: time.time_ns() // 1000) as opened:
            yield opened

    def run(self, *words: str | Path) -> dict[str, Any]:
        command = [MUISTI, "--space", SPACE, "--json", *words]
        done = subprocess.run(command, env={**os.environ, **self.settings}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout or "{}")

    def export(self, file: Path) -> Path:
        began = time.perf_counter()
        self.run("export", file)
        self.told["exported, seconds"] = f"{time.perf_counter() - began:.1f}"
        return file

    def take(self, file: Path) -> None:
        began = time.perf_counter()
        report = self.run("import", file)
        self.told["memories that came in"] = f"{report['created']:,}"
        self.told["imported, seconds"] = f"{time.perf_counter() - began:.1f}"
        with self.engine() as engine:
            before = engine.spaces.get(SPACE)
        again = self.run("import", file)
        with self.engine() as engine:
            assert engine.spaces.get(SPACE) == before, "a second import has changed the space"
        self.told["the second time: came in, passed over, changes"] = f"{again['created']}, {_passed(again)}, 0"


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as made, Sqld(Path(made)) as sqld:
        folder = Path(made)
        sqld.create("moving")
        remote = {"MUISTI_DATABASE_URL": sqld.url, "MUISTI_DATABASE_NAMESPACE": "moving"}
        first, there, back = (
            Place("file", {"MUISTI_DATABASE_URL": f"file:{folder / 'first.db'}"}),
            Place("to sqld", remote),
            Place("back to a file", {"MUISTI_DATABASE_URL": f"file:{folder / 'back.db'}"}),
        )
        with first.engine() as engine:
            lived(engine, options.steps)
        there.take(first.export(folder / "first.ndjson"))
        back.take(there.export(folder / "there.ndjson"))
        back.export(folder / "back.ndjson")
        same = compared(first, there, folder / "first.ndjson", folder / "there.ndjson", options.searches)
        same &= compared(first, back, folder / "first.ndjson", folder / "back.ndjson", options.searches)
    rows = [(what, there.told.get(what, ""), back.told.get(what, "")) for what in back.told]
    table = Table("moving", "There and back", ("", there.name, back.name), rows)
    Console(width=120).print(tables.rich_table(table))
    return 0 if same else 1


def lived(engine: Engine, steps: int) -> None:
    """A space in which memories are added, changed, superseded, deleted, brought back and undone."""
    engine.spaces.ensure(SPACE)
    chance, (words, _), ids = random.Random(2026), texts.invented(steps), list[str]()
    for step in range(steps):
        what = chance.choices(("add", "update", "supersede", "delete", "restore", "undo"), (12, 5, 2, 2, 1, 1))[0]
        id_ = chance.choice(ids) if ids else ""
        with suppress(NotFound, AddressTaken, ChangedSince, InvalidInput):
            match what if ids else "add":
                case "add":
                    ids += [
                        one.id
                        for one in engine.owner.write.add(
                            SPACE, [_draft(words[step], chance)], on_conflict="keep"
                        ).memories
                    ]
                case "update":
                    engine.owner.write.update(SPACE, id_, {"content": words[step], "reason": "it has changed"})
                case "supersede":
                    ids += [
                        one.id for one in engine.owner.write.supersede(SPACE, id_, Draft(content=words[step])).memories
                    ]
                case "delete":
                    engine.owner.write.delete(SPACE, id_)
                case "restore":
                    engine.owner.write.restore(SPACE, id_)
                case _:
                    engine.owner.write.undo(SPACE, Undo(last=1))


def _draft(text: str, chance: random.Random) -> Draft:
    key = f"k{chance.randrange(999)}" if chance.random() < 0.2 else None
    long = "\n\n".join([text] * 40) if chance.random() < 0.02 else text
    tags, metadata = (chance.choice(TAGS),), {"session": chance.randrange(50), "deep": {"list": [1, None, "two"]}}
    return Draft(content=long, category="c" if key else None, key=key, tags=tags, metadata=metadata)


def compared(here: Place, there: Place, mine: Path, theirs: Path, searches: int) -> bool:
    """Ask both, and count what is the same; whether all is."""
    mine_, theirs_ = _lines(mine), _lines(theirs)
    ids = sorted({line["memory"]["id"] for line in theirs_ if line["type"] == "version"})
    with here.engine() as one, there.engine() as other:
        asked = list(_questions(searches, one.now()))
        equal = {
            "equal answers": [
                _told(one.owner.read.search(SPACE, each)) == _told(other.owner.read.search(SPACE, each))
                for each in asked
            ],
            "equal histories of memories": [_history(one, id_) == _history(other, id_) for id_ in ids],
            "equal lines of changes": _pairs(mine_, theirs_, "change"),
            "equal versions": _pairs(mine_, theirs_, "version"),
            "equal vectors, byte by byte": [a == b for a, b in zip(_vectors(mine_), _vectors(theirs_), strict=True)],
            "equal counts, by status, type, category and tag": [_counts(one) == _counts(other)],
        }
        found = sum(bool(one.owner.read.search(SPACE, each).hits) for each in asked)
    there.told["questions that found something"] = f"{found:,}"
    there.told |= {what: f"{sum(each):,} of {len(each):,}" for what, each in equal.items()}
    return all(all(each) for each in equal.values())


def _questions(count: int, now: int) -> Iterator[Query]:
    chance, (_, asked) = random.Random(7), texts.invented(1)
    for number in range(count):
        mode = ("hybrid", "semantic", "keyword")[number % 3]
        only = Leaf("tags", "eq", chance.choice(TAGS)) if number % 5 == 0 else None
        yield Query(text=asked[number], mode=mode, limit=20, filter=only, reference_time=now, explain=True)


def _told(answer: Answer) -> object:
    hits = [(replace(hit.memory, space=""), hit.score, hit.ranks, hit.passage, hit.explain) for hit in answer.hits]
    return hits, answer.total, answer.evidence, answer.strength, answer.strategy


def _history(engine: Engine, id_: str) -> object:
    history = engine.owner.read.history(SPACE, id_)
    return history.chain, [(each.born, each.died, each.born_at, each.died_at, each.memory) for each in history.versions]


def _counts(engine: Engine) -> object:
    stats = engine.owner.read.stats(SPACE)
    return stats.memories, stats.versions, stats.passages, stats.by


def _lines(file: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]


def _pairs(mine: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]], type_: str) -> list[bool]:
    pairs = zip(*([line for line in lines if line["type"] == type_] for lines in (mine, theirs)), strict=True)
    return [one == other for one, other in pairs]


def _vectors(lines: Sequence[dict[str, Any]]) -> list[str]:
    passages = [passage for line in lines if line["type"] == "version" for passage in line["passages"]]
    return [vector for passage in passages for vector in passage["vectors"].values()]


def _passed(report: Mapping[str, Any]) -> str:
    return f"{sum(report['skipped'].values()):,}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m loadtests.moving", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"of the space's life; {STEPS}")
    parser.add_argument("--searches", type=int, default=SEARCHES, help=f"{SEARCHES}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Damaged files: cut off, with bits turned, in another encoding, each made from a good one, the same each time."""

import random
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from muisti.core.engine import Engine
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Draft
from muisti.service.formats.importers.items import Unreadable
from muisti.service.formats.importers.registry import recognised
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.line_stream import compressed, encoded
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring
from tests.service.formats.importers.fixtures import FIXTURES, Fixture
from tests.stores import at

WAYS = ("cut off", "bits turned", "another encoding", "noise in it", "a stretch twice")
MUTANTS = 1_000  # for the table of outcomes.md
UNREADABLE = "refused as a whole, as it cannot be read from some place on"
BAD = "refused as a whole, or with `--each` taken without its bad lines"
WHOLE = "came in: the damage is within a text, or where nothing is read"
NOTHING = "held nothing that is read: the damage is in the name of a list"


@dataclass(frozen=True)
class Mutant:
    """A damaged file. `system` wrote the original."""

    system: str
    path: Path
    way: str


def exports(folder: Path) -> list[Fixture]:
    """Exports of Muisti itself, to be damaged likewise."""
    with Engine(at(folder / "from.db").open(), WordEncoder(), Clock()) as source:
        source.owner.write.add(
            "default", [Draft(content=f"memory {n} of a space") for n in range(5)], on_conflict="keep"
        )
        out = b"".join(encoded(page) for page in source.owner.read.export("default", "test", vectors=True).pages())
    return [_own(out, "export.ndjson"), _own(b"".join(compressed([out])), "export.ndjson.zst")]


def _own(data: bytes, name: str) -> Fixture:
    def make(path: Path) -> None:
        path.write_bytes(data)

    return Fixture("muisti", name, make, ())


def mutants(count: int, folder: Path, more: list[Fixture]) -> Iterator[Mutant]:
    """That many damaged files, of all fixtures and all ways in turn. Each is gone when the next is made."""
    chance = random.Random(8)
    fixtures = [*FIXTURES, *more]
    for number in range(count):
        fixture = fixtures[number % len(fixtures)]
        path = folder / str(number) / fixture.name
        path.parent.mkdir()
        fixture.make(path)
        way = chance.choice(WAYS)
        _damage(path, way, chance)
        yield Mutant(fixture.system, path, way)
        shutil.rmtree(path.parent)


def outcome(engine: Engine, space: str, mutant: Mutant) -> str:
    """Import a damaged file, and return its outcome.

    Assert that the import stores all or nothing, that it stores it once, and that the error names the place.
    """
    source = Source(mutant.path)
    try:
        system = recognised(source)
    except Unreadable as error:
        assert mutant.path.name in str(error), error
        system = mutant.system
    try:
        report, _ = bring(engine, mutant.path, space, system=system)
    except (Unreadable, InvalidInput) as error:
        assert engine.owner.read.stats(space).versions == 0
        _check_place(error)
        return _each(engine, space, mutant.path, system)
    again, _ = bring(engine, mutant.path, space, system=system)
    assert (again.created, again.import_id) == (0, None)
    return WHOLE if report.created else NOTHING


def _each(engine: Engine, space: str, path: Path, system: str) -> str:
    """Import the good lines of a file that has bad ones, and return the outcome."""
    try:
        report, _ = bring(engine, path, space, system=system, atomic=False)
    except (Unreadable, InvalidInput) as error:
        assert engine.owner.read.stats(space).versions == 0
        _check_place(error)
        return UNREADABLE
    assert report.failed and all(bad.place or bad.line for bad in report.failures)
    again, _ = bring(engine, path, space, system=system, atomic=False)
    assert (again.created, again.failed) == (0, report.failed)
    return BAD


def _check_place(error: Exception) -> None:
    """The message names the line, or the file and where in it."""
    if isinstance(error, InvalidInput):
        assert re.search(r"line \d+", str(error)), error
    else:
        named = r"[^:]+\.(db|vscdb|json|jsonl|af|md|csv|zip|jex|ndjson|zst)\b|archive_cogx"
        assert re.match(named, str(error)), f"{error} begins with no name of a file, or its extension is missing here"


def _damage(path: Path, way: str, chance: random.Random) -> None:
    """Damage the file, or one of a folder; a file of an archive rather than the archive, every other time."""
    if path.is_dir():
        path = chance.choice(sorted(one for one in path.rglob("*") if one.is_file()))
    if zipfile.is_zipfile(path) and chance.random() < 0.5:
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(sorted(files))
        files[name] = _damaged(files[name], way, chance)
        with zipfile.ZipFile(path, "w") as archive:
            for one, data in files.items():
                archive.writestr(one, data)
        return
    path.write_bytes(_damaged(path.read_bytes(), way, chance))


def _damaged(data: bytes, way: str, chance: random.Random) -> bytes:
    if way == "another encoding":
        text = data.decode("utf-8", "replace")
        return text.encode(chance.choice(("utf-16", "utf-32-be", "utf-8-sig"))) if data else data
    place = chance.randrange(len(data) + 1)
    if way == "cut off":
        return data[:place]
    if way == "noise in it":
        return data[:place] + chance.randbytes(chance.randrange(1, 9)) + data[place:]
    if way == "a stretch twice":
        return data[:place] + data[max(0, place - chance.randrange(1, 200)) :]
    turned = bytearray(data)
    for _ in range(chance.randrange(1, 9)):
        if turned:
            turned[chance.randrange(len(turned))] ^= 1 << chance.randrange(8)
    return bytes(turned)


def tally(engine: Engine, count: int, folder: Path, more: list[Fixture]) -> Counter[str]:
    """Count the outcomes of `count` damaged files, each in a space of its own."""
    outcomes: Counter[str] = Counter()
    for mutant in mutants(count, folder, more):
        engine.spaces.create("mutant")
        try:
            outcomes[outcome(engine, "mutant", mutant)] += 1
        except BaseException as error:
            error.add_note(f"{mutant.path.parent.name}: {mutant.path.name}, {mutant.way}")
            raise
        finally:
            engine.spaces.delete("mutant")
    return outcomes

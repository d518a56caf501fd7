"""A damaged file opens clean or is refused with the damage named. Recovered memories equal the stored ones."""

import random
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE

import pytest

from muisti.core.embedding.models import Models
from muisti.core.model.errors import Conflict, StoreCorrupt
from muisti.core.operations.checkup import look
from muisti.core.operations.repair import mend, recover
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.rescue.salvage import Lost
from muisti.core.store.rescue.soundness import flaws
from tests.core.fakes import NOON, SPACE, WordEncoder, open_engine
from tests.durability.damage import DAMAGES, LINKS, Place, Said, lived_in, said, spots
from tests.stores import FileStore

pytestmark = pytest.mark.file_only


@dataclass
class Tally:
    """Counts over many files: outcomes, versions outside of the damage, and how many of those were recovered."""

    ends: Counter[str] = field(default_factory=Counter[str])
    outside: int = 0
    recovered: int = 0
    named: int = 0
    missing: int = 0
    wrong: list[tuple[int, object, object]] = field(default_factory=list[tuple[int, object, object]])

    def compare(self, number: int, was: Said, now: Said, spared: set[Place]) -> None:
        self.outside += len(spared)
        self.recovered += len(spared & now.keys())
        self.wrong += [(number, was.get(place), row) for place, row in now.items() if not says_so(was.get(place), row)]


def says_so(was: tuple[object, ...] | None, now: tuple[object, ...]) -> bool:
    """Whether a version says what it said. A link to what is lost may be gone."""
    if was is None or was[: -len(LINKS)] != now[: -len(LINKS)]:
        return False
    return all(new in (old, None) for old, new in zip(was[-len(LINKS) :], now[-len(LINKS) :], strict=True))


class Original:
    """A closed file with or without a log, the fields of its versions, and the pages that hold them."""

    def __init__(self, folder: Path, memories: int, *, log: bool) -> None:
        folder.mkdir()
        self.path, self.log = folder / "m.db", folder / "m.db-wal"
        lived_in(self.path, memories)
        self.copy(folder / "read.db")
        self.said = said(folder / "read.db")
        if not log:
            self.log.write_bytes(b"")
            shutil.copyfile(folder / "read.db", self.path)
        self.spots = spots(self.path)

    def copy(self, path: Path) -> None:
        shutil.copyfile(self.path, path)
        shutil.copyfile(self.log, f"{path}-wal")


def mended_in_place(path: Path, folder: Path) -> tuple[str, Path]:
    """Repair a copy of a file in which SQLite finds no fault. Return the file's state, and the path of the copy.

    The state is refused (then the path is the file's own), altered, derived (only derived data is damaged) or clean.
    """
    folder.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", folder / f"m.db{suffix}")
    database = FileDatabase(folder / "m.db")
    try:
        findings = look(database, Models(WordEncoder()), lambda *_: None)
        mend(database, Models(WordEncoder()), findings, NOON)
    except StoreCorrupt:
        return "refused", path
    finally:
        database.close()
    spoilt = findings.derived or findings.counts or findings.segments
    return "altered" if findings.altered else "derived" if spoilt else "clean", folder / "m.db"


def try_one(tally: Tally, kind: str, number: int, original: Original, folder: Path) -> None:
    """Damage a copy, check it as `muisti doctor` does, and repair the findings."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / "m.db"
    original.copy(path)
    pages = DAMAGES[kind](random.Random(f"{kind} {number}"), path)
    was, lost = original.said, list[Lost]()
    damaged = {name: (folder / name).read_bytes() for name in ("m.db", "m.db-wal")}
    found = flaws(path)
    end, mended = ("refused", path) if found else mended_in_place(path, folder / "looked")
    if end in ("refused", "altered"):
        mended = folder / "mended.db"
        lost = recover(path, mended, Models(WordEncoder()), NOON, lambda *_: None).lost
        assert {name: (folder / name).read_bytes() for name in damaged} == damaged
    tally.ends[end] += 1
    now = said(mended)
    if kind == "log torn":  # then SQLite shows an earlier moment
        original.copy(folder / "point.db")
        shutil.copyfile(folder / "m.db-wal", folder / "point.db-wal")
        was = said(folder / "point.db")
    spared = {place for place, on in original.spots.items() if place in was and not pages.intersection(on)}
    tally.compare(number, was, now, spared)
    tally.missing += len(was.keys() - now.keys())
    tally.named += len({(one.memory, one.version) for one in lost})
    assert not flaws(mended)
    database = FileDatabase(mended)
    assert look(database, Models(WordEncoder()), lambda *_: None).flaws == []
    database.close()
    with open_engine(FileStore(mended)) as engine:
        known = {row[6] for row in was.values()}
        for hit in engine.owner.read.search(SPACE, Query(text="redfox bluelake")).hits:
            assert hit.memory.content in known


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory, long: bool) -> list[Original]:
    folder = tmp_path_factory.mktemp("originals")
    memories = 120 if long else 24
    return [Original(folder / "log", memories, log=True), Original(folder / "plain", memories, log=False)]


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_refused_or_right_and_the_rest_of_it_comes_back(
    kind: str, originals: list[Original], tmp_path: Path, long: bool
):
    """50 files a kind with `--long`."""
    tally = Tally()
    first = 0 if kind == "log torn" else [*DAMAGES].index(kind)
    for number in range(50 if long else 1):
        original = originals[0 if kind == "log torn" else (first + number) % 2]
        try_one(tally, kind, number, original, tmp_path / "tried")
    share = tally.recovered / max(tally.outside, 1)
    shown = ", ".join(f"{end} {count}" for end, count in sorted(tally.ends.items()))
    found = f"{kind}: {shown}; {tally.recovered:,} of {tally.outside:,} ({share:.3%}), {tally.missing:,} missing"
    sys.stdout.write(f"{found}\n")
    assert tally.wrong == []
    assert tally.recovered >= 0.99 * tally.outside


def test_a_file_that_is_whole_is_salvaged_whole(originals: list[Original], tmp_path: Path):
    """The test of the test: nothing is taken for damage that is none, and all tables come along."""
    whole = originals[0]
    found = recover(whole.path, tmp_path / "new.db", Models(WordEncoder()), NOON, lambda *_: None)
    assert (found.lost, found.damage, found.notes) == ([], [], [])
    assert said(tmp_path / "new.db") == whole.said
    assert found.rows.keys() >= {"versions", "changes", "spaces", "keys", "audit", "checkpoints", "twins"}


def test_without_its_first_page_a_file_keeps_its_memories_and_stays_locked(originals: list[Original], tmp_path: Path):
    """Without the schema no tree has a name: recovery recognises pages by their content."""
    plain = originals[1]
    plain.copy(tmp_path / "m.db")
    data = bytearray((tmp_path / "m.db").read_bytes())
    data[:4096] = bytes(4096)
    (tmp_path / "m.db").write_bytes(data)
    (tmp_path / "m.db-wal").unlink()
    assert flaws(tmp_path / "m.db")
    found = recover(tmp_path / "m.db", tmp_path / "new.db", Models(WordEncoder()), NOON, lambda *_: None)
    assert said(tmp_path / "new.db") == plain.said and found.lost == []
    with open_engine(FileStore(tmp_path / "new.db")) as engine:
        assert engine.keys.exist()
        assert {space.name for space in engine.spaces.list()} >= {"default", SPACE, "fork"}


HOLD = """
import apsw, sys
held = apsw.Connection(sys.argv[1])
held.execute("SELECT count(*) FROM sqlite_schema").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


def test_a_file_that_is_in_use_is_not_salvaged_and_none_is_overwritten(originals: list[Original], tmp_path: Path):
    path, new = tmp_path / "m.db", tmp_path / "new.db"
    originals[0].copy(path)
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=PIPE, stdout=PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n"
        with pytest.raises(Conflict):
            recover(path, new, Models(WordEncoder()), NOON, lambda *_: None)
        holder.communicate("")
    assert not new.exists()
    new.write_bytes(b"mine")
    with pytest.raises(Conflict):
        recover(path, new, Models(WordEncoder()), NOON, lambda *_: None)
    assert new.read_bytes() == b"mine"

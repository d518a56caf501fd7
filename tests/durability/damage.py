"""Damages database files in the ways that disks, copies and crashes do, and tells which rows they hit."""

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import apsw

from muisti.core.identity.grants import Grant
from muisti.core.model.outcomes import Undo
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.file.pages import Image, read_log
from muisti.core.store.rescue.salvage import Reader
from tests.core.fakes import NOON, SPACE, Clock, add, open_engine
from tests.stores import FileStore

PAGE = 4_096
Damage = Callable[[random.Random, Path], set[int]]  # damages a file, and gives the pages that it hit

# What must be the same again. `died` is left to the caller: it depends on the moment.
_SAID = (
    "version, born, kind, category, category_folded, key, content, content_hash, type, status, importance, author, "
    "author_folded, reason, source, tags, metadata, event_at, valid_from, valid_to, created_at, updated_at, "
    "expires_at, tokens, source_class, derived_from, trust, checksum"
)
LINKS = ("supersedes", "superseded_by", "parent_id")


def lived_in(path: Path, memories: int) -> None:
    """Make a database with every kind of data, and with a log that is not empty."""
    rng, clock = random.Random(7), Clock(NOON)
    engine = open_engine(FileStore(path.with_suffix(".work")), clock=clock)
    ids: list[str] = []
    for number in range(memories):
        length = rng.choice((3, 8, 20, 40, 400 if number % 8 == 0 else 10))
        text = f"{number} " + " ".join(rng.choice(_WORDS) for _ in range(length))
        fields = dict(tags=(rng.choice(_WORDS), "Shared"), metadata={"n": number, "m": {"x": [1, "two", None]}})
        address = dict(category=f"C{number % 5}", key=f"k{number}" if number % 3 == 0 else None)
        said = dict(author=rng.choice(("Ann", None)), reason=rng.choice(("said so", None)), source="test")
        said |= dict(valid_to=from_us(NOON)) if number % 4 == 0 else {}
        ids += add(engine, text, **fields, **address, **said)
    for id_ in ids[::3]:
        engine.owner.write.update(SPACE, id_, {"content": f"changed {id_}", "importance": "high"})
    for id_ in ids[1::9]:
        engine.owner.write.delete(SPACE, id_)
    for id_ in ids[2::9]:
        engine.owner.write.supersede(SPACE, id_, Draft(content=f"instead of {id_}", parent_id=ids[0]))
    engine.owner.timeline.create_checkpoint(SPACE, "half")
    for id_ in ids[4::18]:
        engine.owner.write.update(SPACE, id_, {"tags": ["later"]})
    engine.owner.timeline.roll_back(SPACE, f"{engine.spaces.get(SPACE).epoch}:{engine.spaces.get(SPACE).seq - 5}")
    engine.owner.write.undo(SPACE, Undo(last=1))
    engine.owner.timeline.fork(SPACE, "fork")
    add(engine, "only in the fork", space="fork")
    engine.owner.timeline.merge("fork", SPACE)
    engine.keys.create(Grant(frozenset({"read"}), (SPACE,)), clock(), name="reader")
    engine.owner.read.search(SPACE, Query(text="red"))
    engine.settle()
    engine.close()
    with open_engine(FileStore(path.with_suffix(".work")), clock=clock) as engine:
        for number in range(20):
            add(engine, f"a last word {number}")
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path.with_suffix('.work')}{suffix}", f"{path}{suffix}")


_WORDS = [f"{a}{b}" for a in ("red", "blue", "green", "old") for b in ("fox", "lake", "hill", "oak", "leaf", "stone")]


Place = tuple[bytes, int]  # the memory, and which version
Said = dict[Place, tuple[object, ...]]


def said(path: Path) -> Said:
    """Return the fields of every version by its place; the last four are `died` and the three links."""
    asked = f"SELECT memory_id, version, {_SAID}, died, {', '.join(LINKS)} FROM versions"
    with closing(apsw.Connection(str(path))) as connection:
        return {(cast(bytes, row[0]), cast(int, row[1])): row[2:] for row in connection.execute(asked).fetchall()}


def spots(path: Path) -> dict[Place, tuple[int, ...]]:
    """Return the numbers of the pages that hold each version."""
    image = Image(path.read_bytes(), read_log(Path(f"{path}-wal").read_bytes()))
    found: dict[Place, tuple[int, ...]] = {}
    for shape, row in Reader(image, []).rows(lambda done, total: None):
        if shape.name == "versions":
            named = shape.named(row.rowid, row.values)
            found[cast(bytes, named["memory_id"]), cast(int, named["version"])] = row.pages
    return found


def _edit(path: Path, change: Callable[[bytearray], None]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def zeroed(rng: random.Random, path: Path) -> set[int]:
    """Pages that read as zeros."""
    pages = rng.sample(range(1, path.stat().st_size // PAGE + 1), rng.choice((1, 1, 2, 4, 8)))

    def change(data: bytearray) -> None:
        for page in pages:
            data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)

    _edit(path, change)
    return set(pages)


def overwritten(rng: random.Random, path: Path) -> set[int]:
    """A stretch of another file."""
    size = path.stat().st_size
    start = rng.randrange(size)
    stop = min(start + rng.choice((16, 512, 4_096, 20_000)), size)
    _edit(path, lambda data: data.__setitem__(slice(start, stop), rng.randbytes(stop - start)))
    return set(range(start // PAGE + 1, (stop - 1) // PAGE + 2))


def flipped(rng: random.Random, path: Path) -> set[int]:
    """Single bits."""
    places = [rng.randrange(path.stat().st_size) for _ in range(rng.choice((1, 1, 3, 20)))]

    def change(data: bytearray) -> None:
        for place in places:
            data[place] ^= 1 << rng.randrange(8)

    _edit(path, change)
    return {place // PAGE + 1 for place in places}


def truncated(rng: random.Random, path: Path) -> set[int]:
    """The end is missing."""
    size = path.stat().st_size
    kept = rng.randrange(size // 4, size)
    _edit(path, lambda data: data.__delitem__(slice(kept, None)))
    return set(range(kept // PAGE + 1, size // PAGE + 1))


def beheaded(rng: random.Random, path: Path) -> set[int]:
    """The head of the file is overwritten, by some bytes or whole."""
    length = rng.choice((1, 16, 100))
    start = rng.randrange(100) if length == 1 else 0
    _edit(path, lambda data: data.__setitem__(slice(start, start + length), rng.randbytes(length)))
    return {1}


def torn(rng: random.Random, path: Path) -> set[int]:
    """The log was cut, or a bit of it is another."""
    log = Path(f"{path}-wal")
    if rng.random() < 0.5:
        _edit(log, lambda data: data.__delitem__(slice(rng.randrange(len(data)), None)))
    else:
        flipped(rng, log)
    return set()


DAMAGES: dict[str, Damage] = {
    "pages zeroed": zeroed, "overwritten": overwritten, "bits flipped": flipped, "truncated": truncated,
    "header damaged": beheaded, "log torn": torn,
}  # fmt: skip

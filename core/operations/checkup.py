"""Verify that derived data match the memories, and that memories match the checksums of what was stored."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

import msgspec
import numpy as np
from msgspec import Struct

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Models
from muisti.core.embedding.vectors import pack, restored
from muisti.core.index.new_rows import Inserted
from muisti.core.index.packing import Packed
from muisti.core.model.errors import StoreCorrupt
from muisti.core.model.fields import FOLDED
from muisti.core.model.ids import id_text
from muisti.core.model.values import Memory, Passage
from muisti.core.store.database import Database, Row, Rows, Scalar, Statement
from muisti.core.store.sql import generations, index_rows, inserting, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.store.sql.tables import rebuilt_from_version
from muisti.core.store.sql.version_rows import COVERED, doubt
from muisti.core.text.terms import ANALYZER, fold, same_text_hash
from muisti.core.write.prepare import Source, parts_of, passages_of

BATCH = 500  # versions
LEAST_COSINE = 0.999  # between a vector and that of its text; other machines may round differently

Progress = Callable[[int, int], None]  # versions checked so far, versions in total

_ROW = (*COVERED, "updated_at", "checksum", "content_hash", "space_id", "died", *(f"{name}_folded" for name in FOLDED))
_HANGING = rebuilt_from_version()


class Flaw(NamedTuple):
    """A version whose derived data are wrong, or one that was `altered`: its text does not match its checksum."""

    row: int
    memory: str
    version: int
    altered: bool
    what: str


class Findings(Struct):
    """Findings about a database: `versions` were checked, and `unsealed` of them have no checksum.

    `counts` and `segments` name spaces whose counters or packed index are wrong.
    """

    versions: int = 0
    unsealed: int = 0
    flaws: list[Flaw] = []
    counts: list[str] = []
    segments: list[str] = []

    @property
    def altered(self) -> list[Flaw]:
        return [flaw for flaw in self.flaws if flaw.altered]

    @property
    def derived(self) -> list[Flaw]:
        return [flaw for flaw in self.flaws if not flaw.altered]


class _Held(NamedTuple):
    """A stored version: its row by column, its memory, and the rows of other tables that belong to it.

    A part that cannot be read is empty or None.
    """

    id: int
    memory_id: bytes
    version: int
    row: dict[str, Scalar]
    columns: Row
    hanging: dict[str, Rows] | None


def look(database: Database, models: Models, progress: Progress) -> Findings:
    """Check every version and the packed segments of indexes. Nothing is changed, and others may write meanwhile.

    Vectors of a model that `models` lack, or that takes long, are not checked.

    Raises:
        StoreCorrupt: the database cannot be read.
    """
    found = Findings()
    all_spaces = _spaces(database)
    (((total,),),) = database.read([Statement("SELECT count(*) FROM versions")])
    after = 0
    while held := _next(database, after):
        for one, (altered, what) in _flaws(held, all_spaces, models):
            found.flaws.append(Flaw(one.id, id_text(one.memory_id[:16]), one.version, altered, what))
        after = held[-1].id
        found.versions += len(held)
        found.unsealed += sum(one.row.get("checksum", 0) is None for one in held)
        progress(found.versions, max(int(str(total)), found.versions))
    found.counts = [str(row[0]) for row in database.read([_miscounted()])[0]]
    found.segments = [row.space.name for row in all_spaces.values() if not _packed_well(database, row)]
    return found


def _spaces(database: Database) -> dict[int, SpaceRow]:
    (rows,) = database.read([spaces.all_spaces()])
    try:
        return {row.id: row for row in map(space_row, rows)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreCorrupt("the settings of a space cannot be read") from error


def _next(database: Database, after: int, limit: int = BATCH) -> list[_Held]:
    """Read the next versions, in the order of rows, with the rows that belong to them, in one snapshot."""
    among = f"SELECT id FROM versions WHERE id > ? ORDER BY id LIMIT {limit}"
    named = ", ".join(f"v.{name}" for name in _ROW)
    asked = f"SELECT {version_rows.COLUMNS}, {named} FROM versions v WHERE v.id IN ({among}) ORDER BY 1"
    hung = [f"SELECT * FROM {table.name} WHERE {table.version} IN ({among}) ORDER BY 1, 2, 3" for table in _HANGING]
    try:
        versions, *hanging = database.read([Statement(sql, (after,)) for sql in (asked, *hung)])
    except StoreCorrupt:  # a text column does not hold valid text
        return _next(database, after, limit // 2) if limit > 1 else _unreadable(database, after, asked)
    by_version: dict[int, dict[str, Rows]] = {}
    for table, rows in zip(_HANGING, hanging, strict=True):
        for row in rows:
            by_version.setdefault(int(str(row[0])), {}).setdefault(table.name, []).append(row[1:])
    return [_held(row, by_version.get(int(str(row[0])), {})) for row in versions]


def _unreadable(database: Database, after: int, asked: str) -> list[_Held]:
    """Return a version without the rows that belong to it or, when its own row cannot be read, only its id."""
    try:
        return [_held(row, None) for row in database.read([Statement(asked, (after,))])[0]]
    except StoreCorrupt:
        plain = "SELECT id, memory_id, version FROM versions WHERE id > ? ORDER BY id LIMIT 1"
        (rows,) = database.read([Statement(plain, (after,))])
        return [_held((*row, *[None] * (version_rows.WIDTH - 3)), None) for row in rows]


def _held(row: Row, hanging: dict[str, Rows] | None) -> _Held:
    id_, memory_id, version = cast(tuple[int, bytes, int], row[:3])
    named = dict(zip(_ROW, row[version_rows.WIDTH :], strict=False))
    return _Held(id_, memory_id, version, named, row[: version_rows.WIDTH], hanging)


def _flaws(
    held: Sequence[_Held], all_spaces: dict[int, SpaceRow], models: Models
) -> Iterator[tuple[_Held, tuple[bool, str]]]:
    sound: list[tuple[_Held, Memory]] = []
    for one in held:
        if why := doubt(one.row) if one.row else "it cannot be read":
            yield one, (True, why)
            continue
        if one.hanging is None:
            yield one, (False, "texts")
            continue
        space = all_spaces.get(int(str(one.row["space_id"])))
        if space is None:  # of an unfinished import
            continue
        memory = version_rows.memory(one.columns, space.space.name)
        if what := _underived(one, memory, one.hanging):
            yield one, (False, what)
        else:
            sound.append((one, memory))
    for encoder in models:
        if not encoder.deferred:
            yield from _misplaced(sound, all_spaces, encoder)


def _underived(one: _Held, memory: Memory, hanging: dict[str, Rows]) -> str | None:
    """Return the name of derived data that do not match the memory of a version, or None."""
    content_hash = same_text_hash(memory.content)
    folded = [None if one.row[name] is None else fold(str(one.row[name])) for name in FOLDED]
    if content_hash != one.row["content_hash"] or folded != [one.row[f"{name}_folded"] for name in FOLDED]:
        return "hash or folded text"
    if hanging.get("tags", []) != sorted((fold(tag), tag) for tag in memory.tags):
        return "tags"
    if sorted(hanging.get("metadata", []), key=_key) != sorted(inserting.flatten(memory.metadata), key=_key):
        return "metadata"
    source = Source.of(memory)
    cut = passages_of(memory)
    stored = hanging.get("passages", [])
    if [row[:3] for row in stored] != [(each.number, each.start, each.stop) for each in cut]:
        return "passages"
    parts = parts_of((source, each) for each in cut)
    if any(row[3] == ANALYZER and row[4] != part.terms() for row, part in zip(stored, parts, strict=True)):
        return "terms"
    return None


def _key(row: Row) -> tuple[str, int]:
    return str(row[0]), int(str(row[1]))


def _misplaced(
    sound: Sequence[tuple[_Held, Memory]], all_spaces: dict[int, SpaceRow], encoder: Encoder
) -> Iterator[tuple[_Held, tuple[bool, str]]]:
    """Yield versions whose vectors are missing or are not those of their texts. Vectors of other models are skipped."""
    wanted: list[tuple[_Held, bytes | None]] = []
    texts: list[str] = []
    for one, memory in sound:
        space = all_spaces[int(str(one.row["space_id"]))]
        if space.space.generation != encoder.identity:
            continue
        hanging = one.hanging or {}
        vectors = {row[0]: row[2] for row in hanging.get("embeddings", []) if row[1] == space.generation}
        source = Source.of(memory)
        passages = [Passage(*row[:3]) for row in cast(list[tuple[int, int, int]], hanging.get("passages", []))]
        passages = [each for each in passages if each.number in vectors or one.row["died"] is None]
        wanted += [(one, cast("bytes | None", vectors.get(each.number))) for each in passages]
        parts = parts_of((source, each) for each in passages)
        texts += [part.embedded(space.space.settings.embedded_fields) for part in parts]
    if not wanted:
        return
    blobs = pack(encoder.encode(texts))
    seen: set[int] = set()
    for (one, vector), blob in zip(wanted, blobs, strict=True):
        if one.id not in seen and not _same(vector, blob, encoder.dimensions):
            seen.add(one.id)
            yield one, (False, "vectors")


def _same(stored: bytes | None, made: bytes, dimensions: int) -> bool:
    if stored is None or len(stored) != len(made):
        return False
    if stored == made:
        return True
    one, other = restored([stored, made], dimensions).astype(np.float64)
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return length > 0 and bool(one @ other >= LEAST_COSINE * length)


def _miscounted() -> Statement:
    wrong = " OR ".join(f"{name} <> {count}" for name, count in spaces.COUNTED.items())
    return Statement(f"SELECT name FROM spaces WHERE {wrong} ORDER BY 1")


def _packed_well(database: Database, space: SpaceRow) -> bool:
    """Return whether the packed segments of a space match its rows."""
    chain = index_rows.own_chain(space, space.generation)
    (listed,) = database.read([index_rows.segments(chain)])
    for first, *_ in listed:
        (found,) = database.read([index_rows.segment_data(chain, [int(str(first))])])
        for start, last, _, data in cast(list[tuple[int, int, int, bytes]], found):
            if not _matches(database, space, start, last, data):
                return False
    return all(
        _second_well(database, space, *cast(tuple[int, int], row))
        for row in database.read([index_rows.seconds(space)])[0]
    )


def _second_well(database: Database, space: SpaceRow, generation: int, first: int) -> bool:
    """Return whether a segment with vectors of a second model has those that are stored for its passages."""
    (found,) = database.read([index_rows.segment_data((space.id, generation, index_rows.SECOND), [first])])
    for *_, data in cast(list[tuple[int, int, int, bytes]], found):
        try:
            packed = Packed.unpack(data)
        except (msgspec.DecodeError, ValueError):
            return False
        versions = np.unique(packed.versions).tolist()
        stored: dict[tuple[Scalar, Scalar], Scalar] = {}
        for start in range(0, len(versions), BATCH):
            (rows,) = database.read([generations.arrived(versions[start : start + BATCH], generation)])
            stored |= {(row[0], row[1]): row[2] for row in rows}
        named = zip(packed.versions.tolist(), packed.numbers.tolist(), packed.vectors, strict=True)
        if any(stored.get((version, number)) != vector.tobytes() for version, number, vector in named):
            return False
    return True


def _matches(database: Database, space: SpaceRow, first: int, last: int, data: bytes) -> bool:
    try:
        packed = Inserted.unpack(data)
    except (msgspec.DecodeError, ValueError, KeyError):
        return False
    after = first
    while len(packed):
        (rows,) = database.read([index_rows.every(space, space.generation, after, BATCH)])
        stored = Inserted.of(rows, space.dimensions)
        if not len(stored):
            return False
        reached = int(stored.born[-1])
        here = packed.rows(0, int(np.searchsorted(packed.born, reached, side="right")))
        kept = stored.without(np.setdiff1d(stored.version, here.version))
        if not _equal(here, kept):
            return False
        packed = packed.rows(len(here), len(packed))
        after = reached
    return True


def _equal(one: Inserted, other: Inserted) -> bool:
    names = ("version", "born", "ids", "importance", "at", "expires", "text", "number", "start", "stop", "terms")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in (*names, "vectors", "embedded"))

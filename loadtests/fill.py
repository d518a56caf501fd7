"""Fill a database fast: the product's own preparation and SQL, but in large transactions without a sync.

Every row is what `Engine.add` would have stored. Each memory has `metadata.a`, a number from 0 to 99 to filter by,
unless the caller chooses other fields.
"""

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
from msgspec.structs import replace

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.models import Models, card_of
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.spaces import CONTENT_ONLY, USUAL_POLICY
from muisti.core.model.values import TRUST, Draft
from muisti.core.store.database import Rows, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.sql import changes, inserting, spaces
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.prepare import new_memory, ready

SPACE = "bench"
BATCH = 2_000
BATCHES = 25  # of a transaction
GROUPS = 100  # values of metadata.a
ANYTHING = replace(USUAL_POLICY, secrets="allow")  # windows of real texts look like passwords now and then

Fields = Callable[[int], Mapping[str, Any]]  # of a memory by its number, beside its content; a function of a module

_encoders: dict[str | None, StaticEncoder] = {}  # of this process


def group_of(row: int) -> int:
    """The value of `metadata.a` of a memory: evenly spread, in no order."""
    return row * 2654435761 % (1 << 32) * GROUPS >> 32


def grouped(row: int) -> Mapping[str, Any]:
    """The fields of a memory in the benchmarks that filter by one number."""
    return {"metadata": {"a": group_of(row)}}


def fill(path: Path, texts: Sequence[str], model: str | None = None, fields: Fields = grouped) -> None:
    """Make a database at `path` with one space that holds the texts, embedded by the shipped model or another.

    An interrupted fill resumes.
    """
    unfinished = path.with_suffix(".unfinished")
    if not unfinished.exists():
        _begin(unfinished, model)
    with closing(apsw.Connection(str(unfinished))) as connection:
        _in_haste(connection)
        space = spaces.space_row(_run(connection, spaces.by_name(SPACE))[0])
        (done,) = connection.execute("SELECT count(*) FROM versions").fetchall()[0]
        starts = range(done, len(texts), BATCH)
        batches = [(space, model, fields, first, texts[first : first + BATCH]) for first in starts]
        with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
            for number, versions in enumerate(pool.imap(_prepare, batches)):
                if number % BATCHES == 0:
                    connection.execute("BEGIN")
                _write(connection, space, versions)
                if number % BATCHES == BATCHES - 1 or number == len(batches) - 1:
                    connection.execute("COMMIT")
    unfinished.rename(path)


def _begin(path: Path, model: str | None) -> None:
    """A database with an empty space that belongs to the model; it has its name once it is whole."""
    fresh = path.with_suffix(".empty")
    for stale in path.parent.glob(f"{fresh.name}*"):
        stale.unlink()
    with Engine(FileDatabase(fresh), None, lambda: time.time_ns() // 1000) as engine:
        engine.spaces.create(SPACE, CONTENT_ONLY)
    encoder = _encoder(model)
    with closing(apsw.Connection(str(fresh))) as connection:
        space = spaces.space_row(_run(connection, spaces.by_name(SPACE))[0])
        _run(connection, spaces.register_generation(card_of(encoder), 0))
        _run(connection, spaces.adopt_generation(space, encoder.identity))
    fresh.rename(path)


def _in_haste(connection: apsw.Connection) -> None:
    """Without syncs: a program that is killed loses nothing by it, a machine without power may."""
    for name, value in {"synchronous": "off", "cache_size": -1_000_000}.items():
        connection.pragma(name, value)


def _prepare(batch: tuple[SpaceRow, str | None, Fields, int, Sequence[str]]) -> list[NewVersion]:
    space, model, fields, first, texts = batch
    now, ids = time.time_ns() // 1000, IdSource()
    drafts = [Draft(content=text, **fields(first + place)) for place, text in enumerate(texts)]
    made = [new_memory(draft, SPACE, id_text(ids.new(now)), now, TRUST[draft.source_class]) for draft in drafts]
    return ready(made, space, Models(_encoder(model)))


def _encoder(model: str | None) -> StaticEncoder:
    return _encoders.setdefault(model, StaticEncoder(model))


def _write(connection: apsw.Connection, space: SpaceRow, versions: Sequence[NewVersion]) -> None:
    for statement in spaces.advance(space, len(versions), time.time_ns() // 1000):
        _run(connection, statement)
    for offset, version in zip(range(len(versions) - 1, -1, -1), versions, strict=True):
        for statement in inserting.insert(space, version, offset):
            _run(connection, statement)
        _run(connection, changes.record(space, "created", Caller(), version.memory, offset))


def _run(connection: apsw.Connection, statement: Statement) -> Rows:
    return connection.execute(statement.sql, statement.args).fetchall()

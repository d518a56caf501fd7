"""Embed a space with another model: store the new vectors beside the old ones, then switch in one batch."""

from collections.abc import Callable
from typing import cast

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import pack
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Passage
from muisti.core.query.points import Point
from muisti.core.store.database import Database, Refused, Row, Rows, Statement
from muisti.core.store.refusal_codes import Refusal, refuse
from muisti.core.store.sql import changes, segments, spaces, version_rows
from muisti.core.store.sql.points import lived
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, WIDTH
from muisti.core.write.prepare import Source, draft_of, embedded_text

BATCH = 500  # passages

Progress = Callable[[int, int], None]  # passages done, passages in total

_THEN = "FROM versions v JOIN passages p ON p.version_id = v.id WHERE v.space_id = ? AND {then}"
_LACKING = f"""{_THEN} AND NOT EXISTS (SELECT 1 FROM embeddings e JOIN generations g ON g.id = e.generation_id
    WHERE e.version_id = p.version_id AND e.number = p.number AND g.hash = ?)"""
_LIVING, _MISSING = (text.format(then="v.died IS NULL") for text in (_THEN, _LACKING))


def reembed(
    database: Database, space: SpaceRow, encoder: Encoder, clock: Callable[[], int], progress: Progress
) -> None:
    """Embed every current passage with `encoder`, then make its model the model of the space.

    The work can be stopped and resumed. Until the switch, the space answers from its old vectors. Other processes see
    the switch with their next search.

    Raises:
        NotFound: the space was erased meanwhile.
    """
    digest = encoder.identity
    database.write([spaces.register_generation(digest, encoder.name, encoder.dimensions, clock())])
    while True:
        total, missing = _counts(database, space, digest)
        progress(total - missing, total)
        if missing == 0 and _switch(database, space, digest, clock()):
            return
        _embed_some(database, space, encoder, digest)


def embed_past(database: Database, space: SpaceRow, encoder: Encoder, point: Point) -> None:
    """Embed the memories of a point of history with the model of the space, so that they can be restored."""
    then, args = lived(point)
    lacking = _LACKING.format(then=then)
    while True:
        select = f"SELECT {COLUMNS}, p.number, p.start, p.stop {lacking} ORDER BY v.id, p.number LIMIT {BATCH}"
        (rows,) = database.read([Statement(select, (space.id, *args, encoder.identity))])
        if not rows or space.space.generation != encoder.identity:
            return
        _store(database, space, encoder, rows)


def _counts(database: Database, space: SpaceRow, digest: str) -> tuple[int, int]:
    ask = [
        Statement(f"SELECT count(*) {_LIVING}", (space.id,)),
        Statement(f"SELECT count(*) {_MISSING}", (space.id, digest)),
    ]
    total, missing = database.read(ask)
    return cast(int, total[0][0]), cast(int, missing[0][0])


def _embed_some(database: Database, space: SpaceRow, encoder: Encoder, digest: str) -> None:
    select = f"SELECT {COLUMNS}, p.number, p.start, p.stop {_MISSING} ORDER BY v.id, p.number LIMIT {BATCH}"
    (rows,) = database.read([Statement(select, (space.id, digest))])
    _store(database, space, encoder, rows)


def _store(database: Database, space: SpaceRow, encoder: Encoder, rows: Rows) -> None:
    digest = encoder.identity
    vectors = pack(encoder.encode([_text(row, space) for row in rows])) if rows else []
    database.write([
        Statement(
            # OR IGNORE: another process may embed the same text. WHERE: the version may have been erased meanwhile.
            "INSERT OR IGNORE INTO embeddings SELECT p.version_id, p.number, g.id, ? FROM passages p, generations g "
            "WHERE p.version_id = ? AND p.number = ? AND g.hash = ?",
            (vector, row[0], row[WIDTH], digest),
        )
        for row, vector in zip(rows, vectors, strict=True)
    ])  # fmt: skip


def _text(row: Row, space: SpaceRow) -> str:
    number, start, stop = cast(tuple[int, int, int], row[WIDTH : WIDTH + 3])
    source = Source.of(draft_of(version_rows.memory(row, space.space.name)))
    return embedded_text(source, Passage(number, start, stop), space.space.settings.embedded_fields)


def _switch(database: Database, space: SpaceRow, digest: str, now: int) -> bool:
    """Make the model that of the space, unless a memory was written meanwhile and lacks its vector."""
    try:
        database.write([
            spaces.guard(space),
            Statement(f"{refuse(Refusal.INCOMPLETE)} WHERE EXISTS (SELECT 1 {_MISSING})", (space.id, digest)),
            *spaces.advance(space, 1, now),
            Statement(
                "UPDATE spaces SET generation_id = (SELECT id FROM generations WHERE hash = ?) WHERE id = ?",
                (digest, space.id),
            ),
            changes.record(space, "reembedded", OWNER),
            segments.forget(space),
        ])  # fmt: skip
    except Refused as refused:
        if refused.code == Refusal.INCOMPLETE:
            return False
        raise NotFound("space", space.space.name) from refused
    return True


def turn_back(database: Database, space: SpaceRow, now: int) -> None:
    """Switch back to the model that `space` had before. Memories written meanwhile may lack vectors of that model.

    Raises:
        NotFound: the space was erased meanwhile.
    """
    try:
        database.write([
            spaces.guard(space),
            *spaces.advance(space, 1, now),
            Statement("UPDATE spaces SET generation_id = ? WHERE id = ?", (space.generation, space.id)),
            changes.record(space, "reembedded", OWNER),
            segments.forget(space),
        ])  # fmt: skip
    except Refused as refused:
        raise NotFound("space", space.space.name) from refused

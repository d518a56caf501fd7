"""A version of a memory as a row: its columns, and the way back."""

from typing import cast

import msgspec

from core.ids import id_bytes, id_text
from core.store.database import Row
from core.terms import SourceClass, Status, Type
from core.times import from_us
from core.values import IMPORTANCE, Kind, Memory, Version

COLUMNS = (
    "v.id, v.memory_id, v.version, v.kind, v.category, v.key, v.content, v.type, v.status, v.importance, v.author, "
    "v.reason, v.source, v.tags, v.metadata, v.event_at, v.created_at, v.updated_at, v.expires_at, v.supersedes, "
    "v.superseded_by, v.parent_id, v.tokens, v.source_class, v.derived_from, v.trust, v.valid_from, v.valid_to"
)
WIDTH = 28  # of a row of `COLUMNS`
_Columns = tuple[
    int, bytes, int, Kind, str | None, str | None, str, Type, Status, int, str | None, str | None, str | None, str,
    str, int | None, int, int, int | None, bytes | None, bytes | None, bytes | None, int, SourceClass, str, int,
    int | None, int | None,
]  # fmt: skip
CURRENT = "v.died IS NULL AND v.status <> 'superseded'"
UNEXPIRED = "(v.expires_at IS NULL OR v.expires_at > ?)"


def memory(row: Row, space: str) -> Memory:
    """The memory in a row of `COLUMNS`."""
    # fmt: off
    (_, memory_id, number, kind, category, key, content, type_, status, importance, author, reason, source, tags,
     metadata, event, created, updated, expires, supersedes, superseded_by, parent, tokens, source_class, derived_from,
     trust, valid_from, valid_to) = cast(_Columns, row[:WIDTH])
    # fmt: on
    created_at = from_us(created)
    return Memory(
        id=id_text(memory_id),
        space=space,
        version=number,
        kind=kind,
        category=category,
        key=key,
        content=content,
        type=type_,
        status=status,
        importance=IMPORTANCE[importance],
        author=author,
        reason=reason,
        source=source,
        tags=tuple(_read(tags)) if tags != "[]" else (),
        metadata=_read(metadata) if metadata != "{}" else {},
        event_at=None if event is None else from_us(event),
        valid_from=None if valid_from is None else from_us(valid_from),
        valid_to=None if valid_to is None else from_us(valid_to),
        created_at=created_at,
        updated_at=created_at if updated == created else from_us(updated),
        expires_at=None if expires is None else from_us(expires),
        supersedes=None if supersedes is None else id_text(supersedes),
        superseded_by=None if superseded_by is None else id_text(superseded_by),
        parent_id=None if parent is None else id_text(parent),
        source_class=source_class,
        derived_from=tuple(_read(derived_from)) if derived_from != "[]" else (),
        trust=trust,
        tokens=tokens,
    )


def version(row: Row, space: str) -> Version:
    """The version in a row of `history`."""
    born, died, born_at, died_at = cast(tuple[int, int | None, int, int | None], row[WIDTH : WIDTH + 4])
    return Version(
        memory=memory(row, space),
        born=born,
        died=died,
        born_at=from_us(born_at),
        died_at=None if died_at is None else from_us(died_at),
    )


def raw(memory_id: str) -> bytes:
    """The id of a stored memory, as the store has it."""
    raw = id_bytes(memory_id)
    assert raw is not None
    return raw


_read = msgspec.json.Decoder().decode  # what was checked when it was written: no number is out of its range

"""The SQL of erasing memories, and of looking whether anything is left of them."""

import json
from collections.abc import Sequence

from core.caller import Caller
from core.ids import id_text
from core.store import overwriting, segments
from core.store.database import Scalar, Statement
from core.store.spaces import SpaceRow

_HEX = "(SELECT unhex(value) FROM json_each(?))"
_ROWS = "(SELECT value FROM json_each(?))"
_ANY = "EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(CAST(answer AS TEXT), j.value))"
_CUT = "json_remove(CAST(answer AS TEXT), '$.similar')"  # filled up with blanks, so that it is written in place
_BLANK = "answer = zeroblob(length(answer))"  # written over
# What hangs on a version, by table.
_HANGING = ("tags", "metadata", "passages", "embeddings")
# What is told of memories, by table; `versions_erased` of the schema sees to it.
_TOLD = ("retrievals", "feedback", "receipt_hits", "probes")


def of_memory(space: SpaceRow, memory_id: bytes) -> Statement:
    """(version row id, memory id, category) of every version of a memory."""
    return Statement(
        "SELECT id, memory_id, category FROM versions WHERE memory_id = ? AND space_id = ? ORDER BY version",
        (memory_id, space.id),
    )


def was_erased(space: SpaceRow, memory_id: bytes) -> Statement:
    """A row when the memory was erased before."""
    return Statement(
        "SELECT 1 FROM changes WHERE space_id = ? AND kind = 'erased' AND memory_id = ? LIMIT 1", (space.id, memory_id)
    )


def some(space: SpaceRow, where: str, args: Sequence[Scalar], limit: int) -> Statement:
    """The ids of some of the memories that have a version which meets `where`."""
    return Statement(
        f"SELECT DISTINCT v.memory_id FROM versions v WHERE v.space_id = ? AND ({where}) ORDER BY 1 LIMIT ?",
        (space.id, *args, limit),
    )


def plan(space: SpaceRow, where: str, args: Sequence[Scalar], limit: int) -> list[Statement]:
    """How many there are; and (memory id, last version) of some."""
    found = (
        "FROM versions o WHERE +o.space_id = ? AND o.memory_id IN "
        f"(SELECT v.memory_id FROM versions v WHERE v.space_id = ? AND ({where}))"
    )
    given = (space.id, space.id, *args)
    return [
        Statement(f"SELECT count(DISTINCT o.memory_id) {found}", given),
        Statement(f"SELECT o.memory_id, max(o.version) {found} GROUP BY 1 ORDER BY 1 LIMIT ?", (*given, limit)),
    ]


def known(space: SpaceRow, memories: Sequence[bytes]) -> list[Statement]:
    """(version row id, memory id, born) of the versions of memories; how much hangs on them, a statement a table."""
    mine = f"SELECT id FROM versions WHERE +space_id = ? AND memory_id IN {_HEX}"
    args = (space.id, _hex(memories))
    return [
        Statement(f"SELECT id, memory_id, born FROM versions WHERE id IN ({mine}) ORDER BY id", args),
        *(Statement(f"SELECT count(*) FROM {table} WHERE version_id IN ({mine})", args) for table in _HANGING),
    ]


def texts(space: SpaceRow, memories: Sequence[bytes]) -> list[Statement]:
    """All that was said of memories, and what was made of it: columns of text or bytes."""
    mine = f"FROM versions v WHERE +v.space_id = ? AND v.memory_id IN {_HEX}"
    args = (space.id, _hex(memories))
    return [
        Statement(
            "SELECT content, key, category, category_folded, author, author_folded, reason, source, tags, metadata, "
            f"content_hash {mine}",
            args,
        ),
        Statement(f"SELECT terms FROM passages WHERE version_id IN (SELECT v.id {mine})", args),
        Statement(f"SELECT vector FROM embeddings WHERE version_id IN (SELECT v.id {mine})", args),
    ]


def relatives(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    """The ids of memories that name one of these as their parent, or as what they superseded."""
    return Statement(
        "SELECT DISTINCT memory_id FROM versions WHERE space_id = ? AND died IS NULL AND "
        f"(parent_id IN {_HEX} OR supersedes IN {_HEX}) AND memory_id NOT IN {_HEX} LIMIT 100",
        (space.id, *(_hex(memories),) * 3),
    )


def refuse_other(space: SpaceRow, memories: Sequence[bytes], versions: Sequence[int]) -> Statement:
    """Refuse with `stale` unless these are the versions of the memories."""
    return Statement(
        "INSERT INTO refuse SELECT 'stale' WHERE (SELECT coalesce(json_group_array(id), '[]') FROM (SELECT id FROM "
        f"versions WHERE +space_id = ? AND memory_id IN {_HEX} ORDER BY id)) <> json(?)",
        (space.id, _hex(memories), json.dumps(list(versions))),
    )


def erase(space: SpaceRow, memories: Sequence[bytes], caller: Caller) -> list[Statement]:
    """Erase memories with all that hangs on them, and what requests were answered of them.

    Each is a change of its own, the last at the space's seq.
    """
    ids = _hex(memories)
    told = [
        Statement(
            "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request) "
            "SELECT id, seq - ?, 'erased', ?, NULL, committed_at, ?, ? FROM spaces WHERE id = ?",
            (offset, memory, caller.actor, caller.request, space.id),
        )
        for offset, memory in enumerate(reversed(memories))
    ]
    return [
        Statement(
            "INSERT INTO erased SELECT v.space_id, s.seq, v.id, v.born FROM versions v "
            f"JOIN spaces s ON s.id = v.space_id WHERE +v.space_id = ? AND v.memory_id IN {_HEX}",
            (space.id, ids),
        ),
        *told,
        Statement(f"DELETE FROM versions WHERE +space_id = ? AND memory_id IN {_HEX}", (space.id, ids)),
        Statement(
            f"DELETE FROM receipts WHERE id IN (SELECT receipt_id FROM receipt_hits WHERE memory_id IN {_HEX})", (ids,)
        ),
        Statement(f"DELETE FROM probes WHERE memory_id IN {_HEX}", (ids,)),
        *_forget_answers(space, memories),
        segments.forget_foreign(space),
    ]


def overwrite(space: SpaceRow, memories: Sequence[bytes]) -> list[Statement]:
    """Write over all that `erase` deletes, in the same transaction, where deleted bytes stay as they stood."""
    ids = _hex(memories)
    return [
        *overwriting.versions(f"+space_id = ? AND memory_id IN {_HEX}", (space.id, ids)),
        overwriting.receipts(f"id IN (SELECT receipt_id FROM receipt_hits WHERE memory_id IN {_HEX})", (ids,)),
        overwriting.probes(f"memory_id IN {_HEX}", (ids,)),
        overwriting.answers(f"seq >= ? AND seq < ? AND {_ANY}", (*_answers_of(space), _hex(memories))),
        overwriting.segments("space_id = ? AND format <> ?", (space.id, segments.FORMAT)),
    ]


def overwrite_space(space: SpaceRow) -> list[Statement]:
    """The same of `erase_space`."""
    mine, args = "space_id = ?", (space.id,)
    return [
        *overwriting.versions(mine, args),
        overwriting.receipts(mine, args),
        overwriting.probes(mine, args),
        overwriting.answers("seq >= ? AND seq < ?", _answers_of(space)),
        overwriting.segments(mine, args),
    ]


def erase_space(space: SpaceRow, epoch: str | None, now: int) -> list[Statement]:
    """Erase a space with all that is in it, and every answer about it; an `epoch` makes it anew, set up as it was."""
    gone = [
        Statement("DELETE FROM requests WHERE seq >= ? AND seq < ?", _answers_of(space)),
        Statement("DELETE FROM spaces WHERE id = ?", (space.id,)),
    ]
    if epoch is None:
        return gone
    return [
        Statement(
            "INSERT INTO spaces (name, epoch, created_at, committed_at, settings, policy) "
            "SELECT '', ?, ?, ?, settings, policy FROM spaces WHERE id = ?",
            (epoch, now, now, space.id),
        ),
        *gone,
        Statement("UPDATE spaces SET name = ? WHERE epoch = ?", (space.space.name, epoch)),
    ]


def left(space: SpaceRow, memories: Sequence[bytes], versions: Sequence[int]) -> list[tuple[str, Statement]]:
    """What may be left of erased memories, place by place; each answer is one count."""
    ids, rows = _hex(memories), json.dumps(list(versions))
    hanging = [
        (
            table,
            Statement(f"SELECT count(*) FROM {table} WHERE version_id IN (SELECT value FROM json_each(?))", (rows,)),
        )
        for table in _HANGING
    ]
    return [
        ("versions", Statement(f"SELECT count(*) FROM versions WHERE memory_id IN {_HEX}", (ids,))),
        *hanging,
        *((table, Statement(f"SELECT count(*) FROM {table} WHERE memory_id IN {_HEX}", (ids,))) for table in _TOLD),
        (
            "answers of requests",
            Statement(
                f"SELECT count(*) FROM requests WHERE seq >= ? AND seq < ? AND ({_ANY} OR {_ANY})",
                (*_answers_of(space), _hex(memories), _texts(memories)),
            ),
        ),
        (
            "conflicts",
            Statement(
                f"SELECT count(*) FROM conflicts WHERE existing_row IN {_ROWS} OR new_row IN {_ROWS}", (rows, rows)
            ),
        ),
        ("segments", segments.count_erased(space)),
        ("imports under way", _staged(space, memories)),
    ]


def left_of_space(space: SpaceRow) -> list[tuple[str, Statement]]:
    """The same for a whole space, by its row id and epoch."""
    tables = (
        *("versions", "changes", "segments", "erased", "retrievals", "feedback", "receipts", "probes", "conflicts"),
        "webhooks",
    )
    hanging = "SELECT count(*) FROM {} WHERE version_id NOT IN (SELECT id FROM versions)"
    return [
        *((table, Statement(f"SELECT count(*) FROM {table} WHERE space_id = ?", (space.id,))) for table in tables),
        *((table, Statement(hanging.format(table))) for table in _HANGING),
        (
            "answers of requests",
            Statement("SELECT count(*) FROM requests WHERE seq >= ? AND seq < ?", _answers_of(space)),
        ),
    ]


def _staged(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    """How many versions of memories are put aside by imports into the space."""
    return Statement(
        "SELECT count(*) FROM versions WHERE space_id IN (SELECT staging_id FROM imports WHERE space_id = ?) "
        f"AND substr(memory_id, 1, 16) IN {_HEX}",
        (space.id, _hex(memories)),
    )


def _forget_answers(space: SpaceRow, memories: Sequence[bytes]) -> list[Statement]:
    """What was answered of memories: an answer that consists of them is emptied, one that shows them as alike cut."""
    return [
        Statement(
            f"UPDATE requests SET body_hash = x'', answer = x'' WHERE seq >= ? AND seq < ? AND ({_ANY} OR {_BLANK})",
            (*_answers_of(space), _hex(memories)),
        ),
        Statement(
            f"UPDATE requests SET answer = CAST({_CUT} || "
            f"printf('%*s', length(answer) - octet_length({_CUT}), '') AS BLOB) "
            f"WHERE seq >= ? AND seq < ? AND {_ANY}",
            (*_answers_of(space), _texts(memories)),
        ),
    ]


def _answers_of(space: SpaceRow) -> tuple[str, str]:
    """Between which two values the `seq` of every answer of a space stands."""
    return f"{space.space.epoch}:", f"{space.space.epoch};"


def _hex(memories: Sequence[bytes]) -> str:
    return json.dumps([memory.hex() for memory in memories])


def _texts(memories: Sequence[bytes]) -> str:
    return json.dumps([id_text(memory) for memory in memories])

"""The SQL of exports: the history of a space in order, as of one change."""

from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS


def counts(space: SpaceRow, seq: int) -> list[Statement]:
    """Count the versions, the memories that are not deleted, and the changes as of change `seq`."""
    return [
        Statement("SELECT count(*) FROM versions WHERE space_id = ? AND born <= ?", (space.id, seq)),
        Statement(
            "SELECT count(*) FROM versions WHERE space_id = ? AND born <= ? AND (died IS NULL OR died > ?)",
            (space.id, seq, seq),
        ),
        Statement("SELECT count(*) FROM changes WHERE space_id = ? AND seq <= ?", (space.id, seq)),
    ]


def generations() -> Statement:
    """Select (id, hash, model, dimensions) of all models."""
    return Statement("SELECT id, hash, model, dimensions FROM generations ORDER BY id")


def changes(space: SpaceRow, after: int, seq: int, limit: int) -> Statement:
    """Select (seq, kind, memory id, version, committed_at, actor, request, undone) of the next changes up to `seq`."""
    return Statement(
        "SELECT seq, kind, memory_id, version, committed_at, actor, request, undone FROM changes "
        "WHERE space_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (space.id, after, seq, limit),
    )


def versions(space: SpaceRow, after: int, upto: int) -> Statement:
    """Select the versions with `after` < `born` <= `upto`, in order, each followed by its `born` and `died`."""
    return Statement(
        f"SELECT {COLUMNS}, v.born, v.died FROM versions v WHERE v.space_id = ? AND v.born > ? AND v.born <= ? "
        "ORDER BY v.born",
        (space.id, after, upto),
    )


def retrievals(space: SpaceRow, seq: int, after: bytes, limit: int) -> Statement:
    """Select (memory id, count, last time) of the next retrieved memories, by id, that were made up to change `seq`."""
    return Statement(
        "SELECT r.memory_id, r.count, r.last_at FROM retrievals r WHERE r.space_id = ? AND r.memory_id > ? "
        "AND r.count > 0 AND EXISTS (SELECT 1 FROM versions v WHERE v.memory_id = r.memory_id AND v.space_id = "
        "r.space_id AND v.born <= ?) ORDER BY r.memory_id LIMIT ?",
        (space.id, after, seq, limit),
    )


def passages(space: SpaceRow, after: int, upto: int) -> Statement:
    """Select (version row id, number, start, stop, generation id, vector) of passages; the last two may be null."""
    return Statement(
        "SELECT p.version_id, p.number, p.start, p.stop, e.generation_id, e.vector FROM versions v "
        "JOIN passages p ON p.version_id = v.id "
        "LEFT JOIN embeddings e ON e.version_id = p.version_id AND e.number = p.number "
        "WHERE v.space_id = ? AND v.born > ? AND v.born <= ? ORDER BY p.version_id, p.number, e.generation_id",
        (space.id, after, upto),
    )

"""The SQL that writes other bytes over what is about to be deleted, where a server leaves deleted bytes as they stood.

SQLite writes a row that keeps its size in place, on its overflow pages too. So what is deleted behind this, in the same
transaction, leaves nothing behind but the copies that its trees made when they were balanced before.
"""

from collections.abc import Sequence

from core.store.database import Scalar, Statement

_BLANK_TEXT = "CAST(zeroblob(octet_length({0})) AS TEXT)"
_BLANK_BYTES = "zeroblob(length({0}))"
# What is part of a key must stay unique, which short texts may not; those are left as they are.
_NOISE = "substr(hex(randomblob(octet_length({0}))), 1, octet_length({0}))"
_PLAIN = ("content", "author", "author_folded", "reason", "source", "tags", "metadata")
_ADDRESS = ("category", "category_folded", "key")


def versions(where: str, args: Sequence[Scalar]) -> list[Statement]:
    """Write over the versions that meet `where`, and over what hangs on them."""
    ids = f"(SELECT id FROM versions WHERE {where})"
    return [
        _over("versions", f"{_all(_BLANK_TEXT, *_PLAIN)}, {_all(_BLANK_BYTES, 'content_hash')}", f"id IN {ids}", args),
        _over("versions", _all(_NOISE, *_ADDRESS), f"category IS NOT NULL AND id IN {ids}", args),
        _over("tags", _all(_NOISE, "tag", "spelling"), f"version_id IN {ids}", args),
        _over("metadata", _all(_NOISE, "path"), f"version_id IN {ids}", args),
        _over("metadata", _all(_BLANK_TEXT, "value"), f"type = 'text' AND version_id IN {ids}", args),
        _over("passages", _all(_BLANK_BYTES, "terms"), f"version_id IN {ids}", args),
        _over("embeddings", _all(_BLANK_BYTES, "vector"), f"version_id IN {ids}", args),
    ]


def answers(where: str, args: Sequence[Scalar]) -> Statement:
    """Write over the answers of requests; they are told by having nothing but zeros."""
    return _over("requests", _all(_BLANK_BYTES, "body_hash", "answer"), where, args)


def receipts(where: str, args: Sequence[Scalar]) -> Statement:
    return _over("receipts", _all(_BLANK_TEXT, "parameters", "answer"), where, args)


def probes(where: str, args: Sequence[Scalar]) -> Statement:
    return _over("probes", _all(_BLANK_TEXT, "query", "category", "key"), where, args)


def segments(where: str, args: Sequence[Scalar]) -> Statement:
    return _over("segments", _all(_BLANK_BYTES, "data"), where, args)


def _over(table: str, columns: str, where: str, args: Sequence[Scalar]) -> Statement:
    return Statement(f"UPDATE OR IGNORE {table} SET {columns} WHERE {where}", tuple(args))


def _all(value: str, *columns: str) -> str:
    """Null stays null: anything else would change the size of the row."""
    return ", ".join(f"{name} = iif({name} IS NULL, NULL, {value.format(name)})" for name in columns)

"""The SQL of the sizes of memories in encodings of tokens."""

import json
from collections.abc import Mapping, Sequence

from muisti.core.store.database import Statement
from muisti.core.store.sql.version_rows import raw

Version = tuple[str, int]  # a memory's id, and the number of its version


def of_versions(versions: Sequence[Version], encoding: str) -> Statement:
    """Select (place among `versions`, data) of those that have a row."""
    asked = json.dumps([[memory_id.replace("-", ""), version] for memory_id, version in versions])
    return Statement(
        "SELECT r.key, p.data FROM json_each(?) r "
        "JOIN versions v ON v.memory_id = unhex(r.value ->> 0) AND v.version = r.value ->> 1 "
        "JOIN pieces p ON p.version_id = v.id AND p.encoding = ?",
        (asked, encoding),
    )


def insert(found: Mapping[Version, bytes], encoding: str) -> list[Statement]:
    """Store rows; those of versions that are gone meanwhile are left out."""
    return [
        Statement(
            "INSERT OR IGNORE INTO pieces SELECT id, ?, ? FROM versions WHERE memory_id = ? AND version = ?",
            (encoding, data, raw(memory_id), version),
        )
        for (memory_id, version), data in found.items()
    ]

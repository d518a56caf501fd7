"""A checksum of what a version says, so that a file that was altered from outside is found out.

It is copied with what it covers when SQL copies a version, within the database. `updated_at` is added to the hash
rather than hashed, so that SQL can follow when it differs.
"""

from collections.abc import Mapping
from hashlib import blake2b

import msgspec

from core.store.database import Scalar
from core.text import same_text_hash

# What is missing here has its own proof: births and deaths in the changes, hashes and folded texts in what they are of.
COVERED = (
    "kind", "category", "key", "content", "type", "status", "importance", "author", "reason", "source", "tags",
    "metadata", "event_at", "created_at", "expires_at", "tokens", "source_class", "derived_from", "trust",
    "valid_from", "valid_to",
)  # fmt: skip
_EMPTY = (None, "[]", "{}")  # left out, so that a column that comes later changes no checksum
_BITS = 62  # so that a sum with a time is a number of SQL


def checksum(row: Mapping[str, Scalar]) -> int:
    """Of a row of `versions`, by the names of its columns: `updated_at`, and those that it has of what is covered.

    >>> row = dict.fromkeys(COVERED) | {"content": "a", "updated_at": 5}
    >>> checksum(row) == checksum(row | {"tags": "[]"}) == checksum(row | {"updated_at": 4}) + 1
    True
    >>> checksum(row) == checksum(row | {"content": "A"})
    False
    """
    said = [(name, value) for name in COVERED if (value := row.get(name)) not in _EMPTY]
    digest = blake2b(msgspec.msgpack.encode(said), digest_size=8).digest()
    updated_at = row["updated_at"]
    assert isinstance(updated_at, int)
    return (int.from_bytes(digest, "big") >> 64 - _BITS) + updated_at


def doubt(row: Mapping[str, Scalar]) -> str | None:
    """Why a row of `versions` does not say what was stored; None when it does, as far as that can be told.

    Without a checksum that is told by the hash of the text alone, which knows neither case nor spaces.
    """
    if row.get("checksum") is not None:
        return None if checksum(row) == row["checksum"] else "it does not match its checksum"
    if same_text_hash(str(row["content"])) != row["content_hash"]:
        return "its text does not match its hash"
    if not all(is_json(row.get(name, "[]")) for name in ("tags", "metadata", "derived_from")):
        return "its tags or its metadata cannot be read"
    return None


def is_json(text: Scalar) -> bool:
    try:
        _JSON.decode(str(text))
    except msgspec.DecodeError:
        return False
    return True


_JSON = msgspec.json.Decoder()

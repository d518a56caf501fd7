"""A checksum of what a version says, so that a file that was altered from outside is found out.

It is copied with what it covers when SQL copies a version, within the database. `updated_at` is added to the hash
rather than hashed, so that SQL can follow when it differs.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import msgspec

from muisti.core.model.fields import FIELDS, MemoryField, stored
from muisti.core.store.database import Scalar
from muisti.core.text.terms import same_text_hash


def covered(fields: Iterable[MemoryField]) -> tuple[str, ...]:
    """Return the columns that a checksum covers, in the order in which it does.

    The others have their own proof: births and deaths in the changes, hashes and folded texts in what they are of.
    """
    return tuple(field.in_row for field in stored(fields) if field.sealed)


COVERED = covered(FIELDS)
_JSONS = tuple(field.in_row for field in FIELDS if field.form in ("list", "object"))
_EMPTY = (None, "[]", "{}")  # left out, so that a column that comes later changes no checksum
_BITS = 62  # so that a sum with a time is a number of SQL


def checksum(row: Mapping[str, Scalar], columns: Sequence[str] = COVERED) -> int:
    """Return the checksum of a row of `versions`, by the names of its columns: `updated_at`, and what it has of these.

    >>> row = dict.fromkeys(COVERED) | {"content": "a", "updated_at": 5}
    >>> checksum(row) == checksum(row | {"tags": "[]"}) == checksum(row | {"updated_at": 4}) + 1
    True
    >>> checksum(row) == checksum(row | {"content": "A"})
    False
    """
    said = [(name, value) for name in columns if (value := row.get(name)) not in _EMPTY]
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
    if not all(is_json(row.get(name, "[]")) for name in _JSONS):
        return "its tags or its metadata cannot be read"
    return None


def is_json(text: Scalar) -> bool:
    try:
        _JSON.decode(str(text))
    except msgspec.DecodeError:
        return False
    return True


_JSON = msgspec.json.Decoder()

"""A checksum of the content of a version, which shows that a file was altered from outside.

SQL copies it with the columns that it covers when it copies a version. `updated_at` is added to the hash and not
hashed, so that SQL can adjust the checksum when that time differs.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import msgspec

from muisti.core.model.fields import FIELDS, MemoryField, stored
from muisti.core.store.database import Scalar
from muisti.core.text.terms import same_text_hash


def covered(fields: Iterable[MemoryField]) -> tuple[str, ...]:
    """Return the columns that a checksum covers, in its order.

    The others can be checked otherwise. The changes have the begin and the end of a version. Hashes and folded texts
    follow from the columns that they are derived from.
    """
    return tuple(field.in_row for field in stored(fields) if field.sealed)


COVERED = covered(FIELDS)
_JSONS = tuple(field.in_row for field in FIELDS if field.form in ("list", "object"))
_EMPTY = (None, "[]", "{}")  # left out, so that a column that is added later changes no checksum
_BITS = 62  # so that a sum with a time fits into an integer of SQL


def checksum(row: Mapping[str, Scalar], columns: Sequence[str] = COVERED) -> int:
    """Return the checksum of a row of `versions`, given by column name: of `updated_at` and the `columns` it has.

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
    """Return why a row of `versions` is not what was stored; None when no difference can be found.

    Without a checksum only the hash of the text is compared, which ignores case and spaces.
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

"""A version of a memory as a row of `versions`: its columns, and the conversion both ways."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Any, cast

import msgspec

from muisti.core.model.fields import FIELDS, Form, MemoryField, columns, stored
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import IMPORTANCE, STRUCTURAL, Memory, Version
from muisti.core.query.points import Point
from muisti.core.store.database import Row, Scalar
from muisti.core.text.terms import fold, same_text_hash

# A checksum of the content of a version, which shows that a file was altered from outside


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


def structural(row: str) -> str:
    """Return the condition of the index `versions_structure`: a row is an object that orders memories.

    Equalities, because SQLite builds a table for each `IN` that a partial index or a trigger has: 3 µs an insert.
    """
    return f"({' OR '.join(f'{row}.kind = {kind!r}' for kind in STRUCTURAL)})"


CURRENT = "v.died IS NULL AND v.status <> 'superseded'"
PLAIN = f"NOT {structural('v')}"
UNEXPIRED = "(v.expires_at IS NULL OR v.expires_at > ?)"


class Layout:
    """Columns of some fields of a memory, and the conversion between rows and memories. `made` makes the memory."""

    def __init__(self, fields: Iterable[MemoryField], made: Callable[..., Memory] = Memory) -> None:
        kept = stored(fields)
        self.selected = ", ".join(f"v.{name}" for name in ("id", *(field.in_row for field in kept)))
        self.width = 1 + len(kept)
        self.memory = _reader(kept, made)
        self._written = columns(kept)
        self.insert = (
            f"INSERT INTO versions (space_id, born, {', '.join(self._written)}, checksum) "
            f"SELECT id, seq - ?, {','.join('?' * len(self._written))}, ? FROM spaces WHERE id = ?"
        )
        self._covered = covered(kept)
        self._values = attrgetter(*(field.name for field in kept for _ in columns((field,))))
        self._hashes = tuple(field.beside for field in kept if field.hashed and field.beside)
        self._writes = (
            *((field.in_row, _WRITE[field.form], _NONE.get(field.form)) for field in kept if field.form in _WRITE),
            *((field.beside, fold, None) for field in kept if field.folded and field.beside),
        )

    def row(self, memory: Memory, content_hash: bytes) -> dict[str, Scalar]:
        """Return the values that `insert` takes after the offset from the space's seq and before the space's id."""
        row: dict[str, Any] = dict(zip(self._written, self._values(memory), strict=True))
        for name in self._hashes:
            row[name] = content_hash
        for name, write, empty in self._writes:
            value = row[name]
            if value:
                row[name] = write(value)
            elif value is not None and empty is not None:
                row[name] = empty
        row["checksum"] = checksum(row, self._covered)
        return row


def version(row: Row, space: str) -> Version:
    """Return the version in a row of `history`."""
    born, died, born_at, died_at = cast(tuple[int, int | None, int, int | None], row[WIDTH : WIDTH + 4])
    return Version(
        memory=memory(row, space),
        born=born,
        died=died,
        born_at=from_us(born_at),
        died_at=None if died_at is None else from_us(died_at),
    )


def raw(memory_id: str) -> bytes:
    """Return the id of a memory as the store has it."""
    raw = id_bytes(memory_id)
    assert raw is not None
    return raw


def _reader(fields: Sequence[MemoryField], made: Callable[..., Memory]) -> Callable[[Row, str], Memory]:
    """Return a function that makes a memory from a row that begins with the columns `Layout.selected`.

    It is compiled from text, as the methods of a dataclass are. Every hit of a search uses it, and a loop over the
    fields would take twice as long.
    """
    given = (f"{field.name}={_READ.get(field.form, '{0}').format(f'row[{n}]')}" for n, field in enumerate(fields, 1))
    known = {"made": made, "IMPORTANCE": IMPORTANCE, "from_us": from_us, "id_text": id_text, "decode": _decode}
    return eval(f"lambda row, space, us=None, at=None: made(space=space, {', '.join(given)})", known)


_decode = msgspec.json.Decoder().decode  # no number is out of range, since all were checked before they were stored
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

# Conversions of forms that are stored as another type. Creation and update mostly have the same time, one after the
# other, and only the first is converted.
_READ: Mapping[Form, str] = {
    "rank": "IMPORTANCE[{0}]",
    "time": "None if {0} is None else at if {0} == us else (at := from_us(us := {0}))",
    "id": "None if {0} is None else id_text({0})",
    "list": "() if {0} == '[]' else tuple(decode({0}))",
    "object": "{{}} if {0} == '{{}}' else decode({0})",
}
_WRITE: Mapping[Form, Callable[[Any], Scalar]] = {
    "rank": IMPORTANCE.index,
    "time": to_us,
    "id": id_bytes,
    "list": lambda value: _encode(list(value)),
    "object": _encode,
}
_NONE: Mapping[Form, str] = {"list": "[]", "object": "{}"}  # as an empty value is stored

LAYOUT = Layout(FIELDS)
COLUMNS = LAYOUT.selected
WIDTH = LAYOUT.width  # of a row of `COLUMNS`
memory = LAYOUT.memory


IDS = "(SELECT unhex(value) FROM json_each(?))"  # reads what `id_list` makes


def id_list(ids: Sequence[bytes]) -> str:
    """Return ids as the value that `IDS` reads.

    >>> id_list([b"a", b"b"])
    '["61", "62"]'
    """
    return json.dumps([one.hex() for one in ids])


def lived(point: Point) -> tuple[str, tuple[Scalar, ...]]:
    """Return the condition that a version `v` was open at a point, expired or not."""
    if point.number is None:
        return "v.died IS NULL", ()
    return "v.born <= ? AND (v.died IS NULL OR v.died > ?)", (point.number, point.number)


def said(row: str, point: Point) -> str:
    """Return the condition that an exchange is in the transcript of its conversation: superseded or not.

    What is recalled as true changes nothing of what was said. A superseded turn goes only when another has its number.
    """
    then = "t.died IS NULL"
    if point.number is not None:
        then = f"t.born <= {point.number} AND (t.died IS NULL OR t.died > {point.number})"
    return (
        f"({row}.status <> 'superseded' OR NOT EXISTS (SELECT 1 FROM versions t WHERE t.space_id = {row}.space_id "
        f"AND t.conversation = {row}.conversation AND t.kind = 'exchange' AND t.turn = {row}.turn "
        f"AND t.category_folded IS {row}.category_folded AND t.memory_id <> {row}.memory_id "
        f"AND (t.status <> 'superseded' OR t.id > {row}.id) AND {then}))"
    )

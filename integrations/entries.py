"""Values and texts kept as memories at an address: a category made of names, and a key.

Names come back exactly. Muisti compares categories without case, so `category` writes everything but small letters
and digits as UTF-8 bytes in hexadecimal.
"""

import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from muisti import Conflict, NotFound
from muisti.integrations.calls import Handle, Operation

ATTEMPTS = 5
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-.")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_VALUE_MAX = 6_000  # characters of JSON; metadata takes 16,384 bytes, and JSON in JSON grows
_FIELD_MAX = 200


def category(names: Sequence[str]) -> str:
    """Return the category of names.

    >>> category(["store", "users", "Ann/1"])
    'store/users/%41nn%2F1'
    """
    return "/".join(
        "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in name.encode("utf-8", "surrogatepass"))
        for name in names
    )


def names(of: str) -> tuple[str, ...]:
    """Return the names of a category.

    >>> names("store/users/%41nn%2F1")
    ('store', 'users', 'Ann/1')
    """
    return tuple(unquote(name, "utf-8", "surrogatepass") for name in of.split("/"))


def under(root: str) -> dict[str, Any]:
    """Return the filter of the memories in a category, or in one below it."""
    return {"or": [{"category": root}, {"category": {"prefix": f"{root}/"}}]}


def pack(value: Any, text: str) -> dict[str, Any]:
    """Return the fields of a memory that is found by `text` and holds a JSON value.

    The value is in metadata. Where it is too long for that, it is the content, and is found by its own words.
    """
    written = json.dumps(value, ensure_ascii=False)
    if _UNSTORABLE.search(written):
        written = json.dumps(value)
    if len(written) > _VALUE_MAX or not text.strip() or _UNSTORABLE.search(text):
        return {"content": written, "metadata": {"value_in": "content"}}
    return {"content": text, "metadata": {"value": written}}


def unpack(memory: Any) -> Any:
    """Return the value of a memory that `pack` has made."""
    return json.loads(memory.metadata.get("value", memory.content))


def pack_text(text: str) -> dict[str, Any]:
    """Return the fields of a memory that holds a text, which may be blank or have characters that no memory takes."""
    if text.strip() and not _UNSTORABLE.search(text):
        return {"content": text, "metadata": {}}
    return {"content": json.dumps(text), "metadata": {"written_as": "json"}}


def unpack_text(memory: Any) -> str:
    """Return the text of a memory that `pack_text` has made."""
    return json.loads(memory.content) if memory.metadata.get("written_as") == "json" else memory.content


def find(memory: Handle, at: str, key: str) -> Operation[Any]:
    """Return the memory at an address, or None."""
    try:
        return (yield memory.get(category=at, key=key))
    except NotFound:
        return None


def listed(memory: Handle, **options: Any) -> Operation[list[Any]]:
    """Return the memories of a list; none while the space does not exist."""
    try:
        return (yield memory.list(**options))
    except NotFound:
        return []


def hits_of(memory: Handle, query: str, **options: Any) -> Operation[list[Any]]:
    """Return the hits of a search; none while the space does not exist."""
    try:
        return (yield memory.search(query, **options)).hits
    except NotFound:
        return []


def put(memory: Handle, at: str, key: str, fields: dict[str, Any]) -> Operation[Any]:
    """Store a memory at an address: a new version of what is there, or a new memory.

    Raises: Conflict when others write the address each time in between.
    """
    for attempt in range(ATTEMPTS):
        found = yield from find(memory, at, key)
        try:
            if found is not None:
                return (yield memory.update(found.id, **fields))
            return (yield memory.remember(category=at, key=key, on_conflict="keep", **_given(fields)))
        except NotFound:
            pass  # deleted since it was found
        except Conflict as conflict:
            if conflict.code != "address_taken" or attempt == ATTEMPTS - 1:
                raise
    raise RuntimeError(f"{at} {key} is deleted and written by others again and again")


def drop(memory: Handle, identity: str) -> Operation[bool]:
    """Delete a memory. Return whether it was there."""
    try:
        yield memory.forget(identity)
    except NotFound:
        return False
    return True


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}

"""Identifiers: UUIDv7 (RFC 9562), sixteen bytes in the store, text with dashes outside."""

import secrets
import threading
import uuid
from collections.abc import Iterator

IMPORTED = uuid.UUID("6d756973-7469-5000-8000-696d706f7274")  # namespace of ids that are made from those elsewhere
WITH_IDS = ("vipune", "mem0", "zep", "claude", "chatgpt", "claude-code")  # their ids have the form of ours


class IdSource:
    """Makes ascending UUIDv7s: an id sorts after all that this process made before it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def new(self, us: int) -> bytes:
        """Return a new id for the time `us` (microseconds since 1970)."""
        millis, micros = divmod(us, 1000)
        fraction = micros * 4096 // 1000  # RFC 9562 section 6.2, method 3: a finer clock in the 12 bits of rand_a
        value = millis << 80 | 7 << 76 | fraction << 64 | 2 << 62 | secrets.randbits(62)
        with self._lock:
            self._last = value if value > self._last else _after(self._last)
            return self._last.to_bytes(16, "big")


def _after(value: int) -> int:
    """Return the next larger value that keeps the version and variant bits of a UUIDv7."""
    if value == 0:
        return 0
    step = value + 1
    if step >> 62 & 3 != 2:  # the 62 random bits overflowed into the variant
        step = ((value >> 64) + 1) << 64 | 2 << 62
    return step


def id_text(raw: bytes) -> str:
    """Return the usual form of an id, lower case with dashes.

    >>> id_text(bytes(16))
    '00000000-0000-0000-0000-000000000000'
    """
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def id_bytes(text: str) -> bytes | None:
    """Return the sixteen bytes of an id, or None when `text` is no id in the usual form."""
    try:
        raw = bytes.fromhex(text.replace("-", ""))
    except ValueError:
        return None
    return raw if len(raw) == 16 and len(text) == 36 and text[8] == text[13] == text[18] == text[23] == "-" else None


def imported_id(system: str, space: str, external: str) -> str:
    """Return the id that a memory of another system gets in a space: the same each time."""
    return str(uuid.uuid5(IMPORTED, f"{system}\n{space}\n{external}"))


def imported_ids(space: str, external: str) -> Iterator[str]:
    """Yield the ids that a memory may have here whose id elsewhere was this one."""
    return (imported_id(system, space, external) for system in WITH_IDS)

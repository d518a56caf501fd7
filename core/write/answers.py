"""Store the answer of a request, so that a repeated request gets it again. Versions are named; the rest is JSON."""

from collections.abc import Sequence

import msgspec

from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Flag, Likeness
from muisti.core.model.values import Memory, Seq


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """A stored answer. `memories` are hexadecimal ids and version numbers."""

    memories: tuple[tuple[str, int], ...]
    created: bool
    similar: tuple[Likeness, ...] = ()
    checked_at: Seq | None = None
    ended: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def versions(self) -> list[tuple[bytes, int]]:
        return [(bytes.fromhex(memory_id), version) for memory_id, version in self.memories]


# Built at import: msgspec (0.22) analyses a type on first use, and crashes when several threads do that together.
_DECODER = msgspec.json.Decoder(Remembered)


def remember(
    memories: Sequence[Memory],
    *,
    created: bool,
    similar: tuple[Likeness, ...] = (),
    checked_at: Seq | None = None,
    ended: tuple[str, ...] = (),
    flags: tuple[Flag, ...] = (),
) -> bytes:
    """Return an answer as bytes."""
    versions = tuple(((id_bytes(memory.id) or b"").hex(), memory.version) for memory in memories)
    answer = Remembered(
        memories=versions, created=created, similar=similar, checked_at=checked_at, ended=ended, flags=flags
    )
    return msgspec.json.encode(answer)


def read(answer: bytes) -> Remembered:
    """Return the answer in bytes that `remember` wrote.

    >>> read(b'{"memories": [["0a", 1]], "created": true}').versions == [(bytes([10]), 1)]
    True
    """
    return _DECODER.decode(answer)

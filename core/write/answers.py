"""What a repeated request is answered from: the versions stay in the store, the rest is kept as JSON."""

from collections.abc import Sequence

import msgspec

from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Flag, Likeness
from muisti.core.model.values import Memory, Seq


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer. `memories` are hexadecimal ids and version numbers."""

    memories: tuple[tuple[str, int], ...]
    created: bool
    similar: tuple[Likeness, ...] = ()
    checked_at: Seq | None = None
    ended: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def versions(self) -> list[tuple[bytes, int]]:
        return [(bytes.fromhex(memory_id), version) for memory_id, version in self.memories]


# Made here, by one thread: msgspec (0.22) works a type out on first use, and threads that do so at once can crash it.
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
    """Write an answer down."""
    versions = tuple(((id_bytes(memory.id) or b"").hex(), memory.version) for memory in memories)
    answer = Remembered(
        memories=versions, created=created, similar=similar, checked_at=checked_at, ended=ended, flags=flags
    )
    return msgspec.json.encode(answer)


def read(answer: bytes) -> Remembered:
    """Take it up again.

    >>> read(b'{"memories": [["0a", 1]], "created": true}').versions == [(bytes([10]), 1)]
    True
    """
    return _DECODER.decode(answer)

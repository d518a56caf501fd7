"""The cuts of a document on their way to the store: in memory while they are few, else in a temporary file.

A write may be tried several times, so its cuts can be read again.
"""

import tempfile
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from types import TracebackType
from typing import BinaryIO, Self, cast

import msgspec

from muisti.core.model.documents import Cut

IN_MEMORY = 4_000_000  # characters
_LENGTH = 4  # bytes before each cut in the file
_DECODER = msgspec.msgpack.Decoder(Cut)


def key_of(text: str) -> bytes:
    """Return what identifies the text of a chunk.

    >>> key_of("a") == key_of("a") != key_of("A")
    True
    """
    return blake2b(text.encode(), digest_size=16).digest()


class Cuts:
    """Cuts in their order. `keys` identify their texts. A context, which deletes the file when it ends.

    Raises `OSError` where there is no room for the file.
    """

    def __init__(self, cuts: Iterable[Cut] = ()) -> None:
        self.keys: list[bytes] = []
        self.characters = 0  # of the text, without what overlaps
        self.size = 0  # characters of all cuts
        self._held: list[Cut] = []
        self._file: BinaryIO | None = None
        for cut in cuts:
            self.append(cut)

    def append(self, cut: Cut) -> None:
        """Add a cut behind the others."""
        self.keys.append(key_of(cut.text))
        self.characters += len(cut.text) - cut.overlap
        self.size += len(cut.text)
        self._held.append(cut)
        if self._file is not None or self.size > IN_MEMORY:
            self._spill()

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Cut]:
        if self._file is None:
            yield from self._held
            return
        self._file.flush()
        with open(self._file.name, "rb") as file:
            while head := file.read(_LENGTH):
                yield _DECODER.decode(file.read(int.from_bytes(head, "big")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Delete the file, if there is one. Harmless when closed."""
        if self._file is not None:
            self._file.close()

    def _spill(self) -> None:
        if self._file is None:
            self._file = cast(BinaryIO, tempfile.NamedTemporaryFile(prefix="muisti-cuts-"))  # noqa: SIM115  # `close` closes it
        for cut in self._held:
            encoded = msgspec.msgpack.encode(cut)
            self._file.write(len(encoded).to_bytes(_LENGTH, "big") + encoded)
        self._held.clear()

"""Open compound files, the containers of Office before 2007 and of Outlook: streams by their paths."""

import struct
from array import array
from collections.abc import Callable, Iterator, Sequence

from muisti.core.model.unreadable import Broken
from muisti.core.parsing.encodings import codec_of, decode

ENTRIES = 100_000  # of a directory that are read
_ENTRY = 128  # bytes
_STORAGE, _STREAM, _ROOT = 1, 2, 5
LONGEST = 2_000  # bytes of a property
_CODE_PAGE, _TITLE, _WIDE = 1, 2, 0x1F
_NONE = 0xFFFFFFFA  # sector numbers from here on are marks


class Compound:
    """A compound file. Paths are in lower case, with "/" between a storage and what is in it.

    `note` is called where a part is damaged.
    """

    def __init__(self, data: bytes | bytearray, note: Callable[[str], None]) -> None:
        self._data, self._note = memoryview(data), note
        if len(data) < 512 or not 9 <= (shift := _number(data, 30, "H")) <= 12:
            raise Broken("The header of the file is damaged.")
        self._size, self._small = 1 << shift, 1 << min(_number(data, 32, "H"), shift)
        self._cutoff = _number(data, 56)
        self._table = self._sectors_after(data)
        self._small_table = _numbers(self._chain(_number(data, 60), self._table, self._size, self._data, 1))
        self._entries = self._chain(_number(data, 48), self._table, self._size, self._data, 1)[: ENTRIES * _ENTRY]
        root = self._entries[:_ENTRY]
        if len(root) < _ENTRY or root[66] != _ROOT:
            raise Broken("The directory of the file is damaged.")
        self._small_data = memoryview(self._chain(_number(root, 116), self._table, self._size, self._data, 1))
        self.paths = dict(self._walk(_number(root, 76)))

    def __contains__(self, path: str) -> bool:
        return path in self.paths

    def stream(self, path: str) -> bytes:
        """Return the content of a stream; empty where it is not there."""
        if (entry := self.paths.get(path)) is None:
            return b""
        start, size = _number(entry, 116), _number(entry, 120)
        if size < self._cutoff:
            data = self._chain(start, self._small_table, self._small, self._small_data, 0)[:size]
        else:
            data = self._chain(start, self._table, self._size, self._data, 1)[:size]
        if len(data) < size:
            self._note("A part of the file is cut off or damaged; what is left of it was read.")
        return data

    def below(self, storage: str) -> Iterator[str]:
        """Yield the names directly inside a storage, the root being empty."""
        start = f"{storage}/" if storage else ""
        for path in self.paths:
            if path.startswith(start) and "/" not in path[len(start) :]:
                yield path[len(start) :]

    def codec(self) -> str:
        """Return the encoding of texts of one byte a letter that the properties of a document state."""
        return codec_of(f"cp{_number(self._property(_CODE_PAGE), 4, 'H')}") or "cp1252"

    def title(self) -> str | None:
        """Return the title that the properties of a document state."""
        kind, size = struct.unpack_from("<II", value := self._property(_TITLE))
        codec, width = ("utf-16-le", 2) if kind == _WIDE else (self.codec(), 1)
        return decode(_even(value[8 : 8 + width * size], width), codec).split("\0")[0].strip() or None

    def _property(self, number: int) -> bytes:
        data = self.stream("\x05summaryinformation")
        section = data[_number(data.ljust(48, b"\0"), 44) :].ljust(8, b"\0")
        listed = _even(section[8 : 8 + 8 * min(_number(section, 4), LONGEST)], 8)
        at = next((at for kind, at in struct.iter_unpack("<II", listed) if kind == number), len(section))
        return section[at : at + LONGEST].ljust(8, b"\0")

    def _sectors_after(self, data: bytes | bytearray) -> Sequence[int]:
        """Return, by sector, the one that follows it."""
        tables = [*struct.unpack_from("<109I", data, 76)]
        following, most = _number(data, 68), len(data) // self._size + 1
        for _ in range(most):
            start = (following + 1) * self._size
            if following >= _NONE or start + self._size > len(data):
                break
            *more, following = struct.unpack_from(f"<{self._size // 4}I", data, start)
            tables += more
        parts = [self._data[(one + 1) * self._size : (one + 2) * self._size] for one in tables[:most] if one < _NONE]
        return _numbers(b"".join(part for part in parts if len(part) == self._size))

    def _chain(self, sector: int, table: Sequence[int], size: int, data: memoryview, before: int) -> bytes:
        """Return the sectors that follow each other, up to a loop or a mark."""
        found: dict[int, None] = {}
        while sector < len(table) and sector not in found:
            found[sector] = None
            sector = table[sector]
        return b"".join(data[(one + before) * size : (one + before + 1) * size] for one in found)

    def _walk(self, child: int) -> Iterator[tuple[str, bytes]]:
        waiting, seen = [(child, "")], set[int]()
        while waiting:
            number, folder = waiting.pop()
            entry = self._entries[number * _ENTRY : (number + 1) * _ENTRY]
            if number in seen or len(entry) < _ENTRY or entry[66] not in (_STORAGE, _STREAM):
                continue
            seen.add(number)
            length = min(max(_number(entry, 64, "H") - 2, 0), 64)
            path = folder + entry[:length].decode("utf-16-le", "replace").lower()
            yield path, entry
            waiting += [(_number(entry, 68), folder), (_number(entry, 72), folder)]
            if entry[66] == _STORAGE:
                waiting.append((_number(entry, 76), f"{path}/"))


def _number(data: bytes | bytearray | memoryview, at: int, form: str = "I") -> int:
    found: int = struct.unpack_from(f"<{form}", data, at)[0]
    return found


def _numbers(data: bytes) -> Sequence[int]:
    return array("I", _even(data, 4))


def _even(data: bytes, size: int) -> bytes:
    """Return the start of data that is a multiple of a size."""
    return data[: len(data) // size * size]

"""Exports of Muisti itself, one file or a folder of them, which are imported unchanged."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO

import msgspec
import zstandard

from muisti.core.transfer.records import Header
from muisti.service.formats.importers.items import Unreadable
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.lines import WINDOW, is_compressed

PIECE = 65_536  # bytes
HEAD_MAX = 1 << 20  # bytes of a header
SUFFIXES = (".ndjson", ".ndjson.zst")
_VERSION = b'\n{"type":"version"'

OnProgress = Callable[[int], None]


@dataclass(frozen=True)
class OwnFile:
    """An export. `space` is the name of its space, `versions` the number of its versions, None when not counted."""

    space: str
    versions: int | None
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    def pieces(self, on_progress: OnProgress) -> Iterator[bytes]:
        """Yield the file in pieces. `on_progress` gets the number of versions so far, where they can be counted."""
        taken, tail = 0, b""
        with self.open() as file:
            while piece := file.read(PIECE):
                yield piece
                if self.versions is not None:
                    taken += (tail + piece).count(_VERSION)
                    tail = piece[1 - len(_VERSION) :]
                    on_progress(min(taken, self.versions))


def is_own(source: Source) -> bool:
    """Tell whether a file is an export of Muisti, compressed or not, or a folder has such files and no others."""
    if not source.is_folder:
        head = source.head(HEAD_MAX)
        return is_compressed(head) or _header(head) is not None
    with source.parts() as parts:
        is_all = bool(parts) and all(part.name.endswith(SUFFIXES) for part in parts)
        return is_all and _header(_expanded(parts[0].head(HEAD_MAX))) is not None


def own_files(source: Source) -> list[OwnFile]:
    """Return the exports of a source.

    Raises:
        Unreadable: an export in a folder does not name its space.
    """
    with source.parts() as parts:
        exports = [part for part in parts if not source.is_folder or part.name.endswith(SUFFIXES)]
        found: list[OwnFile] = []
        for part in exports:
            head = part.head(HEAD_MAX)
            header = _header(_expanded(head))
            if source.is_folder and (header is None or header.space is None):
                raise Unreadable(f"{source.name}: {part.name} is no export of a space")
            space = header.space.name if header is not None and header.space is not None else ""
            is_counted = header is not None and header.counts is not None and not is_compressed(head)
            counts = header.counts if header is not None and is_counted else None
            found.append(OwnFile(space, None if counts is None else counts.versions, part.open))
    return found


def _expanded(head: bytes) -> bytes:
    """Expand the beginning of a file, if it is compressed."""
    if not is_compressed(head):
        return head
    with zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(head) as reader:
        try:
            return reader.read(HEAD_MAX)
        except zstandard.ZstdError:
            return b""


def _header(head: bytes) -> Header | None:
    try:
        return msgspec.json.decode(head.split(b"\n", 1)[0], type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None

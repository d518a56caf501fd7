"""Documents in archives: ZIP and TAR files, compressed ones, and archives inside archives.

Members are streamed. Nothing is unpacked under a name: a nested archive is held in memory, or in a file without a name.
"""

import bz2
import io
import lzma
import posixpath
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile

import zstandard

from muisti.core.model.unreadable import Broken, Empty, FileTooLarge, UnknownFormat, Unreadable, Unsafe
from muisti.core.parsing.detect import ARCHIVES, COMPRESSIONS, HEAD, Format, detect
from muisti.core.parsing.parsed import ArchiveOptions
from muisti.core.parsing.zipped import format_of_zip, is_debris, named, names_of, open_zip, unpacked

HEADER = 1 << 20  # bytes of a header of a TAR file at most, such as a long name
READ = 1 << 16


def blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(READ):
        yield block


class Stream(io.RawIOBase):
    """A file over blocks of bytes, which can be read forwards, and whose start can be looked at."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._blocks = blocks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """Return the first bytes without taking them; fewer at the end."""
        while len(self._rest) < size and (block := next(self._blocks, b"")):
            self._rest += block
        return self._rest[:size]

    def readinto(self, target: Any, /) -> int:
        if not self._rest:
            self._rest = next(self._blocks, b"")
        taken = self._rest[: len(target)]
        target[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


class Forward:
    """A file for `tarfile` that can be read and skipped forwards. It refuses a header that would fill the memory."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._at = 0

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= HEADER:
            raise Unsafe(f"A header of the TAR file takes more than {HEADER >> 10:,} kB.")
        out = b""
        while len(out) < size and (block := self._source.read(size - len(out))):
            out += block
        self._at += len(out)
        return out

    def seek(self, place: int, whence: int = 0) -> int:
        if whence or place < self._at:
            raise tarfile.ReadError("an entry lies before its header")
        while self._at < place and self.read(min(place - self._at, READ)):
            continue
        return self._at


Decompress = Callable[[BinaryIO], Iterator[bytes]]

SIP = 256  # bytes of Zstandard that are decompressed together
WINDOW = 64 << 20  # bytes of memory that a decompressor may use


def kind_of(head: bytes) -> str | None:
    """Return how a file is compressed, by its first bytes; None when it is not."""
    return next((kind for signature, kind in COMPRESSIONS if head.startswith(signature)), None)


def decompressed(source: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the content of a compressed file. Raises `Broken`, and `FileTooLarge` where it needs too much memory."""
    try:
        yield from _DECOMPRESSORS[kind](source)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError) as error:
        if "mem" in str(error).lower():
            raise FileTooLarge("The file needs more memory to unpack than it may use.") from error
        raise Broken(f"The compressed file is damaged: {error}.") from error


def _gzip(source: BinaryIO) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(wbits=31)
    while block := source.read(READ):
        while block:
            yield from _unless_empty(decompressor.decompress(block, READ))
            while decompressor.unconsumed_tail:
                yield from _unless_empty(decompressor.decompress(decompressor.unconsumed_tail, READ))
            block = decompressor.unused_data if decompressor.eof else b""
            if block:  # another member follows
                decompressor = zlib.decompressobj(wbits=31)
                block = block.lstrip(b"\0")
    if not decompressor.eof:
        raise EOFError("cut off")


def _unless_empty(block: bytes) -> Iterator[bytes]:
    if block:
        yield block


def _with_needs_input(make: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]) -> Decompress:
    """Return the loop around a decompressor that tells when it needs more input."""

    def decompress(source: BinaryIO) -> Iterator[bytes]:
        decompressor = make()
        while True:
            if decompressor.eof:
                rest = decompressor.unused_data or source.read(READ)
                if not rest.strip(b"\0"):
                    return
                decompressor = make()
                yield from _unless_empty(decompressor.decompress(rest, READ))
            elif decompressor.needs_input:
                block = source.read(READ)
                if not block:
                    raise EOFError("cut off")
                yield from _unless_empty(decompressor.decompress(block, READ))
            else:
                yield from _unless_empty(decompressor.decompress(b"", READ))

    return decompress


def _zstd(source: BinaryIO) -> Iterator[bytes]:
    """Decompress a sip at a time, as four bytes can expand to 128 kB, and the result of a call comes in one piece."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    frame = decompressor.decompressobj()
    while block := source.read(READ):
        rest = memoryview(block)
        while rest:
            if frame.eof:
                frame = decompressor.decompressobj()
            yield from _unless_empty(frame.decompress(rest[:SIP]))
            taken = min(SIP, len(rest)) - len(frame.unused_data)
            rest = rest[taken:]
    if not frame.eof:
        raise EOFError("cut off")


_DECOMPRESSORS = {
    "gzip": _gzip,
    "bzip2": _with_needs_input(bz2.BZ2Decompressor),
    "xz": _with_needs_input(lambda: lzma.LZMADecompressor(memlimit=WINDOW)),
    "zstd": _zstd,
}


IN_MEMORY = 8 << 20  # bytes of a nested archive that are held in memory; a larger one goes to a file without a name
RATIO_FROM = 4 << 20  # bytes that an archive, or a member, may unpack to, whatever it expands by
_LINK = 0o120000


@dataclass(frozen=True, slots=True)
class Member:
    """A document in an archive: its path there, its size where the archive states it, and its content.

    `content` can be read once, and only until the next member is asked for. `refusal` is set for an entry that is not
    read; it then has no content.
    """

    path: str
    size: int | None
    content: BinaryIO | None
    refusal: Unreadable | None = None


def is_archive(source: BinaryIO, name: str = "") -> bool:
    """Return whether a seekable file is an archive. It is at its start afterwards."""
    head = source.read(HEAD)
    try:
        form = detect(head, name)
        return (format_of_zip(source) if form is Format.ZIP else form) in ARCHIVES
    except (UnknownFormat, Broken):
        return False
    except (BadZipFile, Unreadable):
        return True  # `members` tells what is the matter
    finally:
        source.seek(0)


def members(source: BinaryIO, name: str, options: ArchiveOptions) -> Iterator[Member]:
    """Yield the documents in a seekable archive in its order, those of nested archives included.

    A folder gives nothing. A link, an encrypted member or a path that leads out of the archive gives a refusal. Raises
    `Broken` for a damaged archive, `Empty` for one without a document, and `FileTooLarge` when a limit is reached;
    members before the error are good.
    """
    size = source.seek(0, 2)
    source.seek(0)
    yield from _Walk(options, size).archive(source, name, "", 1)


class _Exhausted(FileTooLarge):
    """The archive as a whole has reached a limit, so that nothing more of it is read."""


class _Walk:
    """A walk over an archive and all inside it, which counts what they cost together."""

    def __init__(self, options: ArchiveOptions, size: int) -> None:
        self._options = options
        self._most = min(options.max_bytes, max(RATIO_FROM, size * options.ratio))
        self._entries = 0
        self._unpacked = self._kept = 0

    def archive(self, source: BinaryIO, name: str, prefix: str, depth: int) -> Iterator[Member]:
        head = source.read(HEAD)
        source.seek(0)
        form = detect(head, name)
        found = False
        if form is Format.ZIP:
            inner = self._zip(source, prefix, depth)
        elif form is Format.TAR:
            inner = self._tar(source, prefix, depth)
        else:
            inner = self._compressed(source, head, name, prefix, depth)
        for member in inner:
            found = True
            yield member
        if not found:
            raise Empty(f"The archive {name!r} holds no document.")

    def _zip(self, source: BinaryIO, prefix: str, depth: int) -> Iterator[Member]:
        try:
            archive = open_zip(source)
        except BadZipFile as error:
            raise Broken(f"The ZIP file is damaged: {error}.") from error
        with archive:
            entries = archive.infolist()
            for entry, name in zip(entries, names_of(entries), strict=True):
                self._count()
                if name.endswith("/") or is_debris(name):
                    continue
                path, refusal = _path(prefix, name)
                if refusal is None and entry.external_attr >> 16 & 0o170000 == _LINK:
                    refusal = Unsafe(f"{name!r} is a symbolic link.")
                if refusal is not None:
                    yield Member(path, entry.file_size, None, refusal)
                    continue
                limit = min(self._options.max_member, max(RATIO_FROM, entry.compress_size * self._options.ratio))
                content = self._counted(unpacked(archive, entry, limit))
                yield from self._member(path, entry.file_size, content, depth)

    def _tar(self, source: BinaryIO, prefix: str, depth: int) -> Iterator[Member]:
        try:
            with tarfile.open(fileobj=cast(BinaryIO, Forward(source)), mode="r:") as archive:
                while (entry := archive.next()) is not None:
                    cast(Any, archive).members = []  # or it keeps every header
                    self._count()
                    if not entry.isdir() and not is_debris(entry.name):
                        yield from self._tar_entry(archive, entry, prefix, depth)
        except (tarfile.TarError, EOFError, OverflowError, ValueError) as error:
            raise Broken(f"The TAR file is damaged: {error}.") from error

    def _tar_entry(self, archive: tarfile.TarFile, entry: tarfile.TarInfo, prefix: str, depth: int) -> Iterator[Member]:
        path, refusal = _path(prefix, named(entry.name))
        if refusal is None and not entry.isfile():
            refusal = Unsafe(f"{entry.name!r} is a link or a device.")
        if refusal is None and entry.size > self._options.max_member:
            refusal = FileTooLarge(f"{entry.name!r} has more than {self._options.max_member >> 20:,} MB.")
        file = archive.extractfile(entry) if refusal is None else None
        if file is None:
            yield Member(path, entry.size, None, refusal or Broken(f"{entry.name!r} has no content."))
        else:
            yield from self._member(path, entry.size, self._counted(_whole(entry.name, blocks(file.read))), depth)

    def _compressed(self, source: BinaryIO, head: bytes, name: str, prefix: str, depth: int) -> Iterator[Member]:
        """Yield what is in a compressed file: the members of a TAR file, or a single document."""
        kind = kind_of(head)
        if kind is None:
            raise Broken(f"{name!r} is no archive.")
        stream = Stream(self._bounded(decompressed(source, kind), source))
        inner = stream.peek(HEAD)
        if detect(inner) is Format.TAR:
            yield from self._tar(cast(BinaryIO, stream), prefix, depth)
            return
        self._count()
        path = posixpath.join(prefix, _without_suffix(posixpath.basename(name)))
        yield from self._member(path, None, blocks(stream.read), depth)

    def _member(self, path: str, size: int | None, content: Iterator[bytes], depth: int) -> Iterator[Member]:
        """Yield a member, or what is in it when it is an archive itself."""
        stream = Stream(content)
        try:
            form = detect(stream.peek(HEAD), path)
        except _Exhausted:
            raise
        except Unreadable as refusal:
            yield Member(path, size, None, refusal)
            return
        if form not in ARCHIVES:
            yield Member(path, size, cast(BinaryIO, io.BufferedReader(stream)))
            return
        with SpooledTemporaryFile(max_size=IN_MEMORY) as held:
            whole = cast(BinaryIO, held)
            try:
                for block in blocks(stream.read):
                    held.write(block)
                held.seek(0)
                archive = is_archive(whole, path)
            except _Exhausted:
                raise
            except Unreadable as refusal:
                yield Member(path, size, None, refusal)
                return
            if not archive:
                yield Member(path, size, whole)
            elif depth >= self._options.depth:
                yield Member(path, size, None, Unsafe(f"{path!r} is an archive inside {depth} others."))
            else:
                yield from self._nested(whole, path, depth)

    def _nested(self, source: BinaryIO, path: str, depth: int) -> Iterator[Member]:
        try:
            yield from self.archive(source, path, path, depth + 1)
        except _Exhausted:
            raise
        except Unreadable as refusal:
            yield Member(path, None, None, refusal)

    def _count(self) -> None:
        self._entries += 1
        if self._entries > self._options.max_entries:
            raise _Exhausted(f"The archive has more than {self._options.max_entries:,} entries.")

    def _counted(self, content: Iterator[bytes]) -> Iterator[bytes]:
        """Yield blocks while all members together are within the limits. A member that is refused is not kept."""
        size = 0
        try:
            for block in content:
                size += len(block)
                self._unpacked += len(block)
                if self._kept + size > self._most or self._unpacked > self._options.max_bytes:
                    raise _Exhausted(f"The archive unpacks to more than {self._most >> 20:,} MB.")
                yield block
        except Unreadable:
            size = 0
            raise
        finally:
            self._kept += size

    def _bounded(self, content: Iterator[bytes], source: BinaryIO) -> Iterator[bytes]:
        """Yield the content of a compressed file, counted, while it expands by no more than it may."""
        size = 0
        for block in self._counted(content):
            size += len(block)
            if size > RATIO_FROM and size > max(source.tell(), 1) * self._options.ratio:
                raise FileTooLarge(f"The file expands by more than {self._options.ratio} times.")
            yield block


def _whole(name: str, content: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a member of a TAR file. Raises `Broken` where it is cut off."""
    try:
        yield from content
    except tarfile.TarError as error:
        raise Broken(f"{name!r} in the TAR file is damaged: {error}.") from error


def _path(prefix: str, name: str) -> tuple[str, Unreadable | None]:
    """Return the path of a member below that of its archive, and a refusal where it leads out of the archive."""
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    out = plain.startswith("/") or ".." in parts or not parts or "\0" in name or ":" in parts[0]
    if out:
        return posixpath.join(prefix, *[part for part in parts if part != ".."]) or name, Unsafe(
            f"The path {name!r} leads out of the archive."
        )
    return posixpath.join(prefix, *parts), None


def _without_suffix(name: str) -> str:
    stem, suffix = posixpath.splitext(name)
    return stem if suffix.lower() in (".gz", ".bz2", ".xz", ".zst", ".zstd") and stem else name

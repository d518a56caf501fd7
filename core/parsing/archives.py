"""Documents in archives: ZIP and TAR files, compressed ones, and archives inside archives.

Members are streamed. Nothing is unpacked under a name: a nested archive is held in memory, or in a file without a name.
"""

import io
import posixpath
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile

from muisti.core.model.unreadable import Broken, Empty, FileTooLarge, UnknownFormat, Unreadable, Unsafe
from muisti.core.parsing.containers import SIGNATURE
from muisti.core.parsing.decompressing import Forward, Stream, blocks, decompressed, kind_of
from muisti.core.parsing.detect import ARCHIVES, HEAD, Format, detect
from muisti.core.parsing.parsed import ArchiveOptions
from muisti.core.parsing.zipped import format_of_zip, is_debris, named, names_of, open_zip, unpacked

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
        if form not in ARCHIVES and not stream.peek(HEAD).startswith(SIGNATURE):
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

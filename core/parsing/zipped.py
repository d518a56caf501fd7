"""Open ZIP files of strangers: directories are measured before they are read, members while they unpack."""

import struct
from collections.abc import Iterator
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError

from muisti.core.model.unreadable import Broken, Encrypted, FileTooLarge, Unsafe
from muisti.core.parsing.detect import Format, in_zip

ENTRIES = 50_000  # that a directory may list
DIRECTORY = 8 << 20  # bytes that a directory may take
READ = 1 << 16
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENCRYPTED = 0x1
# The errors of `zipfile` for damage. Some are of places before the file, or of names that are no text.
_DAMAGE = (BadZipFile, ZlibError, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, struct.error)


def format_of_zip(stream: BinaryIO) -> Format:
    """Return the format of a ZIP file by the names in its directory. Raises `BadZipFile` and `FileTooLarge`."""
    with open_zip(stream) as archive:
        return in_zip(archive.NameToInfo.keys())


def open_zip(stream: BinaryIO) -> ZipFile:
    """Open a seekable ZIP file whose directory is within the limits, else raise `FileTooLarge`.

    Raises `BadZipFile` for a damaged directory.
    """
    entries, size = _directory(stream)
    if entries > ENTRIES or size > DIRECTORY:
        raise FileTooLarge(f"The directory of the ZIP file lists {entries:,} entries; at most {ENTRIES:,} are read.")
    try:
        return ZipFile(stream)
    except (NotImplementedError, ValueError, OverflowError, OSError, struct.error) as error:
        raise BadZipFile(str(error)) from error


def _directory(stream: BinaryIO) -> tuple[int, int]:
    """Return the number of entries and the bytes of the directory, by the record that ends the file."""
    end = stream.seek(0, 2)
    start = max(0, end - _END.size - 0xFFFF - _LOCATOR.size - _END64.size)
    stream.seek(start)
    tail = stream.read(end - start)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + _END.size > len(tail):
        raise BadZipFile("no end of directory")
    _, _, _, _, entries, size, _, _ = _END.unpack_from(tail, at)
    if at >= _LOCATOR.size and tail[at - _LOCATOR.size : at].startswith(b"PK\6\7"):
        _, _, offset, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
        stream.seek(min(offset, end))
        record = stream.read(_END64.size)
        if len(record) < _END64.size or not record.startswith(b"PK\6\6"):
            raise BadZipFile("no 64-bit end of directory")
        *_, entries, size, _ = _END64.unpack(record)
    return max(entries, size // 256), size


def unpacked(archive: ZipFile, member: ZipInfo, limit: int) -> Iterator[bytes]:
    """Yield the content of a member in blocks. Raises `FileTooLarge` once more than `limit` bytes have come out.

    Raises `Encrypted`, `Broken` for damaged content, and `Unsafe` for a compression whose memory is not bounded.
    """
    if member.flag_bits & _ENCRYPTED:
        raise Encrypted(f"{member.filename!r} in the ZIP file is encrypted.")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise Unsafe(f"{member.filename!r} is compressed by method {member.compress_type}; only deflate is read.")
    size = 0
    try:
        with archive.open(member) as file:
            while block := file.read(READ):
                size += len(block)
                if size > limit:
                    raise FileTooLarge(f"{member.filename!r} unpacks to more than {limit >> 20:,} MB.")
                yield block
    except _DAMAGE as error:
        raise Broken(f"{member.filename!r} in the ZIP file is damaged: {error}.") from error

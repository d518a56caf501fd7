"""Tell what a compound file of Microsoft holds, by the names in its directory."""

import struct
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from muisti.core.parsing.detect import Format

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SECTORS = 64  # of a directory that are looked at
ENCRYPTED = "an encrypted office file"
# What a compound file holds by the names in its directory, or their starts, and as what to save what is not read.
_INSIDE: Mapping[str, tuple[Format | str, str]] = {
    "encryptedpackage": (ENCRYPTED, ""),
    "worddocument": (Format.DOC, ""),
    "workbook": (Format.XLS, ""),
    "book": (Format.XLS, ""),
    "powerpoint document": (Format.PPT, ""),
    "pp40": ("a presentation of PowerPoint before 1997 (PPT)", "PPTX, ODP or PDF"),
    "__substg1": (Format.MSG, ""),
    "__nameid_version1": (Format.MSG, ""),
    "__properties_version1": (Format.MSG, ""),
    "visiodocument": ("a drawing of Visio", "PDF"),
    "quill": ("a document of Publisher", "PDF"),
    "\x05hwpsummaryinformation": ("a document of Hangul (HWP)", "DOCX or PDF"),
    "catalog": ("a cache of small pictures (Thumbs.db)", ""),
}


def inside_container(head: bytes, stream: BinaryIO) -> tuple[Format | str, str] | None:
    """Return what a compound file holds, and as what to save it where it is not read; None for another file.

    What it holds is a format, or words for one that is not read.
    """
    if not head.startswith(SIGNATURE) or len(head) < 512 or not stream.seekable():
        return None
    (shift,) = struct.unpack_from("<H", head, 30)
    (sector,) = struct.unpack_from("<I", head, 48)
    if not 9 <= shift <= 12:
        return None
    at = stream.tell()
    directory = b"".join(_sectors(head, stream, sector, 1 << shift))
    stream.seek(at)
    names = (directory[start : start + 64] for start in range(0, len(directory), 128))
    plain = (name.decode("utf-16-le", "replace").split("\0")[0].lower().partition(".")[0] for name in names)
    return next((_INSIDE[name] for name in plain if name in _INSIDE), None)


def _sectors(head: bytes, stream: BinaryIO, sector: int, size: int) -> Iterator[bytes]:
    """Yield the sectors of a container that follow each other, by the table of what follows each."""
    tables = struct.unpack_from("<109I", head, 76)
    for _ in range(SECTORS):
        table, place = divmod(sector, size // 4)
        stream.seek((sector + 1) * size)
        yield stream.read(size)
        if table >= len(tables):
            return
        stream.seek((tables[table] + 1) * size + 4 * place)
        following = stream.read(4)
        if len(following) < 4:
            return
        (sector,) = struct.unpack("<I", following)

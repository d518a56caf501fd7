"""The container of office files before 2007, which an encrypted office file of today is in as well."""

import struct
from typing import BinaryIO

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY = 128  # bytes of an entry of the directory
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def is_encrypted_office(head: bytes, stream: BinaryIO) -> bool:
    """Return whether the first entries of the container's directory name an encrypted package."""
    if not head.startswith(SIGNATURE) or len(head) < 52 or not stream.seekable():
        return False
    (shift,) = struct.unpack_from("<H", head, 30)
    (sector,) = struct.unpack_from("<I", head, 48)
    if not 9 <= shift <= 12:
        return False
    at = stream.tell()
    stream.seek((sector + 1) << shift)
    directory = stream.read(max(1 << shift, 32 * _ENTRY))
    stream.seek(at)
    return _ENCRYPTED in directory

"""Open ZIP files of strangers: directories are measured before they are read, members while they unpack."""

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import crc32
from zlib import error as ZlibError

from muisti.core.model.unreadable import Broken, Encrypted, FileTooLarge, UnknownFormat, Unreadable, Unsafe
from muisti.core.parsing.detect import MEDIA_TYPES, OPEN_DOCUMENTS, Format
from muisti.core.parsing.encodings import SAMPLE, decode, guess, is_utf8
from muisti.core.support.regex import regex

ENTRIES = 50_000  # that a directory may list
DIRECTORY = 8 << 20  # bytes that a directory may take
READ = 1 << 16
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENCRYPTED = 0x1
_UTF8 = 0x800
_UNICODE_PATH = 0x7075  # an extra field
SURE_OF_NAMES = 0.05  # confidence above which one name alone is read by a guess
_DEBRIS = frozenset({".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", ".localized"})
_LARGEST = 4 << 20  # bytes of a member that tells what a file is
_STATED = {**OPEN_DOCUMENTS, MEDIA_TYPES[Format.EPUB]: Format.EPUB}
_TYPE = regex(r"[\w.+-]+/[\w.+-]+")
_PACKAGES = (
    ("xl/workbook.bin", "a binary workbook of Excel (XLSB)"), ("word/", Format.DOCX), ("ppt/", Format.PPTX),
    ("xl/", Format.XLSX), ("visio/", "a drawing of Visio"), ("extension.vsixmanifest", "an extension of an editor"),
    ("appxmanifest.xml", "an app of Windows"), ("3d/", "a model to print (3MF)"), ("fixeddoc", "an XPS document"),
    ("documents/1/", "an XPS document"), ("datamodel", "a report of Power BI"),
)  # fmt: skip
_MAIN = frozenset({"word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"})
_BESIDE_CONTENT = frozenset({"mimetype", "styles.xml", "meta.xml", "meta-inf/manifest.xml"})
# What a ZIP file is that has a member of such a name, in lower case.
_KINDS = tuple(
    (regex(pattern), what)
    for pattern, what in (
        (r"androidmanifest\.xml$", "an app of Android"), (r"payload/[^/]+\.app/", "an app of iOS"),
        (r"meta-inf/mozilla\.|install\.rdf$", "an extension of a web browser"),
        (r"meta-inf/manifest\.mf$", "a Java archive"),
        (r"[^/]+\.dist-info/(?:wheel|metadata)$|egg-info/pkg-info$", "a package of Python"),
        (r"index\.zip$|index/[^/]+\.iwa$|index\.apxl(?:\.gz)?$|index\.xml\.gz$|buildversionhistory\.plist$",
         "a document of iWork (Pages, Numbers or Keynote)"),
        (r"doc\.kml$|[^/]+\.kml$", "a map (KMZ)"), (r"meta-inf/container\.xml$", "a container of a document"),
        (r"[^/]+/data\.pkl$|[^/]+\.npy$", "an array or a model of numbers"), (r"extension\.vsixmanifest$",
         "an extension of an editor"), (r"[^/]+\.nuspec$", "a package of .NET"),
    )
)  # fmt: skip
# The errors of `zipfile` for damage. Some are of places before the file, or of names that are no text.
_DAMAGE = (BadZipFile, ZlibError, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, struct.error)


def format_of_zip(stream: BinaryIO) -> Format:
    """Return the format of a ZIP file by its members: that of a document, or `ZIP` for an archive.

    Raises `UnknownFormat` for another kind of document or program, whose parts are no documents of their own. Raises
    `Broken` for a document without its kind, `BadZipFile` and `FileTooLarge`.
    """
    with open_zip(stream) as archive:
        names = {name.replace("\\", "/").lower(): name for name in archive.NameToInfo}
        if stated := _start(archive, names, "mimetype").decode("latin-1").strip():
            if (form := _STATED.get(stated)) is not None:
                return form
            if _TYPE.fullmatch(stated):
                raise UnknownFormat(f"The file is a document of the type {stated}, which is not read.")
        if "[content_types].xml" in names or not _MAIN.isdisjoint(names):
            return _office(names)
        if "content.xml" in names and not _BESIDE_CONTENT.isdisjoint(names):
            raise Broken("The file is an OpenDocument file, and the part that says of which kind is damaged.")
        if "meta-inf/container.xml" in names and any(name.endswith(".opf") for name in names):
            return Format.EPUB
        if b'"manifest_version"' in _start(archive, names, "manifest.json"):
            raise UnknownFormat("The file is an extension of a web browser, which is not read.")
    if (what := next((what for pattern, what in _KINDS if any(map(pattern.match, names))), None)) is not None:
        raise UnknownFormat(f"The file is {what}, which is not read.")
    return Format.ZIP


def _office(names: Collection[str]) -> Format:
    """Return the format of a package of Office by the folder of its main part. Raises `UnknownFormat`."""
    for part, what in _PACKAGES:
        if any(name.startswith(part) for name in names):
            if isinstance(what, Format):
                return what
            raise UnknownFormat(f"The file is {what}, which is not read.")
    raise UnknownFormat("The file is a package of parts, none of which is a document that is read.")


def _start(archive: ZipFile, names: Mapping[str, str], name: str) -> bytes:
    """Return the first bytes of a member, empty where it is not there or cannot be read."""
    try:
        return next(unpacked(archive, archive.getinfo(names[name]), _LARGEST), b"")[:READ]
    except (KeyError, Unreadable):
        return b""


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


def is_debris(path: str) -> bool:
    """Return whether a file is one that a desktop leaves in folders, and holds nothing of its user.

    >>> is_debris("__MACOSX/a/._b.txt"), is_debris("photos/Thumbs.db"), is_debris("notes.txt")
    (True, True, False)
    """
    folders, _, name = path.replace("\\", "/").rpartition("/")
    return "__MACOSX" in folders.split("/") or name.startswith("._") or name.lower() in _DEBRIS


def names_of(entries: Sequence[ZipInfo]) -> list[str]:
    """Return the names of the members of an archive, which many programs write in the encoding of their country.

    A name that is not marked as UTF-8 may be so all the same, or state its UTF-8 beside it. The encoding of the others
    is guessed by all of them together.
    """
    raw = [b"" if entry.flag_bits & _UTF8 else _bytes_of(entry.filename) for entry in entries]
    foreign = [name for name in raw if not is_utf8(name)]
    found = guess(b"\n".join(foreign)[:SAMPLE]) if foreign else None
    codec = found.encoding if found is not None and (found.confidence >= SURE_OF_NAMES or len(foreign) > 1) else "cp437"
    return [
        _unicode_path(entry, name) or (decode(name, "utf-8" if is_utf8(name) else codec) if name else entry.filename)
        for entry, name in zip(entries, raw, strict=True)
    ]


def named(name: str) -> str:
    """Return the name of a member of a TAR file, whose bytes that are not UTF-8 came as half surrogates."""
    raw = name.encode("utf-8", "surrogateescape")
    return name if is_utf8(raw) else names_of([ZipInfo(raw.decode("cp437"))])[0]


def _bytes_of(name: str) -> bytes:
    try:
        return name.encode("cp437")
    except UnicodeEncodeError:  # a member that was renamed while the archive was opened
        return b""


def _unicode_path(entry: ZipInfo, raw: bytes) -> str | None:
    """Return the name that an extra field states in UTF-8, where it was written for this name."""
    extra, at = entry.extra, 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == _UNICODE_PATH and size > 5:
            (checksum,) = struct.unpack_from("<L", extra, at + 5)
            if checksum == crc32(raw):
                return extra[at + 9 : at + 4 + size].decode("utf-8", "replace")
        at += 4 + size
    return None


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

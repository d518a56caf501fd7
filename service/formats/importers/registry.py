"""Recognises the system of a file by its content, and reads the file by the importer of that system."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from types import ModuleType
from typing import IO

import msgspec
import zstandard

from muisti.core.operations.transfer.records import Header
from muisti.service.formats.importers import (
    basic_memory,
    chatgpt,
    claude,
    cogx,
    hazina,
    letta,
    markdown,
    mcp_memory,
    mcp_memory_service,
    mem0,
    memorg,
    obsidian,
    plain_json,
    vipune,
    zakira,
    zapomni,
    zep,
)
from muisti.service.formats.importers.dialogues import with_sessions
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, Unreadable, clean
from muisti.service.formats.importers.shapes import shape_of
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.lines import WINDOW, is_compressed

# Exports of Muisti itself, one file or a folder of them, which are imported unchanged

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


OWN = "muisti"

# In the order in which their `detect` is tried.
IMPORTERS: Mapping[str, ModuleType] = {
    "vipune": vipune,
    "zakira": zakira,
    "mcp-memory-service": mcp_memory_service,
    "memorg": memorg,
    "letta": letta,
    "chatgpt": chatgpt,
    "claude": claude,
    "cogx": cogx,
    "hazina": hazina,
    "mcp-memory": mcp_memory,
    "zapomni": zapomni,
    "zep": zep,
    "mem0": mem0,
    "json": plain_json,
    "markdown": markdown,
    "basic-memory": basic_memory,
    "obsidian": obsidian,
}


def recognised(source: Source) -> str:
    """Return the name of the system that a file is from.

    Raises:
        Unreadable: the file is of no known system, or damaged.
    """
    if is_own(source):
        return OWN
    shape = shape_of(source)
    if shape.first.get("type") == OWN:
        return OWN
    for name, importer in IMPORTERS.items():
        if importer.detect(shape):
            return name
    if shape.tables.get("schema_migrations") == ["number", "name", "applied_at"]:
        advice = "`muisti restore-backup` restores it, `muisti export --database` exports a space of it"
        raise Unreadable(f"{source.name}: this is a database of Muisti; {advice}")
    names = ", ".join((OWN, *IMPORTERS))
    if shape.kind in ("array", "object", "lines", "string"):
        raise Unreadable(
            f"{source.name}: this JSON is of no known form. {plain_json.FORMS}. For another system give --from: {names}"
        )
    raise Unreadable(
        f"{source.name}: the system of this file is unknown; --from NAME names it: {names}. "
        "`muisti ingest FILE` stores a text as a document"
    )


class Reading:
    """The memories of a file of another system. `skipped` counts the records left out so far, by reason."""

    def __init__(self, source: Source, system: str) -> None:
        self._source, self._system = source, system
        self.skipped: Counter[str] = Counter()
        self.read = 0  # records, good or not, with those that are left out

    def found(self) -> Iterator[Item | Failed]:
        """Yield the memories, and the records that should be memories and cannot be read.

        Raises:
            Unreadable: from here on the file cannot be read.
        """
        for found in _distinct(with_sessions(IMPORTERS[self._system].read(self._source))):
            self.read += 1
            if isinstance(found, Skipped):
                self.skipped[found.reason] += 1
            else:
                yield found


def _distinct(found: Iterable[Found]) -> Iterator[Found]:
    """Give a memory its own id where an earlier one with another text has the same, and let its parts follow it.

    Notes with one permalink and lists that were joined have such ids. Equal ids with equal texts stay: they are one
    memory. So do objects and summaries of conversations, which their names identify.
    """
    texts: dict[int, int] = {}
    renamed: dict[str, str] = {}
    for one in found:
        if isinstance(one, Item) and one.own is None:
            one = replace(one, parent=renamed.get(one.parent, one.parent) if one.parent else None)
            if one.memory.get("kind", "memory") in ("memory", "exchange"):
                text = (str(one.memory.get("content")), one.memory.get("conversation"))
                if texts.setdefault(hash(one.external), hash(text)) == hash(text):
                    renamed.pop(one.external, None)
                else:
                    name = f"{one.external}\n{sha256(clean(repr(text)).encode()).hexdigest()[:16]}"
                    renamed[one.external] = name
                    one = replace(one, external=name)
        yield one

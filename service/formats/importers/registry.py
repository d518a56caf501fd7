"""Recognises the system of a file by its content, and reads the file by the importer of that system."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from types import ModuleType
from typing import IO

import msgspec

from muisti.core.operations.transfer.records import Header
from muisti.core.support import zstd
from muisti.service.formats.importers import (
    basic_memory,
    chatgpt,
    claude,
    claude_code,
    codex,
    cogx,
    cursor,
    discord,
    gemini_cli,
    google_keep,
    hazina,
    joplin,
    letta,
    librechat,
    markdown,
    mcp_memory,
    mcp_memory_service,
    mem0,
    memorg,
    messenger,
    notion,
    obsidian,
    plain_json,
    rules,
    simplenote,
    slack,
    telegram,
    vipune,
    whatsapp,
    zakira,
    zapomni,
    zep,
)
from muisti.service.formats.importers.dialogues import with_sessions
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, Unreadable, clean
from muisti.service.formats.importers.shapes import shape_of
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.line_stream import WINDOW, is_compressed

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
    found = bytearray()
    try:
        for piece in zstd.Expander(WINDOW, HEAD_MAX).feed(head):
            found += piece
            if len(found) >= HEAD_MAX:
                break
    except zstd.ZstdError:
        return b""
    return bytes(found[:HEAD_MAX])


def _header(head: bytes) -> Header | None:
    try:
        return msgspec.json.decode(head.split(b"\n", 1)[0], type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


OWN = "muisti"


class Unknown(Unreadable):
    """A file is of no known system. `said` is the message without its advice for the command line."""

    def __init__(self, said: str, advice: str, *, may_be_text: bool) -> None:
        super().__init__(f"{said}{advice}")
        self.said, self.may_be_text = said, may_be_text


# In the order in which their `detect` is tried; each has the name of its module.
_ORDER = (
    *(vipune, zakira, mcp_memory_service, memorg, letta, chatgpt, claude, telegram, slack, discord, messenger),
    *(librechat, google_keep, simplenote, joplin, claude_code, codex),
    *(gemini_cli, cursor, whatsapp, cogx, hazina, mcp_memory, zapomni, zep, mem0, plain_json, markdown, notion),
    *(basic_memory, rules, obsidian),
)
IMPORTERS: Mapping[str, ModuleType] = {
    one.__name__.rpartition(".")[2].removeprefix("plain_").replace("_", "-"): one for one in _ORDER
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
        said = f"{source.name}: this JSON is of no known form. {plain_json.FORMS}."
        raise Unknown(said, f" For another system give --from: {names}", may_be_text=False)
    advice = f"; --from NAME names it: {names}. `muisti ingest FILE` stores a text as a document"
    raise Unknown(f"{source.name}: the system of this file is unknown", advice, may_be_text=not source.is_folder)


class Reading:
    """The memories of a file of another system. `skipped` counts the records left out so far, by reason.

    `each`: what comes before a place from which on the file cannot be read is good, and that place is a failure.
    """

    def __init__(self, source: Source, system: str, *, each: bool = False) -> None:
        self._source, self._system, self._each = source, system, each
        self.name = source.name
        self.skipped: Counter[str] = Counter()
        self.read = 0  # records, good or not, with those that are left out

    def found(self) -> Iterator[Item | Failed]:
        """Yield the memories, and the records that should be memories and cannot be read.

        Raises:
            Unreadable: from here on the file cannot be read.
        """
        read = IMPORTERS[self._system].read(self._source)
        for found in whole(_readable(read) if self._each else read):
            self.read += 1
            if isinstance(found, Skipped):
                self.skipped[found.reason] += 1
            else:
                yield found


def whole(found: Iterable[Found]) -> Iterator[Found]:
    """Yield what an importer has found, with the sessions that it lacks, and with an id of its own for each text."""
    return _distinct(with_sessions(found))


def _readable(found: Iterator[Found]) -> Iterator[Found]:
    """Yield what can be read. Where the rest cannot, that is a failure with its place, if anything came before it."""
    is_first = True
    try:
        for one in found:
            yield one
            is_first = False
    except Unreadable as error:
        if is_first:
            raise
        place, _, message = str(error).partition(": ")
        yield Failed(place, message or str(error))


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

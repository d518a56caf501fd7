"""From a file of another system to lines of an export: recognised by its content, read by its importer."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import ModuleType

import msgspec

from service.importers import (
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
    vipune,
    zakira,
    zapomni,
    zep,
)
from service.importers.items import Failed, Found, Item, Skipped, Unreadable, bad_line, lines_of
from service.importers.shapes import shape_of
from service.importers.sources import Source
from service.lines import is_compressed

OWN = "muisti"
PIECE = 65_536  # bytes

# In the order in which they are asked whether a file is theirs.
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
    "markdown": markdown,
    "basic-memory": basic_memory,
    "obsidian": obsidian,
}


def recognised(source: Source) -> str:
    """The system whose file it is.

    Raises:
        Unreadable: it is nobody's, or damaged.
    """
    if is_compressed(source.head(4)):
        return OWN
    shape = shape_of(source)
    if shape.first.get("type") == OWN:
        return OWN
    for name, importer in IMPORTERS.items():
        if importer.detect(shape):
            return name
    if shape.tables.get("schema_migrations") == ["number", "name", "applied_at"]:
        advice = "`muisti restore-backup` puts it in place, `muisti export --database` takes a space out of it"
        raise Unreadable(f"{source.name}: this is a database of Muisti; {advice}")
    raise Unreadable(f"{source.name}: this is no file of a system that is known; --from NAME says whose it is")


class Reading:
    """A file on its way into a space. `skipped` counts, by reason, what was passed over so far."""

    def __init__(self, source: Source, system: str, space: str) -> None:
        self._source, self._system, self._space = source, system, space
        self.skipped: Counter[str] = Counter()
        self.read = 0  # memories, good or not, and what is passed over

    def pieces(self) -> Iterator[bytes]:
        """The file as an export, in pieces.

        Raises:
            Unreadable: from here on it cannot be read.
        """
        if self._system == OWN:
            with self._source.open() as file:
                while piece := file.read(PIECE):
                    yield piece
            return
        waiting, size = list[bytes](), 0
        for line in self._lines():
            waiting.append(line + b"\n")
            size += len(line)
            if size >= PIECE:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)

    def _lines(self) -> Iterator[bytes]:
        yield msgspec.json.encode({"type": "muisti", "format": 1, "source": self._system})
        count = 1
        for found in self._found():
            for line in self._lines_of(found):
                count += 1
                yield line
        yield msgspec.json.encode({"type": "end", "lines": count})

    def _found(self) -> Iterator[Found]:
        return IMPORTERS[self._system].read(self._source)

    def _lines_of(self, found: Found) -> Iterator[bytes]:
        self.read += 1
        match found:
            case Item():
                yield from lines_of(found, self._system, self._space)
            case Skipped():
                self.skipped[found.reason] += 1
            case Failed():
                yield bad_line(found)

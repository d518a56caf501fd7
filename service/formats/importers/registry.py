"""Recognises the system of a file by its content, and reads the file by the importer of that system."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from types import ModuleType

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
from muisti.service.formats.importers.own import is_own
from muisti.service.formats.importers.shapes import shape_of
from muisti.service.formats.importers.source_files import Source

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

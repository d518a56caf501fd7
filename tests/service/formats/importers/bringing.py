"""Files through their importers into a space, as the command line does it."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from muisti.core.engine import Engine
from muisti.core.operations.transfer.records import VersionLine
from muisti.service.formats.importers.registry import OWN, Reading, own_files, recognised
from muisti.service.formats.importers.shares import Shares
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.line_stream import Lines
from muisti.service.schemas.transfer import ImportReply


def bring(
    engine: Engine, path: Path, space: str = "default", *, system: str | None = None, atomic: bool = True
) -> tuple[ImportReply, Reading]:
    """Import a file into one space, and return the reply. Its content shows its system, unless `system` names it."""
    source = Source(path)
    system = system or recognised(source)
    with Shares(source, system, lambda _: space, each=not atomic) as shares:
        (share,) = own_files(source) if system == OWN else shares.read()
        incoming = engine.owner.write.begin_import(space, atomic=atomic)
        lines = Lines(incoming.take)
        try:
            for piece in share.pieces(lambda _: None):
                lines.feed(piece)
            lines.end()
            return ImportReply.of(incoming.finish()), shares.reading
        finally:
            incoming.abandon()


def listed(engine: Engine, space: str) -> Iterator[str]:
    """The contents of all memories, superseded ones too."""
    for page in engine.owner.read.export(space, "test", vectors=False).pages():
        for record in page:
            if isinstance(record, VersionLine):
                yield msgspec.json.decode(record.memory)["content"]

"""Files through their importers into a space, as the command line does it."""

from pathlib import Path

from core.engine import Engine
from service.importers.reading import Reading, recognised
from service.importers.sources import Source
from service.lines import Lines
from service.schemas.moving import ImportReply


def bring(
    engine: Engine, path: Path, space: str = "default", *, system: str | None = None, atomic: bool = True
) -> tuple[ImportReply, Reading]:
    """What came of a file, which is recognised by its content unless `system` says whose it is."""
    source = Source(path)
    reading = Reading(source, system or recognised(source), space)
    incoming = engine.begin_import(space, atomic=atomic)
    lines = Lines(incoming.take)
    try:
        for piece in reading.pieces():
            lines.feed(piece)
        lines.end()
        return ImportReply.of(incoming.finish()), reading
    finally:
        incoming.abandon()

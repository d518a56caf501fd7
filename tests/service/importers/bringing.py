"""Files through their importers into a space, as the command line does it."""

from pathlib import Path

from core.engine import Engine
from service.importers.own import own_files
from service.importers.reading import OWN, Reading, recognised
from service.importers.shares import Shares
from service.importers.sources import Source
from service.lines import Lines
from service.schemas.moving import ImportReply


def bring(
    engine: Engine, path: Path, space: str = "default", *, system: str | None = None, atomic: bool = True
) -> tuple[ImportReply, Reading]:
    """What came of a file, which is recognised by its content unless `system` says whose it is; all into one space."""
    source = Source(path)
    system = system or recognised(source)
    with Shares(source, system, lambda _: space) as shares:
        (share,) = own_files(source) if system == OWN else shares.read()
        incoming = engine.begin_import(space, atomic=atomic)
        lines = Lines(incoming.take)
        try:
            for piece in share.pieces(lambda _: None):
                lines.feed(piece)
            lines.end()
            return ImportReply.of(incoming.finish()), shares.reading
        finally:
            incoming.abandon()

"""A space of the database of this machine: files pass through it piece by piece, without HTTP."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from core.caller import Caller
from core.engine import Engine
from service.client import Reply
from service.lines import Lines, encoded
from service.schemas.moving import ImportedReply, ImportReply, ImportsReply
from service.version import installed_version


class Here:
    """Does what a server would."""

    def __init__(self, engine: Engine, space: str, caller: Caller) -> None:
        self._engine, self._space = engine, space
        self._seen = engine.seen_by(caller)

    def export(self, *, vectors: bool) -> AbstractContextManager[Iterator[bytes]]:
        export = self._seen.export(self._space, installed_version(), vectors=vectors)
        return nullcontext(encoded(page) for page in export.pages())

    def bring(self, pieces: Iterable[bytes], *, atomic: bool, dry_run: bool) -> Reply:
        known = {space.name for space in self._engine.spaces.list()}
        self._engine.spaces.ensure(self._space)
        incoming = self._seen.begin_import(self._space, atomic=atomic, dry_run=dry_run)
        lines = Lines(incoming.take)
        try:
            for piece in pieces:
                lines.feed(piece)
            lines.end()
            report = ImportReply.of(incoming.finish())
        finally:
            incoming.abandon()
            if self._space not in known and dry_run:
                self._engine.spaces.delete(self._space)
        return _reply(report)

    def imports(self) -> Reply:
        return _reply(ImportsReply.of(self._seen.imports(self._space)))

    def undo(self, number: int) -> Reply:
        return _reply(ImportedReply.of(self._seen.undo_import(self._space, number)))


def _reply(body: Any) -> Reply:
    return Reply(msgspec.json.encode(body), {})  # pyright: ignore[reportArgumentType]  # no headers are read of it

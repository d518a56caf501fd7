"""Spaces of the database of this machine: exports and imports run piece by piece, without HTTP."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import MuistiError
from muisti.core.model.imports import ImportRefused
from muisti.core.query.points import parse
from muisti.service.app.client import ApiError, Reply
from muisti.service.formats.graphs.formats import GraphFormat, exported
from muisti.service.formats.lines import Lines, encoded
from muisti.service.schemas.errors import problem_of
from muisti.service.schemas.moving import ImportedReply, ImportReply
from muisti.service.version import installed_version


class Here:
    """Spaces of an engine in this process. Every call raises `ApiError` where a server would refuse."""

    def __init__(self, engine: Engine, caller: Caller) -> None:
        self._engine, self._memories = engine, engine.seen_by(caller)

    def spaces(self) -> dict[str, bool]:
        """Map the name of each space to whether nothing was ever stored in it."""
        with _refusing():
            return {space.name: not space.seq for space in self._engine.spaces.list()}

    def make(self, space: str) -> None:
        """Create the space if it is missing."""
        with _refusing():
            self._engine.spaces.ensure(space)

    def drop(self, space: str) -> None:
        """Delete a space."""
        with _refusing():
            self._engine.spaces.delete(space)

    @contextmanager
    def export(self, space: str, *, vectors: bool) -> Iterator[Iterator[bytes]]:
        """Stream the lines of a space, in pieces."""
        with _refusing():
            export = self._memories.read.export(space, installed_version(), vectors=vectors)
        yield (encoded(page) for page in export.pages())

    @contextmanager
    def graph(self, space: str, form: GraphFormat, as_of: str | None) -> Iterator[Iterator[bytes]]:
        """Stream the graph of a space in a format, in pieces."""
        with _refusing():
            graph = self._memories.graph.export(space, as_of=parse(as_of))
        yield exported(form, graph.nodes(), graph.edges())

    def bring(
        self,
        space: str,
        pieces: Iterable[bytes],
        note: Callable[[int, int | None], None],
        *,
        atomic: bool,
        dry_run: bool,
    ) -> Any:
        """Import the lines in `pieces`, and return the report, also when the import is refused because of its lines."""
        with _refusing():
            incoming = self._memories.write.begin_import(space, atomic=atomic, dry_run=dry_run)
            lines = Lines(incoming.take)
            try:
                for piece in pieces:
                    lines.feed(piece)
                lines.end()
                report = incoming.finish()
            except ImportRefused as refused:
                report = refused.report
            finally:
                incoming.abandon()
            return msgspec.to_builtins(ImportReply.of(report))

    def undo(self, space: str, number: int) -> Reply:
        """Delete the memories of an import."""
        with _refusing():
            return _reply(ImportedReply.of(self._memories.write.undo_import(space, number)))


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn an error of the core into the `ApiError` that a client of a server would get."""
    try:
        yield
    except MuistiError as error:
        found = problem_of(error)
        raise ApiError(found.status, msgspec.to_builtins(found), msgspec.json.encode(found)) from error


def _reply(body: Any) -> Reply:
    return Reply(msgspec.json.encode(body), {})

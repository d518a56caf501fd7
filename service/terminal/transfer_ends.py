"""The two places for exports and imports: the spaces of a server, or of the database of this machine."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from muisti.client import calls
from muisti.core.model.choices import Scope
from muisti.core.model.errors import InvalidInput, MuistiError
from muisti.core.model.operations import ImportRefused
from muisti.core.placement.directory import demand_single
from muisti.service.formats.line_stream import Lines, encoded
from muisti.service.schemas.errors import KINDS, BadField, Problem, problem, problem_of
from muisti.service.schemas.transfer import ImportedReply, ImportReply
from muisti.service.settings import Settings
from muisti.service.terminal.base import Failure, Globals
from muisti.service.terminal.callers import access_of, demand
from muisti.service.terminal.client import ApiError, Client, Reply, whole
from muisti.service.terminal.configuration import file_of, in_force, settings_for
from muisti.service.terminal.opening import client, empty, refusals, server_url
from muisti.service.terminal.progress import Note, ended, own_task
from muisti.service.version import installed_version

if TYPE_CHECKING:
    from muisti.core.engine import Engine
    from muisti.core.identity.caller import Caller


Pieces = Callable[[Callable[[int], None]], Iterable[bytes]]  # reads an import from its beginning; notes memories


def digest_of(lines: Pieces) -> str:
    """Return the digest of the lines of an import."""
    digest = blake2b(digest_size=16)
    for piece in lines(lambda _: None):
        digest.update(piece)
    return digest.hexdigest()


class There:
    """Spaces of a server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def spaces(self) -> dict[str, bool]:
        """Map the name of each space to whether nothing was ever stored in it."""
        return {
            space["name"]: space["seq"].endswith(":0") for space in self.client.send(calls.list_spaces()).data["items"]
        }

    def make(self, space: str) -> None:
        """Create the space if it is missing."""
        try:
            self.client.send(calls.create_space({"name": space}))
        except ApiError as error:
            if error.status != 409:  # another client has just created it
                raise

    def drop(self, space: str) -> None:
        """Delete a space."""
        self.client.send(calls.delete_space(space, confirm=space))

    @contextmanager
    def export(self, space: str, *, vectors: bool) -> Iterator[Iterator[bytes]]:
        """Stream the lines of a space, in pieces.

        Raises:
            Unreachable: the stream ends before the last line.
        """
        with self.client.stream(calls.export_space(space, vectors=vectors)) as response:
            yield whole(response.iter_bytes())

    def bring(
        self, space: str, lines: Pieces, sent: Callable[[int], None], note: Note, *, atomic: bool, dry_run: bool
    ) -> Any:
        """Import the lines, and return the report, also when the import is refused because of them.

        `sent` gets the number of memories sent. The server imports as a task, whose progress `note` gets. The digest of
        the lines names the request: a repeated command follows the task that its killed forerunner has begun.
        """
        how = {"atomic": atomic, "dry_run": dry_run, "task": None if dry_run else True}

        def send(key: str | None) -> Reply:
            return self.client.send(calls.import_memories(space, lines(sent), **how, idempotency_key=key))

        def follow(task: Any) -> Any:
            return ended(self.client, space, task, note)

        try:
            if dry_run:
                return send(None).data
            answer = own_task(send, f"import-{digest_of(lines)}-{atomic}", follow)
        except ApiError as error:
            if (report := error.problem.get("report")) is None:
                raise
            return report
        return _result(follow(answer))

    def undo(self, space: str, number: int) -> Reply:
        """Delete the memories of an import."""
        return self.client.send(calls.undo_import(space, str(number)))


class Here:
    """Spaces of an engine in this process. Every call raises `ApiError` where a server would refuse."""

    def __init__(self, engine: "Engine", caller: "Caller") -> None:
        self._engine, self.memories = engine, engine.seen_by(caller)

    def spaces(self) -> dict[str, bool]:
        """Map the name of each space to whether nothing was ever stored in it."""
        with refusing():
            return {space.name: not space.seq for space in self._engine.spaces.list()}

    def make(self, space: str) -> None:
        """Create the space if it is missing."""
        with refusing():
            self._engine.spaces.ensure(space)

    def drop(self, space: str) -> None:
        """Delete a space."""
        with refusing():
            self._engine.spaces.delete(space)

    @contextmanager
    def export(self, space: str, *, vectors: bool) -> Iterator[Iterator[bytes]]:
        """Stream the lines of a space, in pieces."""
        with refusing():
            export = self.memories.read.export(space, installed_version(), vectors=vectors)
        yield (encoded(page) for page in export.pages())

    def bring(
        self, space: str, lines: Pieces, sent: Callable[[int], None], note: Note, *, atomic: bool, dry_run: bool
    ) -> Any:
        """Import the lines, and return the report, also when the import is refused because of them.

        A repeated command goes on where its killed forerunner was.
        """
        with refusing():
            digest = None if dry_run else digest_of(lines)
            incoming = self.memories.write.begin_import(space, atomic=atomic, dry_run=dry_run, digest=digest)
            cut = Lines(incoming.take)
            try:
                for piece in lines(sent):
                    cut.feed(piece)
                cut.end()
                report = incoming.finish()
            except ImportRefused as refused:
                report = refused.report
            finally:
                incoming.abandon()
            return msgspec.to_builtins(ImportReply.of(report))

    def undo(self, space: str, number: int) -> Reply:
        """Delete the memories of an import."""
        with refusing():
            return Reply(msgspec.json.encode(ImportedReply.of(self.memories.write.undo_import(space, number))), {})


End = There | Here  # every call may raise `ApiError`


@contextmanager
def refusing() -> Iterator[None]:
    """Turn an error of the core into the `ApiError` that a client of a server would get."""
    try:
        yield
    except MuistiError as error:
        raise _error(problem_of(error)) from error


def _error(found: Problem) -> ApiError:
    return ApiError(found.status, msgspec.to_builtins(found), msgspec.json.encode(found))


def _result(task: Any) -> Any:
    """Return the report of an import that has ended as a task.

    Raises:
        ApiError: it has failed without one.
        Failure: it was cancelled.
    """
    if "result" in task:
        return task["result"]
    if "error" not in task:
        raise Failure(f"the import was cancelled after {task['done']:,} lines")
    code, detail = task["error"]["code"], task["error"]["detail"]
    path, _, message = detail.partition(": ")  # a task keeps the text of `InvalidInput`, which begins with the path
    errors = [BadField(path, message)] if code == InvalidInput.code else []
    found = problem(code, detail, errors) if code in KINDS else problem("internal", f"{code}: {detail}")
    raise _error(found)


@contextmanager
def opened_end(options: Globals, *, need: Scope, create: bool = False, dry_run: bool = False) -> Iterator[End]:
    """Open the end that the options name. A dry run without a database works on an empty, temporary one."""
    if server_url(options):
        with client(options) as opened:
            yield There(opened)
        return
    demand(options, need)
    caller = access_of(options).caller(None, frozenset(options.allowed))
    here = options.application.open_here
    with refusals(options), _settings(options, create, dry_run) as settings, here(settings) as engine:
        demand_single(engine.database)
        yield Here(engine, caller)


@contextmanager
def _settings(options: Globals, create: bool, dry_run: bool) -> Iterator[Settings]:
    path = file_of(in_force(options))
    if not dry_run or path is None or path.exists():
        yield settings_for(options, create=create and not dry_run)
        return
    with empty(options, "import") as settings:
        yield settings


def missing(space: str) -> Failure:
    """Return the failure of a command that needs a space which does not exist."""
    return Failure(f"there is no space {space}; `muisti spaces` lists those that exist")


@contextmanager
def existing(space: str) -> Iterator[None]:
    """Replace the error about a missing space by one that names it."""
    try:
        yield
    except ApiError as error:
        if error.status != 404 or not str(error).startswith("no space"):
            raise
        raise missing(space) from error

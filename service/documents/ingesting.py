"""Store the files of a request: a small one before the answer, everything else as a task."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from litestar import Response

from muisti.core.documents.model import Document, Stored
from muisti.core.documents.view import KIND, File, Held, Job, Look, Source, holds_documents
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput
from muisti.core.model.tasks import NewItem, Task
from muisti.core.model.values import LOCAL, RequestKey
from muisti.service.asgi.header_names import SEQ
from muisti.service.auth.access import Access
from muisti.service.auth.middleware import access_of, caller_of, seen
from muisti.service.documents.schemas import PutReply
from muisti.service.http.request import Request
from muisti.service.http.respond import accepted, planned
from muisti.service.http.uploads import Upload, close
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskReply

Answer = Response[PutReply] | Response[TaskReply]


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A request to store files: its space, how they are read, its idempotency key, and whether it may be answered late.

    `path` is the name of a single file; `wait` False makes a task of small files, too.
    """

    space: str
    job: Job
    path: str | None = None
    mtime: int | None = None
    key: str | None = None
    wait: bool = True
    dry_run: bool = False


async def stored(request: Request, backend: Backend, ask: Ask, uploads: list[Upload]) -> Answer:
    """Store uploaded files, and free their bytes.

    Raises:
        InvalidInput: a file has no name, or a dry run asks for more than one small file.
    """
    try:
        named = [(_path(one, ask, len(uploads)), one) for one in uploads]
        key = _request_key(request, ask, [one.held for one in uploads])
        path, one = named[0]
        is_small = len(named) == 1 and one.held.size <= backend.uploads.at_once
        if ask.wait and is_small and not holds_documents(one.held):
            return await _at_once(request, backend, ask, key, (path, one))
        _refuse_dry_run(ask)
        return accepted(await backend.store(_submitted, request, backend, ask, key, named))
    finally:
        close(uploads)


async def stored_from(request: Request, backend: Backend, ask: Ask, server_path: str) -> Answer:
    """Store a file of the server's machine.

    Raises:
        HttpError: this caller may name no files.
        InvalidInput: the path lies outside of the folder that the settings allow, or is no file.
    """
    path = permitted(access_of(request.scope), backend.uploads.folder, server_path)
    name = ask.path or path.name
    key = _request_key(request, ask, [])
    if ask.wait and path.stat().st_size <= backend.uploads.at_once:
        with await backend.store(Held.of_path, path) as held:
            if not holds_documents(held):
                origin = origin_of(path, backend.uploads.folder)
                return await _at_once(request, backend, ask, key, (name, Upload(name, held, None)), origin)
    _refuse_dry_run(ask)
    item = File(server_path=str(path), mtime=ask.mtime, origin=origin_of(path, backend.uploads.folder)).item(name)
    return accepted(await backend.store(submitted, backend, ask.space, ask.job, caller_of(request.scope), [item], key))


def _refuse_dry_run(ask: Ask) -> None:
    if ask.dry_run:
        raise InvalidInput.at("$.dry_run", "goes with one small file; a task has no dry run")


async def _at_once(
    request: Request,
    backend: Backend,
    ask: Ask,
    key: RequestKey | None,
    what: tuple[str, Upload],
    origin: str | None = None,
) -> Response[PutReply]:
    documents = seen(request.scope, backend, dry_run=ask.dry_run).documents
    path, one = what
    file = File(mtime=ask.mtime if one.mtime is None else one.mtime, media_type=one.media_type, origin=origin)
    done = await backend.store(documents.ingest, ask.space, path, one.held, ask.job, file, request=key)
    return _answer(ask.space, done)


def _answer(space: str, done: Stored) -> Response[PutReply]:
    (put,) = done.items
    memory = put.document.memory
    created = put.outcome == "created"
    headers = {SEQ: str(done.seq), "ETag": memory.etag}
    if done.replayed:
        headers["Idempotent-Replayed"] = "true"
    if done.commit:
        headers["Server-Timing"] = f"commit;dur={done.commit:.2f}"
    if put.flags:
        headers["Muisti-Flags"] = ", ".join(sorted({flag.code for flag in put.flags}))
    if created:
        headers["Location"] = f"/v1/spaces/{space}/documents/{memory.id}"
    answer = Response(PutReply.of(put), status_code=201 if created else 200, headers=headers)
    return planned(done.plan, answer)


def _submitted(
    request: Request, backend: Backend, ask: Ask, key: RequestKey | None, named: Sequence[tuple[str, Upload]]
) -> Task:
    """Make a task whose bytes are in the database until it has ended."""
    begun = backend.engine.tasks.begin(ask.space, KIND, ask.job, caller_of(request.scope), key)
    if isinstance(begun, Task):
        return begun
    try:
        begun.add_files(
            (str(number), one.held.pieces(), _file(str(number), one, ask).item(path))
            for number, (path, one) in enumerate(named)
        )
        return begun.end()
    except BaseException:  # whatever ends the storing, no half of a task stays; the error goes on
        begun.abandon()
        raise


def _file(blob: str, one: Upload, ask: Ask) -> File:
    mtime = ask.mtime if one.mtime is None else one.mtime
    return File(blob=blob, mtime=mtime, media_type=one.media_type)


def _path(one: Upload, ask: Ask, count: int) -> str:
    if ask.path is not None and count == 1:
        return ask.path
    if one.name:
        folder = "" if ask.path is None else f"{ask.path.rstrip('/')}/"
        return folder + one.name.replace("\\", "/").lstrip("/")
    raise InvalidInput.at("$.path", "is required: the file has no name")


def permitted(access: Access, folder: str | None, server_path: str) -> Path:
    """Return a path of the server that a caller without a key may name: a file below the folder of the settings.

    Raises:
        HttpError: this caller may name no files.
        InvalidInput: the path lies outside of the folder, or is no file.
    """
    if folder is None or not (access.open or access.actor == LOCAL):
        raise HttpError(
            "forbidden", "files of the server can be named without keys only, below the setting server_files"
        )
    root, path = Path(folder).resolve(), Path(os.path.realpath(Path(folder, server_path)))  # which may loop
    if not path.is_relative_to(root) or not path.is_file():
        raise InvalidInput.at("$.server_path", f"{server_path[:80]!r} is no file below {folder}")
    return path


def submitted(
    backend: Backend, space: str, job: Job, caller: Caller, items: Sequence[NewItem], key: RequestKey | None
) -> Task:
    """Make a task that stores files."""
    return backend.engine.tasks.submit(space, KIND, job, caller, items, request=key)


def _request_key(request: Request, ask: Ask, files: Sequence[Held]) -> RequestKey | None:
    """Return the key by which a repeated request is recognised: files count by their hash."""
    if ask.key is None:
        return None
    return request.key_of(ask.key, [msgspec.json.encode(ask.job), *(one.sha256.encode() for one in files)])


# Sources of documents among the server's own files: where a file is, and what has become of it


def origin_of(path: Path, folder: str | None) -> str | None:
    """Return the path of a file below the folder of the server's own files."""
    return None if folder is None else path.relative_to(Path(folder).resolve()).as_posix()


def looker(access: Access, folder: str | None) -> Look:
    """Return the function that compares a document with the file that the server read it from.

    Only callers without a key learn about files. All other sources are `unknown`, also those of uploads.
    """
    if folder is None or not (access.open or access.actor == LOCAL):
        return lambda document: "unknown"
    root = Path(folder).resolve()
    return lambda document: _source(document, root)


def _source(document: Document, root: Path) -> Source:
    if document.origin is None or not root.is_dir():
        return "unknown"
    path = Path(os.path.realpath(root / document.origin))
    if not path.is_relative_to(root):
        return "unknown"
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if changed <= document.memory.updated_at:
            return "current"
        with Held.of_path(path) as held:
            return "current" if held.sha256 == document.sha256 else "stale"
    except FileNotFoundError:
        return "stale"
    except OSError:
        return "unknown"

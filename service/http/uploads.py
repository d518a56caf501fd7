"""Files that a request brings: read as they come, in bounded memory, from a raw body or from a form."""

import re
from collections.abc import AsyncIterator
from datetime import datetime
from urllib.parse import unquote

import msgspec
from litestar.types import Scope
from multipart import (
    MultipartError,  # pyright: ignore[reportAttributeAccessIssue]  # python-multipart has a folder of this name
    MultipartSegment,  # pyright: ignore[reportAttributeAccessIssue]  # python-multipart has a folder of this name
    PushMultipartParser,  # pyright: ignore[reportAttributeAccessIssue]  # python-multipart has a folder of this name
    parse_options_header,  # pyright: ignore[reportAttributeAccessIssue]  # python-multipart has a folder of this name
)

from muisti.core.documents.view import Held
from muisti.core.model.errors import InvalidInput
from muisti.core.model.times import to_us
from muisti.service.http.request import Request
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError

FORM = "multipart/form-data"
FILES_MAX = 1_000  # in one form
MODIFIED = "Muisti-Modified"  # header of a part: the time at which its file was changed, as in 2026-05-01T12:00:00Z
_PIECE = 1 << 20  # bytes that a thread takes at a time
_HEADER_MAX = 16_384
_EXTENDED = re.compile(r"(?i);\s*filename\*\s*=\s*utf-8'[^']*'([^\s;]+)")  # RFC 8187


class Upload(msgspec.Struct, frozen=True):
    """A file of a request. `name` is the one that the request gives it; `held` has its bytes.

    `mtime` is when the file was changed last, in microseconds, where a part of a form says so.
    """

    name: str | None
    held: Held
    media_type: str | None
    mtime: int | None = None


async def uploaded(request: Request, backend: Backend, limit: int) -> list[Upload]:
    """Return the files of a request; the caller closes what holds their bytes.

    Raises:
        HttpError: the body is too large, or no form.
        InvalidInput: a form has no files, or too many.
    """
    media_type, options = request.content_type
    _check_announced(request.scope, limit)
    if media_type == FORM:
        return await _Form(request, backend, limit, options.get("boundary", "")).read()
    held = Held()
    try:
        async for data in _limited(request, limit):
            await backend.store(held.write, data)
    except BaseException:  # also when the request is cancelled, the temporary file is deleted; the error goes on
        held.close()
        raise
    given = None if media_type in ("", "application/octet-stream", "application/x-www-form-urlencoded") else media_type
    return [Upload(_named(request), held, given)]


async def body_of(request: Request, limit: int) -> bytes:
    """Return a body that must fit in memory.

    Raises:
        HttpError: it is too large.
    """
    return b"".join([data async for data in _limited(request, limit)])


def close(uploads: list[Upload]) -> None:
    """Free the bytes of files."""
    for one in uploads:
        one.held.close()


class _Form:
    """A form that is being read."""

    def __init__(self, request: Request, backend: Backend, limit: int, boundary: str) -> None:
        if not boundary:
            raise HttpError("malformed_request", "a form needs the boundary in its Content-Type")
        self._request, self._backend, self._limit = request, backend, limit
        self._parser = PushMultipartParser(
            boundary, max_header_size=_HEADER_MAX, max_segment_count=FILES_MAX, max_segment_size=limit
        )
        self._found: list[Upload] = []
        self._is_file = False

    async def read(self) -> list[Upload]:
        try:
            async for data in _limited(self._request, self._limit):
                await self._backend.store(self._feed, data)
            await self._backend.store(self._feed, b"")
        except MultipartError as error:
            close(self._found)
            raise HttpError("malformed_request", f"the form cannot be read: {error}") from error
        except BaseException:  # also when the request is cancelled, the files are deleted; the error goes on
            close(self._found)
            raise
        if not self._found:
            raise InvalidInput.at("$", "the form has no file; a file is a part with a filename")
        return self._found

    def _feed(self, data: bytes) -> None:
        for event in self._parser.parse(data):
            if isinstance(event, MultipartSegment):
                self._is_file = bool(event.filename)
                if self._is_file:
                    held, mtime = Held(), _modified(event.header(MODIFIED))
                    self._found.append(Upload(event.filename, held, event.content_type, mtime))
            elif event is not None and self._is_file:
                self._found[-1].held.write(bytes(event))


async def _limited(request: Request, limit: int) -> AsyncIterator[bytes]:
    """Yield the body in pieces for a thread each.

    Raises:
        HttpError: it is longer than the limit.
    """
    waiting, total = bytearray(), 0
    async for data in request.stream():
        total += len(data)
        if total > limit:
            raise HttpError(
                "too_large", f"the body has more than {limit:,} bytes; the setting upload_limit allows more"
            )
        waiting += data
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _check_announced(scope: Scope, limit: int) -> None:
    """Raise before the body is read, when its length says that it is too large."""
    length = dict(scope["headers"]).get(b"content-length", b"0")
    if length.isdigit() and int(length) > limit:
        raise HttpError("too_large", f"the body has {int(length):,} bytes; the setting upload_limit allows {limit:,}")


def _modified(header: str | None) -> int | None:
    """Return the time that a part of a form states.

    Raises:
        InvalidInput: it cannot be read, or has no time zone.
    """
    if header is None:
        return None
    try:
        time = datetime.fromisoformat(header)
    except ValueError as error:
        raise InvalidInput.at("$", f"{MODIFIED}: {header[:80]!r} is no time") from error
    if time.tzinfo is None:
        raise InvalidInput.at("$", f"{MODIFIED} needs a time zone, as in 2026-05-01T12:00:00Z")
    return to_us(time)


def _named(request: Request) -> str | None:
    """Return the name in Content-Disposition."""
    header = request.headers.get("content-disposition")
    if header is None:
        return None
    extended = _EXTENDED.search(header)
    if extended is not None:
        return unquote(extended[1])
    return parse_options_header(header)[1].get("filename")

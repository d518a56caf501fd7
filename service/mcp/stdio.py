"""MCP on standard input and output, one message a line. Every request that is read is answered.

The SDK's transport drops lines that it cannot read, and cancels the requests that still run when input ends.
"""

import os
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, BinaryIO

import anyio
import mcp_types as types
from anyio import to_thread
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from muisti.service.mcp.messages import INVALID_REQUEST, Json, Unreadable, message_of

ENDLESS = "subscriptions/listen"  # a request that is answered by notifications until it is cancelled
PATIENCE = 600.0  # seconds for the answers to what was read, after the end of input

Incoming = SessionMessage | Exception


async def serve(server: Server[Any], limit: int) -> None:
    """Answer the lines of standard input until it ends and all are answered. `limit` is in bytes of a line."""
    with _wire() as (source, sink):
        async with _connected(source, sink, limit) as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())


@contextmanager
def _wire() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Yield the two streams of the protocol. Meanwhile what others read and print goes elsewhere."""
    kept = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    os.close(empty)
    try:  # not closed: a thread may still wait for input
        yield os.fdopen(kept[0], "rb", closefd=False), os.fdopen(kept[1], "wb", buffering=0, closefd=False)
    finally:
        for at, one in enumerate(kept):
            os.dup2(one, at)


class _Open:
    """The requests that were read and have no answer yet."""

    def __init__(self) -> None:
        self._ids: Counter[tuple[type, int | str]] = Counter()
        self._none = anyio.Event()

    def began(self, request_id: int | str) -> None:
        self._ids[type(request_id), request_id] += 1

    def ended(self, request_id: int | str | None) -> None:
        if request_id is not None and self._ids[type(request_id), request_id] > 0:
            self._ids[type(request_id), request_id] -= 1
        if not self._ids.total():
            self._none.set()

    async def all_ended(self) -> None:
        while self._ids.total():
            self._none = anyio.Event()
            await self._none.wait()


@asynccontextmanager
async def _connected(
    source: BinaryIO, sink: BinaryIO, limit: int
) -> AsyncGenerator[tuple[ObjectReceiveStream[Incoming], ObjectSendStream[SessionMessage]]]:
    """Yield the streams of messages that the server reads and writes."""
    to_server, reads = anyio.create_memory_object_stream[Incoming](0)
    writes, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    refusals = writes.clone()
    opened = _Open()

    async def read() -> None:
        async with to_server, refusals:
            while line := await to_thread.run_sync(_line, source, limit, abandon_on_cancel=True):
                if not line.strip():
                    continue
                try:
                    message = _message(line, limit)
                except Unreadable as error:
                    await refusals.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(error.answer())))
                    continue
                _note(opened, message)
                await to_server.send(SessionMessage(message))
            with anyio.move_on_after(PATIENCE):
                await opened.all_ended()

    async def write() -> None:
        try:
            async with from_server:
                async for sent in from_server:
                    text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await to_thread.run_sync(_write, sink, text.encode() + b"\n")
                    if isinstance(sent.message, types.JSONRPCResponse | types.JSONRPCError):
                        opened.ended(sent.message.id)
        except OSError:  # nobody reads any more
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield reads, writes


def _line(source: BinaryIO, limit: int) -> bytes:
    """Return the next line, empty at the end of input. Of one that is too long only its beginning is kept."""
    line = source.readline(limit + 1)
    rest = line
    while len(rest) > limit and not rest.endswith(b"\n"):
        rest = source.readline(limit + 1)
    return line


def _write(sink: BinaryIO, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[sink.write(view) :]


def _message(line: bytes, limit: int) -> types.JSONRPCMessage:
    if len(line) > limit:
        raise Unreadable(INVALID_REQUEST, f"Invalid Request: a line has more than {limit:,} bytes")
    found = message_of(line)
    try:
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValidationError:
        raise Unreadable(INVALID_REQUEST, "Invalid Request: this is no message of JSON-RPC", _id(found)) from None


def _id(found: Json) -> int | str | None:
    return found["id"] if "method" in found and "id" in found else None


def _note(opened: _Open, message: types.JSONRPCMessage) -> None:
    """Count a request as open. One that its caller cancels gets no answer."""
    if isinstance(message, types.JSONRPCRequest) and message.method != ENDLESS:
        opened.began(message.id)
    elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
        cancelled = (message.params or {}).get("requestId")
        if isinstance(cancelled, int | str):
            opened.ended(cancelled)

"""MCP on standard input and output, one message a line. Every request that is read is answered.

The SDK's transport drops lines that it cannot read, and cancels the requests that still run when input ends. It also
speaks one era of the protocol per connection, while clients that give up on `server/discover` go on with `initialize`.
"""

import os
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Thread
from typing import Any, BinaryIO

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from muisti.service.mcp.messages import INVALID_REQUEST, Unreadable, id_in, is_answer, last_id, message_of

ENDLESS = "subscriptions/listen"  # a request that is answered by notifications until it is cancelled
HEAD, TAIL = 10_000, 1_000  # bytes of a line that is too long, in which its id is looked for
PATIENCE = 600.0  # seconds for the answers to what was read, after the end of input

INITIALIZED = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")

Incoming = SessionMessage | Exception


async def serve(server: Server[Any], limit: int) -> None:
    """Answer the lines of standard input until it ends and all are answered. `limit` is in bytes of a line."""
    with _wire() as (source, sink):
        async with _connected(source, sink, limit) as (reads, writes), reads, writes:
            await _serve_eras(server, reads, writes)


async def _serve_eras(
    server: Server[Any],
    reads: MemoryObjectReceiveStream[SessionMessage],
    writes: MemoryObjectSendStream[SessionMessage],
) -> None:
    """Serve the messages of each era by a loop of its own: those with a revision in `_meta`, and all others."""
    eras: dict[bool, MemoryObjectSendStream[Incoming]] = {}
    async with anyio.create_task_group() as tasks:
        async for one in reads:
            modern = _is_modern(one.message)
            if modern not in eras:
                eras[modern], own = anyio.create_memory_object_stream[Incoming](0)
                tasks.start_soon(server.run, own, writes.clone(), server.create_initialization_options())
                if not modern:  # requests are answered without `initialize` too, as over HTTP
                    await eras[modern].send(SessionMessage(INITIALIZED))
            for to in eras.values() if _cancels(one.message) else (eras[modern],):
                await to.send(one)
        for to in eras.values():
            to.close()


def _is_modern(message: types.JSONRPCMessage) -> bool:
    if not isinstance(message, types.JSONRPCRequest) or message.method == "initialize":
        return False
    meta = (message.params or {}).get("_meta")
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta


def _cancels(message: types.JSONRPCMessage) -> bool:
    return isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled"


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
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[SessionMessage], MemoryObjectSendStream[SessionMessage]]]:
    """Yield the streams of messages that the server reads and writes.

    A client that is gone is one whose input has ended: what was read is done, and nobody gets the answers.
    """
    to_reader, lines = anyio.create_memory_object_stream[bytes](0)
    to_server, reads = anyio.create_memory_object_stream[SessionMessage](0)
    writes, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    refusals = writes.clone()
    opened = _Open()

    async def read() -> None:
        async with to_server, refusals:
            with lines:
                while line := await lines.receive():
                    message, answers = _read(line, limit)
                    for one in answers:
                        await refusals.send(SessionMessage(one))
                    if message is not None:
                        _note(opened, message)
                        await to_server.send(SessionMessage(message))
            with anyio.move_on_after(PATIENCE):
                await opened.all_ended()

    async def write() -> None:
        gone = False
        async with from_server:
            async for sent in from_server:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                if not gone and (gone := not await to_thread.run_sync(_written, sink, text.encode() + b"\n")):
                    tasks.start_soon(end)
                if isinstance(sent.message, types.JSONRPCResponse | types.JSONRPCError):
                    opened.ended(sent.message.id)

    async def end() -> None:
        with suppress(anyio.BrokenResourceError):
            await to_reader.send(b"")

    # A thread of its own, which ends with the process: nothing wakes one that waits for input.
    Thread(target=_pass_on, args=(source, limit, to_reader, current_token()), daemon=True).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield reads, writes


def _pass_on(source: BinaryIO, limit: int, to_reader: MemoryObjectSendStream[bytes], token: EventLoopToken) -> None:
    """Send each line that is not blank, then an empty one, until nobody receives."""
    with suppress(anyio.BrokenResourceError, anyio.RunFinishedError):
        while line := _line(source, limit):
            if line.strip():
                from_thread.run(to_reader.send, line, token=token)
        from_thread.run(to_reader.send, b"", token=token)


def _line(source: BinaryIO, limit: int) -> bytes:
    """Return the next line, empty at the end of input. Of one that is too long only its beginning and end are kept."""
    line = rest = source.readline(limit + 1)
    tail = b""
    while len(rest) > limit and not rest.endswith(b"\n"):
        rest = source.readline(limit + 1)
        tail = (tail + rest)[-TAIL:]
    return line + tail


def _written(sink: BinaryIO, line: bytes) -> bool:
    """Write a line; return False when nobody reads any more."""
    view = memoryview(line)
    try:
        while view:
            view = view[sink.write(view) :]
    except OSError:
        return False
    return True


def _read(line: bytes, limit: int) -> tuple[types.JSONRPCMessage | None, list[types.JSONRPCMessage]]:
    """Return the message in a line, or the errors with which it is answered; neither for a broken answer."""
    try:
        return _message(line, limit), []
    except Unreadable as error:
        return None, [types.jsonrpc_message_adapter.validate_python(one) for one in error.answers()]


def _message(line: bytes, limit: int) -> types.JSONRPCMessage | None:
    if len(line) > limit:
        known = last_id(line[-TAIL:])
        known = id_in(line[:HEAD]) if known is None else known
        raise Unreadable(INVALID_REQUEST, f"Invalid Request: a line has more than {limit:,} bytes", known)
    found = message_of(line)
    try:
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValidationError:
        if is_answer(found):
            return None
        raise Unreadable(INVALID_REQUEST, "Invalid Request: this is no message of JSON-RPC", found.get("id")) from None


def _note(opened: _Open, message: types.JSONRPCMessage) -> None:
    """Count a request as open. One that its caller cancels gets no answer."""
    if isinstance(message, types.JSONRPCRequest) and message.method != ENDLESS:
        opened.began(message.id)
    elif isinstance(message, types.JSONRPCNotification) and _cancels(message):
        cancelled = (message.params or {}).get("requestId")
        if isinstance(cancelled, int | str):
            opened.ended(cancelled)

"""Answers hooks on a socket beside the database file, in a process that has it open anyway: `muisti mcp`.

The first such process of a database listens; when it ends, another one takes over. Only the user of the process can
reach the socket, and that user can open the file. So the hooks have all rights, as those of the command line.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from urllib.parse import unquote

import anyio
from anyio.abc import SocketListener, SocketStream

from muisti.service.agents.answering import Agents, Hooked
from muisti.service.auth.access import OWNER

SUFFIX = "-hooks"
LONGEST = 100  # bytes of the path of a socket; systems allow 104 or 108
AGAIN = 5.0  # seconds until a process that does not listen tries again
SECONDS = 5.0  # for one event
BODY_MAX = 4_000_000  # bytes
AT_ONCE = 16


async def listen(agents: Agents, database: Path) -> None:
    """Answer hooks until cancelled."""
    path = f"{database}{SUFFIX}"
    if len(os.fsencode(path)) > LONGEST:
        return
    while (listener := _bound(path)) is None:
        await anyio.sleep(AGAIN)
    limit = anyio.Semaphore(AT_ONCE)

    async def answer(stream: SocketStream) -> None:
        async with stream:
            with anyio.move_on_after(SECONDS):
                async with limit:
                    await _answer(agents, stream)

    own = os.stat(path).st_ino
    try:
        async with await SocketListener.from_socket(listener) as opened:
            await opened.serve(answer)
    finally:
        with suppress(OSError):
            if os.stat(path).st_ino == own:
                os.unlink(path)


def _bound(path: str) -> socket.socket | None:
    """Return a socket that listens; None while another process does, or where the folder cannot be written."""
    listener = socket.socket(socket.AF_UNIX)
    listener.setblocking(False)
    before = os.umask(0o177)
    try:
        if _is_left_over(path):
            os.unlink(path)
        listener.bind(path)
        listener.listen()
    except OSError:
        listener.close()
        return None
    finally:
        os.umask(before)
    return listener


def _is_left_over(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.connect(path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


async def _answer(agents: Agents, stream: SocketStream) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, ValueError, IndexError):
        head, body = await _read(stream)
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(body) < min(int(headers["content-length"]), BODY_MAX):
            body += await stream.receive()
        client, _, query = lines[0].split(" ")[1].rpartition("/")[2].partition("?")
        known = {"project": headers.get("muisti-project"), "folder": unquote(headers.get("muisti-folder", ""))}
        hooked = Hooked.read(client, body, event=query.removeprefix("event="), **known)
        turn = agents.turn(hooked, OWNER, token_hex(8))
        said = b"" if turn is None else await turn.answer()
        await stream.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(said)}\r\n\r\n".encode() + said)
        if turn is not None:
            await turn.keep()


async def _read(stream: SocketStream) -> tuple[bytes, bytes]:
    """Return the head of a request, and the part of its body that came with it."""
    read = b""
    while b"\r\n\r\n" not in read:
        read += await stream.receive()
        if len(read) > BODY_MAX:
            raise ValueError("there is no end of the head")
    head, _, body = read.partition(b"\r\n\r\n")
    return head, body

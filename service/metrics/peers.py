"""The workers of a server, which share its port: the worker that is asked for metrics asks the others.

They meet in a folder that only their user may enter. Each takes the lowest free number and answers at a socket of that
name. The number is free when its worker ends, also by a crash, and the successor takes it. So counters begin again
under the same label, which Prometheus recognises as a restart.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

VARIABLE = "_MUISTI_WORKERS"  # in the environment of workers: their folder
PATIENCE_SECONDS = 1.0  # that a worker gets to answer


class Peers:
    """The workers as one of them sees them."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self.number = number

    async def ask(self) -> list[tuple[int, bytes]]:
        """Return the answers of the other workers with their numbers, without those that do not answer in time."""
        others = sorted(int(path.stem) for path in self._folder.glob("*.socket") if int(path.stem) != self.number)
        answers = await asyncio.gather(*map(self._asked, others))
        return [(other, answer) for other, answer in zip(others, answers, strict=True) if answer]

    async def _asked(self, other: int) -> bytes:
        with suppress(OSError, TimeoutError):  # it has ended or hangs: `muisti_workers` shows that its metrics lack
            async with asyncio.timeout(PATIENCE_SECONDS):
                reader, writer = await asyncio.open_unix_connection(_socket(self._folder, other))
                try:
                    return await reader.read(-1)
                finally:
                    writer.close()
        return b""


@asynccontextmanager
async def joined(folder: Path, answer: Callable[[], Awaitable[bytes]]) -> AsyncGenerator[Peers]:
    """Join the workers of a folder, and answer the others with `answer` until the context ends."""

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(await answer())
            await writer.drain()
        finally:
            writer.close()

    number, lock = _number(folder)
    place = _socket(folder, number)
    place.unlink(missing_ok=True)  # of a predecessor that was killed
    server = await asyncio.start_unix_server(serve, place)
    try:
        yield Peers(folder, number)
    finally:
        server.close()
        place.unlink(missing_ok=True)
        os.close(lock)


def _number(folder: Path) -> tuple[int, int]:
    """Take the lowest free number; return it with the descriptor of the lock that holds it."""
    for number in count():
        lock = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return number, lock
    raise AssertionError("there is always another number")


def _socket(folder: Path, number: int) -> Path:
    return folder / f"{number}.socket"

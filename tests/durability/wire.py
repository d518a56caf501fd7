"""A bare HTTP client with many connections: so quick that what is tested is the server."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

CONNECTIONS = 32
GONE = (OSError, asyncio.IncompleteReadError)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any


class Connection:
    """One connection, kept open. A call raises one of GONE when the server is no longer there."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """`idempotency_key="x"` sends `idempotency-key: x`."""
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", "content-type: application/json"]
        lines += [f"content-length: {len(data)}", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        status, *fields = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        sizes = [int(field.split(":")[1]) for field in fields if field.lower().startswith("content-length:")]
        return Answer(int(status.split()[1]), json.loads(await self._reader.readexactly(sizes[0])))

    def close(self) -> None:
        self._writer.close()


async def for_each(port: int, items: Iterable[T], work: Callable[[Connection, T], Awaitable[None]]) -> None:
    """Do the work for all items over concurrent connections. When the server goes away, skip the rest."""
    waiting = iter(items)

    async def worker() -> None:
        connection = None
        try:
            connection = Connection(*await asyncio.open_connection("127.0.0.1", port))
            for item in waiting:
                await work(connection, item)
        except GONE:
            return
        finally:
            if connection is not None:
                connection.close()

    await asyncio.gather(*(worker() for _ in range(CONNECTIONS)))

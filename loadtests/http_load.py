"""A small, fast HTTP/1.1 client for load on loopback: keep-alive connections, one request at a time on each."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import uvloop


@dataclass(frozen=True, slots=True)
class Request:
    """A request with the status that it should have. `headers` are whole lines."""

    path: str
    body: bytes
    expected: int
    method: str = "POST"
    headers: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """Measurements of a run. `heads` and `bodies` of the answers are in the order of the requests."""

    seconds: float
    latencies: list[float]
    heads: list[bytes]
    bodies: list[bytes]
    failures: int

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds

    def and_then(self, other: "Load") -> "Load":
        return Load(
            self.seconds + other.seconds,
            self.latencies + other.latencies,
            self.heads + other.heads,
            self.bodies + other.bodies,
            self.failures + other.failures,
        )


def run(port: int, requests: Sequence[Request], clients: int) -> Load:
    """Send each request once to 127.0.0.1, over `clients` connections."""
    return uvloop.run(_run(port, requests, clients))


async def _run(port: int, requests: Sequence[Request], clients: int) -> Load:
    loop = asyncio.get_running_loop()
    waiting = iter(enumerate(requests))
    heads, bodies, latencies = [b""] * len(requests), [b""] * len(requests), [0.0] * len(requests)

    async def client(connection: "Connection") -> None:
        for number, request in waiting:
            began = time.perf_counter()
            heads[number], bodies[number] = await connection.send(request)
            latencies[number] = time.perf_counter() - began

    opened = [await loop.create_connection(Connection, "127.0.0.1", port) for _ in range(clients)]
    began = time.perf_counter()
    await asyncio.gather(*(client(connection) for _, connection in opened))
    seconds = time.perf_counter() - began
    for _, connection in opened:
        connection.close()
    failures = sum(int(head[9:12]) != request.expected for head, request in zip(heads, requests, strict=True))
    return Load(seconds, latencies, heads, bodies, failures)


class Connection(asyncio.Protocol):
    """One connection, for one request at a time. It reads only answers with a Content-Length."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._received = b""
        self._answer: asyncio.Future[tuple[bytes, bytes]] | None = None

    @property
    def closed(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()

    def send(self, request: Request) -> "asyncio.Future[tuple[bytes, bytes]]":
        self._answer = asyncio.get_running_loop().create_future()
        head = (
            f"{request.method} {request.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"{request.headers}Content-Length: {len(request.body)}\r\n\r\n"
        )
        self._transport.write(head.encode() + request.body)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        if blank and len(body) >= _length(head) and self._answer is not None:
            self._received = b""
            if b"\r\nconnection: close" in head.lower():
                self._transport.close()
            self._answer.set_result((head, body))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server closed the connection"))


def _length(head: bytes) -> int:
    lines: Iterator[tuple[bytes, bytes, bytes]] = (line.partition(b":") for line in head.split(b"\r\n"))
    return next(int(value) for name, _, value in lines if name.lower() == b"content-length")

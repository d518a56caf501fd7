"""A small, fast HTTP/1.1 client for load on loopback: keep-alive connections, one request at a time on each."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Load:
    """What a run measured: requests a second, and milliseconds of single requests."""

    per_second: float
    milliseconds: np.ndarray
    failures: int


def run(host: str, port: int, path: str, bodies: Iterable[bytes], clients: int, expected: int) -> Load:
    """POST each body once, from `clients` connections at a time; any status but `expected` counts as a failure."""
    return asyncio.run(_run(host, port, path, iter(bodies), clients, expected))


async def _run(host: str, port: int, path: str, bodies: Iterator[bytes], clients: int, expected: int) -> Load:
    times: list[float] = []
    failures: list[int] = []
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: "

    async def client() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        for body in bodies:
            began = time.perf_counter()
            writer.write(f"{head}{len(body)}\r\n\r\n".encode() + body)
            status = await _response(reader)
            times.append(time.perf_counter() - began)
            if status != expected:
                failures.append(status)
        writer.close()
        await writer.wait_closed()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return Load(len(times) / (time.perf_counter() - began), 1000 * np.array(times), len(failures))


async def _response(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            await reader.readexactly(int(value))
    return status

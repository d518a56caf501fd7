"""Open-loop load: requests come at times drawn beforehand, however long earlier answers take.

A client that waits for each answer asks less of a slow server, and so hides how slow it is (coordinated omission).
Here each request has a due time, and its latency counts from then. Waiting for a connection or for this client is part
of the latency.
"""

import asyncio
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, takewhile

import numpy as np
import uvloop

from loadtests.http_load import Connection, Request

CONNECTIONS = 2_000  # that are opened at most
GIVE_UP_SECONDS = 30.0  # after the last request was due

Answer = tuple[bytes, bytes]  # head and body


@dataclass(frozen=True, slots=True)
class TimedProtocol:
    """A request of some kind that is due `at` seconds after the beginning. `kept`: its answer is of interest."""

    at: float
    kind: str
    request: Request
    kept: bool = False


@dataclass(slots=True)
class Record:
    """Outcomes of the requests, in the order of their answers. Times are in seconds after the beginning.

    `status` is 0 for those that were never answered.
    """

    kinds: list[str] = field(default_factory=list[str])
    due: "array[float]" = field(default_factory=lambda: array("d"))
    sent: "array[float]" = field(default_factory=lambda: array("d"))
    ended: "array[float]" = field(default_factory=lambda: array("d"))
    status: "array[int]" = field(default_factory=lambda: array("h"))
    retry_after: "array[int]" = field(default_factory=lambda: array("b"))
    kept: list[Answer] = field(default_factory=list[Answer])

    def note(self, arrival: TimedProtocol, sent: float, ended: float, answer: Answer | None) -> None:
        head, body = answer or (b"HTTP/1.1 000", b"")
        self.kinds.append(arrival.kind)
        self.due.append(arrival.at)
        self.sent.append(sent)
        self.ended.append(ended)
        self.status.append(int(head[9:12]))
        self.retry_after.append(b"\r\nretry-after:" in head.lower())
        if arrival.kept:
            self.kept.append((head, body))


def poisson(rate: float, seconds: float, seed: int) -> Iterator[float]:
    """Times of independent arrivals, `rate` a second on average."""
    rng = np.random.default_rng(seed)
    gaps = (float(gap) for _ in iter(int, 1) for gap in rng.exponential(1 / rate, 1_000))
    return takewhile(lambda at: at < seconds, accumulate(gaps))


def run(port: int, arrivals: Iterable[TimedProtocol]) -> Record:
    """Send each request to 127.0.0.1 when it is due."""
    return uvloop.run(send(port, arrivals))


async def send(port: int, arrivals: Iterable[TimedProtocol]) -> Record:
    """As `run`, within a running loop."""
    return await _Sender(port).send(arrivals)


class _Sender:
    """Connections are used again, and opened when all are in use."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._record = Record()
        self._idle: list[Connection] = []
        self._connections: list[Connection] = []
        self._opened = 0
        self._waiting: deque[TimedProtocol] = deque()
        self._opening: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._all_sent = False
        self._done = asyncio.Event()

    async def send(self, arrivals: Iterable[TimedProtocol]) -> Record:
        for arrival in arrivals:
            await asyncio.sleep(max(0.0, arrival.at - self._now()))
            self._under_way += 1
            self._waiting.append(arrival)
            self._start()
        self._all_sent = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._done.wait() if self._under_way else asyncio.sleep(0), GIVE_UP_SECONDS)
        for connection in self._connections:
            connection.close()
        await asyncio.sleep(0)  # those that still wait for an answer hear that there will be none
        return self._record

    def _now(self) -> float:
        return self._loop.time() - self._began

    def _start(self) -> None:
        while self._waiting and self._idle:
            connection = self._idle.pop()
            if connection.closed:
                self._opened -= 1
                continue
            arrival = self._waiting.popleft()
            answer = connection.send(arrival.request)
            answer.add_done_callback(partial(self._answered, connection, arrival, self._now()))
        if self._waiting and self._opened < CONNECTIONS:
            self._opened += 1
            task = self._loop.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self) -> None:
        try:
            _, connection = await self._loop.create_connection(Connection, "127.0.0.1", self._port)
        except OSError:
            self._opened -= 1
            if self._waiting:
                self._end(self._waiting.popleft(), self._now(), None)
            return
        self._connections.append(connection)
        self._idle.append(connection)
        self._start()

    def _answered(
        self, connection: Connection, arrival: TimedProtocol, sent: float, answer: "asyncio.Future[Answer]"
    ) -> None:
        if answer.exception() is None:
            self._end(arrival, sent, answer.result())
        else:
            self._end(arrival, sent, None)
        if connection.closed:
            self._opened -= 1
        else:
            self._idle.append(connection)
        self._start()

    def _end(self, arrival: TimedProtocol, sent: float, answer: Answer | None) -> None:
        self._record.note(arrival, sent, self._now(), answer)
        self._under_way -= 1
        if self._all_sent and not self._under_way:
            self._done.set()

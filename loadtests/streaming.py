"""Turns streamed in over HTTP by 16 clients: one at a time, and a hundred in a request.

    python -m loadtests.streaming [--clients 16] [--turns 8000] [--redis URL]

Each client streams into a conversation of its own. Beside that, plain adds of the same texts.

With `--redis` the command also writes to a Redis server as redis agent-memory-server does, without its HTTP, embedding
and LLM. Its working memory is one JSON document a session, written again with every message. Its long-term memory is a
hash for each message. The server's `appendfsync` decides how durable that is.
"""

import argparse
import json
import random
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import click

from loadtests.http_load import Request, run
from loadtests.services.muisti import serving
from loadtests.services.process import apart, worked

WORDS = [
    "river",
    "house",
    "garden",
    "meeting",
    "budget",
    "release",
    "bicycle",
    "summer",
    "winter",
    "garage",
    "kitchen",
    "travel",
    "paper",
    "engine",
    "doctor",
]
HUNDRED = 100
WORDS_EACH = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--turns", type=int, default=8_000, help="in all, of each kind of run")
    parser.add_argument("--redis", help="redis://127.0.0.1:6379: also write as redis agent-memory-server does")
    given = parser.parse_args()
    texts = said(given.turns)
    click.echo(
        f"{given.turns:,} turns of {WORDS_EACH} words, {given.clients} clients, each in a conversation of its own"
    )
    click.echo(f"{'what':44} {'turns/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'cpu µs/turn':>12}")
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "m.db") as server, apart(server.pid):
        run(server.port, [*adds(texts[:200])], given.clients)  # loads the model
        for name, requests, each in (
            ("Muisti, plain adds", [*adds(texts)], 1),
            ("Muisti, one turn a request", [*streams(texts, given.clients, 1, "one")], 1),
            ("Muisti, a hundred turns a request", [*streams(texts, given.clients, HUNDRED, "hundred")], HUNDRED),
            ("Muisti, the same turns again (replayed)", [*streams(texts, given.clients, HUNDRED, "hundred")], HUNDRED),
        ):
            before = worked(server.pid)
            load = run(server.port, requests, given.clients)
            assert not load.failures, load.bodies[0]
            told(name, load.seconds, load.latencies, each, worked(server.pid) - before)
    if given.redis:
        beside(given.redis, texts, given.clients)


def said(number: int) -> list[str]:
    """Texts of turns, always the same."""
    rng = random.Random(1)
    return [f"turn {turn}: {' '.join(rng.choices(WORDS, k=WORDS_EACH))}" for turn in range(number)]


def adds(texts: Sequence[str]) -> Iterator[Request]:
    for text in texts:
        body = json.dumps({"content": text, "author": "Ann", "on_conflict": "keep"}).encode()
        yield Request("/v1/spaces/default/memories", body, 201)


def streams(texts: Sequence[str], clients: int, each: int, name: str) -> Iterator[Request]:
    """Yield requests in an order in which each client has turns of its own conversation."""
    per = len(texts) // clients
    for start in range(0, per, each):
        for client in range(clients):
            own = texts[client * per + start : client * per + min(start + each, per)]
            items = [{"turn": start + place + 1, "author": "Ann", "content": text} for place, text in enumerate(own)]
            body = json.dumps({"items": items, "session": name}).encode()
            yield Request(f"/v1/spaces/default/conversations/{name}-{client}/exchanges", body, 200)


def told(name: str, seconds: float, latencies: Sequence[float], each: int, processor: float | None) -> None:
    times = sorted(latencies)
    turns = len(times) * each
    middle, high = times[len(times) // 2], times[int(len(times) * 0.99)]
    spent = "" if processor is None else f"{1e6 * processor / turns:12.0f}"
    click.echo(f"{name:44} {turns / seconds:9,.0f} {1e3 * middle:8.2f} {1e3 * high:8.2f} {spent:>12}")


def beside(url: str, texts: Sequence[str], clients: int) -> None:
    """Write as agent-memory-server does, straight to Redis."""
    per = len(texts) // clients
    for name, client in (
        ("Redis, working memory: JSON written anew", working_memory),
        ("Redis, long-term memory: a hash a message", long_term),
    ):
        latencies: list[float] = []
        began = perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            parts = [(url, f"c{one}", texts[one * per : (one + 1) * per]) for one in range(clients)]
            for found in pool.map(lambda part, client=client: client(*part), parts):
                latencies += found
        told(name, perf_counter() - began, latencies, 1, None)


def working_memory(url: str, name: str, texts: Sequence[str]) -> list[float]:
    """Append each message to the session's document, which is read and written as a whole."""
    with Redis(url) as redis:
        messages: list[dict[str, str]] = []

        def one(text: str) -> None:
            messages.append({"role": "user", "content": text})
            redis.call("GET", f"working:{name}")
            redis.call("SET", f"working:{name}", json.dumps({"session_id": name, "messages": messages}))

        return [timed(one, text) for text in texts]


def long_term(url: str, name: str, texts: Sequence[str]) -> list[float]:
    """Write each message as a hash, without a vector."""
    with Redis(url) as redis:
        return [
            timed(lambda text, n=n: redis.call("HSET", f"memory:{name}:{n}", "text", text, "session_id", name), text)
            for n, text in enumerate(texts)
        ]


def timed(call: Callable[[str], object], text: str) -> float:
    began = perf_counter()
    call(text)
    return perf_counter() - began


class Redis:
    """The few commands that are measured, over one connection (RESP2)."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        self._socket = socket.create_connection((at.hostname or "127.0.0.1", at.port or 6379))
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> "Redis":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def call(self, *words: str) -> bytes | None:
        parts = [word.encode() for word in words]
        head = b"*%d\r\n" % len(parts)
        self._socket.sendall(head + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        answer = self._file.readline()
        if answer.startswith(b"-"):
            raise RuntimeError(answer.decode())
        if not answer.startswith(b"$"):
            return answer
        size = int(answer[1:])
        return None if size < 0 else self._file.read(size + 2)[:-2]


if __name__ == "__main__":
    main()

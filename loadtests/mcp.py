"""`python -m loadtests.mcp`: recall over MCP beside the same search over HTTP, one worker, in one run."""

import json
import random
import statistics
import sys
from collections.abc import Mapping

from loadtests.http_load import Load, Request, run
from tests.conformance.__main__ import serving

MEMORIES, REQUESTS, CLIENTS, ROUNDS = 10_000, 2_000, 16, 3
VERSION = "2026-07-28"
WORDS = [
    a + b
    for a in ("ka", "lo", "mi", "ne", "pu", "ri", "sa", "te", "vu", "yo")
    for b in ("da", "fi", "ge", "ho", "ju", "lin")
]
HEADERS = (
    f"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: {VERSION}\r\n"
    "Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
)
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def texts(count: int, words: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=words)) + f" n{seed}x{number}" for number in range(count)]


def searches(queries: list[str]) -> list[Request]:
    return [Request("/v1/spaces/default/search", _body({"query": query}), 200) for query in queries]


def recalls(queries: list[str]) -> list[Request]:
    return [call(number, "recall", {"query": query}) for number, query in enumerate(queries)]


def call(number: int, tool: str, arguments: Mapping[str, object]) -> Request:
    """A call of a tool, with everything that a client of the newest revision sends."""
    message = {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": META},
    }
    return Request("/mcp", _body(message), 200, headers=HEADERS.format(tool=tool))


def main() -> None:
    with serving() as url:
        port = int(url.rpartition(":")[2])
        memories = [{"content": text} for text in texts(MEMORIES, 30, 0)]
        batches = [_body({"memories": memories[at : at + 1000]}) for at in range(0, MEMORIES, 1000)]
        _good(run(port, [Request("/v1/spaces/default/memories/batch", body, 201) for body in batches], 1))
        _good(run(port, [*searches(texts(50, 8, 9)), *recalls(texts(50, 8, 10))], CLIENTS))  # what is made on first use
        ratios: list[float] = []
        for turn in range(ROUNDS):
            http = _good(run(port, searches(texts(REQUESTS, 8, 20 + turn)), CLIENTS)).per_second
            mcp = _good(run(port, recalls(texts(REQUESTS, 8, 50 + turn)), CLIENTS)).per_second
            ratios.append(mcp / http)
            sys.stdout.write(f"HTTP search {http:.0f}/s, MCP recall {mcp:.0f}/s, ratio {mcp / http:.2f}\n")
    sys.stdout.write(f"median ratio {statistics.median(ratios):.2f}\n")


def _good(load: Load) -> Load:
    bad = sum(b'"isError":true' in body for body in load.bodies)
    if load.failures or bad:
        raise SystemExit(f"{load.failures} requests and {bad} calls failed")
    return load


def _body(value: object) -> bytes:
    return json.dumps(value).encode()


if __name__ == "__main__":
    main()

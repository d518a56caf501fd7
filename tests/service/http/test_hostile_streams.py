"""Hostile streams that cost far more than their size, through every route that decompresses or splits lines."""

import gc
import os
import re
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from weakref import ref

import httpx
import pytest

from muisti.core.model.errors import InvalidInput, TooLarge
from muisti.service.formats.line_stream import GROWTH, GROWTH_FLOOR, LINE_MAX, LINES_FLOOR, PIECE, Lines
from tests.service.app.test_server import serving
from tests.service.fakes import API
from tests.service.hostile import COMPRESSED, HEADER, MB, compressed, packed, plain_streams

pytestmark = pytest.mark.one_store

PEAK = 4 * LINE_MAX  # bytes of Python's that a stream may take while it is cut
RESIDENT = 400 * MB  # that a process may grow by, for all of the streams
BLOCKED_SECONDS = 20.0  # that a look at the loop may take on a busy machine; such streams blocked it for 97 s
ZSTD, LINES = {"Content-Type": "application/zstd"}, {"Content-Type": "application/x-ndjson"}


class Taken:
    """Counts what it is given, and keeps none of it."""

    def __init__(self) -> None:
        self.lines = self.bytes = 0

    def __call__(self, lines: Sequence[bytes]) -> None:
        self.lines += len(lines)
        self.bytes += sum(map(len, lines)) + len(lines)


@pytest.mark.prove
@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize("piece", [1_000, PIECE, MB])
def test_what_is_expanded_is_bounded_by_what_was_taken(name: str, piece: int):
    stream, taken = compressed(name), Taken()
    lines, fed = Lines(taken), 0
    tracemalloc.start()
    try:
        for start in range(0, len(stream), piece):
            fed = min(len(stream), start + piece)
            lines.feed(stream[start:fed])
        lines.end()
    except (TooLarge, InvalidInput) as refusal:
        assert re.search(r"longer than|grown to|empty ones counted|--long|damaged", str(refusal)), refusal
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert taken.bytes <= GROWTH_FLOOR + GROWTH * fed + PIECE
    assert taken.lines <= LINES_FLOOR + fed
    assert peak <= PEAK, f"{peak:,} bytes"


@pytest.mark.parametrize("name", [*COMPRESSED, "a good stream"])
def test_a_stream_that_has_ended_takes_no_memory(name: str):
    """Whether it was refused or taken: zstandard's objects are invisible to the garbage collector."""
    stream = packed(HEADER) if name == "a good stream" else compressed(name)
    lines = Lines(Taken())
    with suppress(TooLarge, InvalidInput):
        lines.feed(stream)
        lines.end()
    left = ref(lines)
    del lines
    gc.collect()
    assert left() is None


def test_lines_of_pieces_of_a_byte_take_time_in_proportion():
    """A long line that comes byte by byte is not copied for each of them."""
    taken = Taken()
    lines = Lines(taken)
    for _ in range(LINE_MAX // 4):
        lines.feed(b"x")
    lines.feed(b"\n")
    assert (taken.lines, taken.bytes) == (1, LINE_MAX // 4 + 1)


def resident(process: subprocess.Popen[str]) -> int:
    """The most memory that a process has had so far, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text("utf-8"))
    assert found is not None
    return int(found[1]) * 1024


class Looking:
    """Asks whether a server is alive, again and again, until it is closed."""

    def __init__(self, url: str) -> None:
        self._url, self._stop = url, threading.Event()
        self.looks, self.missed = 0, list[str]()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Looking":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        with httpx.Client(base_url=self._url, timeout=BLOCKED_SECONDS) as client:
            while not self._stop.wait(0.01):
                try:
                    assert client.get("/healthz").status_code == 200
                    self.looks += 1
                except httpx.HTTPError as error:
                    self.missed.append(repr(error))


@pytest.mark.prove
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="only Linux tells the memory of a process there")
def test_a_server_refuses_them_within_bounds_and_answers_others_meanwhile(tmp_path: Path):
    with serving(tmp_path) as (process, url), httpx.Client(base_url=url, timeout=120) as client:
        assert client.post(f"{API}/import", content=HEADER + b'{"type":"end","lines":1}\n', headers=LINES).is_success
        before = resident(process)
        with Looking(url) as looking:
            for name, stream in ((name, compressed(name)) for name in COMPRESSED):
                for params in ({}, {"atomic": "false"}):
                    answer = client.post(f"{API}/import", params=params, content=stream, headers=ZSTD)
                    assert answer.status_code in (413, 422), (name, answer.text[:300])
                    assert answer.json()["code"] in ("too_large", "invalid_input"), (name, answer.text[:300])
                    assert len(answer.content) < 100_000, name
            for name, stream in plain_streams().items():
                answers = {
                    "import": client.post(f"{API}/import", content=stream, headers=LINES),
                    "batch": client.post(f"{API}/memories/batch", content=stream, headers=LINES),
                    "MCP": client.post("/mcp", json={
                        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": "import_memories", "arguments": {"ndjson": stream.decode()[: 4 * MB]}},
                    }, headers={"Accept": "application/json, text/event-stream"}),
                }  # fmt: skip
                for entrance, answer in answers.items():
                    if entrance == "MCP":
                        assert answer.json()["result"]["isError"], (name, answer.text[:300])
                    else:
                        assert answer.status_code == 422, (name, entrance, answer.text[:300])
        assert not looking.missed and looking.looks
        grown = resident(process) - before
        assert grown <= RESIDENT, f"{grown / MB:.0f} MB"
        assert client.get(f"{API}/stats").json()["versions"] == 0


MEASURED = """
import resource, sys
from muisti.service.cli import main
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    main(sys.argv[1:], prog_name="muisti")
finally:
    print("grown", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "name", ["newlines", "newlines behind a header", "one memory again and again", "a large window"]
)
def test_the_command_line_refuses_them_within_bounds(tmp_path: Path, name: str):
    (tmp_path / "file.ndjson.zst").write_bytes(compressed(name))
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "import", "file.ndjson.zst"],
        env={**plain, "MUISTI_EMBEDDINGS": "off", "MUISTI_DATABASE_URL": str(tmp_path / "m.db")}, cwd=tmp_path,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode not in (0, 70) and "Traceback" not in done.stderr, done.stderr
    grown = int(done.stderr.rpartition("grown ")[2]) * (1 if sys.platform == "darwin" else 1024)
    assert grown <= RESIDENT, f"{grown / MB:.0f} MB"

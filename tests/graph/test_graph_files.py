"""Graphs in files: streamed, whole or not there, in the format of the ending."""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from muisti.service.graph.exporting import streamed
from muisti.service.terminal.base import Failure
from muisti.service.terminal.client import Unreachable, through
from muisti.service.terminal.output import write_file
from muisti.service.terminal.transfer_ends import There
from tests.service.conftest import Run

PIECE, PIECES = 1 << 16, 400  # 26 MB


class Streaming(httpx.BaseTransport):
    """A server that sends a long file, and with `breaks` only the first half of it."""

    def __init__(self, breaks: bool = False) -> None:
        self.breaks = breaks

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=_Pieces(self.breaks))


class _Pieces(httpx.SyncByteStream):
    def __init__(self, breaks: bool) -> None:
        self.breaks = breaks

    def __iter__(self) -> Iterator[bytes]:
        for number in range(PIECES):
            if self.breaks and number == PIECES // 2:
                raise httpx.RemoteProtocolError("incomplete chunked read")
            yield b"%64d" % number * (PIECE // 64)


@contextmanager
def traced() -> Iterator[list[int]]:
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def test_a_long_file_passes_through_without_being_held(tmp_path: Path):
    file = tmp_path / "g.json"
    with through(Streaming()) as client, traced() as peak, streamed(There(client), "s", "json", None) as pieces:
        write_file(pieces, file, force=False)
    assert file.stat().st_size == PIECE * PIECES
    assert peak[0] < PIECE * PIECES / 10


def test_a_file_that_breaks_off_is_not_there(tmp_path: Path):
    with (
        pytest.raises(Unreachable),
        through(Streaming(breaks=True)) as client,
        streamed(There(client), "s", "json", None) as pieces,
    ):
        write_file(pieces, tmp_path / "g.json", force=False)
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_asked_for_when_the_file_is_there(tmp_path: Path):
    def never() -> Iterator[bytes]:
        raise AssertionError
        yield b""

    (tmp_path / "g.json").write_text("mine")
    with pytest.raises(Failure, match="--force"):
        write_file(never(), tmp_path / "g.json", force=False)


@pytest.mark.parametrize("name", ["g.json", "g.cyjs", "g.jsonld", "-"])
def test_the_local_database_gives_the_same_as_a_server(run: Run, tmp_path: Path, name: str):
    run("add", "Ann Berg met Bob Lee in Oslo", "--author", "Carl Orr")
    target = name if name == "-" else str(tmp_path / name)
    result = run("graph", "export", target)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout if name == "-" else Path(target).read_text("utf-8"))
    assert [*data] == {"g.cyjs": ["elements"], "g.jsonld": ["@context", "@graph"]}.get(name, ["nodes", "edges"])
    assert "Oslo" in str(data)
    again = run("graph", "export", target)
    assert again.exit_code == (0 if name == "-" else 1)


def test_an_unknown_space_and_a_point_that_is_none_are_told(run: Run):
    run("add", "Ann Berg met Bob Lee in Oslo")
    assert "no space" in run("--space", "other", "graph", "export", "-").stderr
    assert run("graph", "export", "--as-of", "99", "-").exit_code != 0

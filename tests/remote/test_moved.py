"""Where a server sends us on to: the token goes nowhere but to the server that it was given for."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import Statement
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from tests.stores import RemoteStore

LARGE = [Statement("SELECT hex(zeroblob(1000000)) FROM generate_series(1, 6)")]


class Front(ThreadingHTTPServer):
    """Proxy of a server that records requests, and whose answers name another base URL for the next request."""

    daemon_threads = True

    def __init__(self, behind: str | None = None, base_url: str | None = None, location: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind, self.base_url, self.location = behind, base_url, location
        self.heard: list[tuple[str, str | None]] = []  # paths, and what was shown to get in

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Front  # pyright: ignore[reportIncompatibleVariableOverride]  # it is this one
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        front = self.server
        front.heard.append((self.path, self.headers["authorization"]))
        body = self.rfile.read(int(self.headers["content-length"]))
        if front.location is not None:
            self._answer(307, b"")
        elif front.behind is not None:
            path = self.path.removeprefix("/moved")
            kept = {name: value for name, value in self.headers.items() if name.startswith("x-")}
            answer = httpx.post(front.behind + path, content=body, headers=kept, timeout=30, trust_env=False)
            head, line, rest = answer.content.partition(b"\n")
            self._answer(200, json.dumps(json.loads(head) | {"base_url": front.base_url}).encode() + line + rest)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        if self.server.location is not None:
            self.send_header("location", self.server.location)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running(front: Front) -> Iterator[Front]:
    thread = threading.Thread(target=front.serve_forever)
    thread.start()
    try:
        yield front
    finally:
        front.shutdown()
        thread.join()
        front.server_close()


@pytest.fixture
def elsewhere() -> Iterator[Front]:
    with running(Front()) as front:
        yield front


def test_a_base_url_elsewhere_is_not_followed(sqld: Sqld, elsewhere: Front):
    store = RemoteStore(sqld)
    with running(Front(sqld.url, elsewhere.url)) as front:
        database = RemoteDatabase(Server(front.url, Token("secret"), store.namespace))
        assert len(database.read(LARGE)[0]) == 6
        assert database.write([Statement("SELECT 1")]) == [[(1,)]]
        assert {path for path, _ in front.heard} == {"/v3/pipeline", "/v3/cursor"}
    assert elsewhere.heard == []


def test_a_base_url_of_the_same_server_is_followed(sqld: Sqld):
    store = RemoteStore(sqld)
    with running(Front(sqld.url)) as front:
        front.base_url = f"{front.url}/moved/"
        database = RemoteDatabase(Server(front.url, Token("secret"), store.namespace))
        database.read(LARGE)
        assert front.heard[-2:] == [("/v3/cursor", "Bearer secret"), ("/moved/v3/pipeline", "Bearer secret")]


def test_a_redirect_is_not_followed(elsewhere: Front):
    with (
        running(Front(location=f"{elsewhere.url}/v3/pipeline")) as front,
        pytest.raises(StoreUnavailable, match="answered 307"),
    ):
        RemoteDatabase(Server(front.url, Token("secret"), "default"))
    assert elsewhere.heard == []

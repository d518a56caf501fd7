"""An HTTP server on this machine that speaks OpenAI's embeddings API, and fails in every way that a test asks for."""

import base64
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from tests.core.fakes import WordEncoder

Vectors = Sequence[Sequence[float]]
Fault = Callable[["Answering", dict[str, Any]], None]


class Answering(BaseHTTPRequestHandler):
    """Answers requests with the vectors of a `WordEncoder`, unless the server has a fault."""

    server: "EmbeddingServer"  # pyright: ignore[reportIncompatibleVariableOverride]  # as the library means it
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        self.server.headers.append(dict(self.headers))
        if self.path != "/v1/embeddings":
            self.say(404, b"{}")
            return
        fault = self.server.next_fault()
        if fault is not None:
            fault(self, body)
            return
        self.embed(body)

    def embed(self, body: dict[str, Any], change: Callable[[list[Any]], list[Any]] = lambda items: items) -> None:
        """Answer with the vectors of the texts; `change` is applied to the items of the answer."""
        vectors = 3 * self.server.encoder.encode(body["input"])  # of a length that is not 1
        form = body.get("encoding_format", "float")
        items = [
            {"object": "embedding", "index": place, "embedding": _formed(vector, form)}
            for place, vector in enumerate(vectors)
        ]
        self.say(200, json.dumps({"object": "list", "data": change(items), "model": body["model"]}).encode())

    def say(self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # the name of the standard library
        pass


def _formed(vector: np.ndarray, form: str) -> Any:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if form == "base64" else vector.tolist()


class EmbeddingServer(ThreadingHTTPServer):
    """The server. `faults` are used one a request, first to last; `always` is used when none is left."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Answering)
        self.encoder = WordEncoder()
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[Fault] = []
        self.always: Fault | None = None
        self._open: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.append(request)
        super().process_request(request, client_address)

    def server_close(self) -> None:
        """Close the connections too, as the end of a process does."""
        super().server_close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def next_fault(self) -> Fault | None:
        return self.faults.pop(0) if self.faults else self.always


@contextmanager
def embedding_server(port: int = 0) -> Iterator[EmbeddingServer]:
    """Run a server until the context ends."""
    server = EmbeddingServer(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def status(code: int, **headers: str) -> Fault:
    """Answer with a status and a body that quotes the request, key and all."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def answer(request: Answering, body: dict[str, Any]) -> None:
        request.say(code, json.dumps({"error": str(request.headers), "of": body}).encode(), named)

    return answer


def changed(change: Callable[[list[Any]], list[Any]]) -> Fault:
    """Answer with other items than the right ones."""
    return lambda request, body: request.embed(body, change)


def late(seconds: float) -> Fault:
    """Answer rightly, but late."""

    def answer(request: Answering, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        request.embed(body)

    return answer


def trickling(request: Answering, body: dict[str, Any]) -> None:
    """Send a byte every 50 ms, so that no single read takes long."""
    request.send_response(200)
    request.send_header("content-length", "100000")
    request.end_headers()
    for _ in range(200):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.05)


def truncated(request: Answering, body: dict[str, Any]) -> None:
    """Promise more bytes than come."""
    request.say(200, b'{"data": [{"index": 0, "embedd', length=10_000)
    request.close_connection = True


def garbage(request: Answering, body: dict[str, Any]) -> None:
    request.say(200, b"<html>welcome</html>")


def refuses_long(request: Answering, body: dict[str, Any]) -> None:
    """Refuse a request with a text of more than 100 characters, as endpoints do with texts that are too long."""
    if any(len(text) > 100 for text in body["input"]):
        request.say(400, b"{}")
    else:
        request.embed(body)

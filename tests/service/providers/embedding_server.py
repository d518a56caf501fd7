"""An HTTP server on this machine that speaks OpenAI's embeddings API, and fails in every way that a test asks for."""

import base64
import json
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

import numpy as np

from tests.core.fakes import WordEncoder
from tests.local_server import FaultyServer, Handler, running

Vectors = Sequence[Sequence[float]]
Fault = Callable[["Answering", dict[str, Any]], None]


class Answering(Handler):
    """Answers requests with the vectors of a `WordEncoder`, unless the server has a fault."""

    server: "EmbeddingServer"  # pyright: ignore[reportIncompatibleVariableOverride]  # as the library means it

    def do_POST(self) -> None:
        body = json.loads(self.taken())
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


def _formed(vector: np.ndarray, form: str) -> Any:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if form == "base64" else vector.tolist()


class EmbeddingServer(FaultyServer):
    """The server, with the headers of its requests."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(Answering, port)
        self.encoder = WordEncoder()
        self.headers: list[dict[str, str]] = []
        self._open: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.append(request)
        super().process_request(request, client_address)

    def server_close(self) -> None:
        """Close the connections too, as the end of a process does."""
        super().server_close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def embedding_server(port: int = 0) -> AbstractContextManager[EmbeddingServer]:
    """Run a server until the context ends."""
    return running(EmbeddingServer(port))


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

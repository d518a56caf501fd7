"""HTTP servers on this machine that answer, or fail, as a test asks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import Any, TypeVar


class Handler(BaseHTTPRequestHandler):
    """Answers requests, and logs none."""

    protocol_version = "HTTP/1.1"

    def say(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def taken(self) -> bytes:
        """The body of the request."""
        return self.rfile.read(int(self.headers["content-length"]))

    def log_message(self, format: str, *args: object) -> None:  # the name of the standard library
        pass


class FaultyServer(ThreadingHTTPServer):
    """The server. `faults` are used one a request, first to last; `always` is used when none is left.

    A fault is a function of the handler and the body of the request.
    """

    daemon_threads = True

    def __init__(self, handler: type[Handler], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.asked: list[dict[str, Any]] = []
        self.faults: list[Any] = []
        self.always: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next_fault(self) -> Any:
        return self.faults.pop(0) if self.faults else self.always


S = TypeVar("S", bound=HTTPServer)


@contextmanager
def running(server: S) -> Iterator[S]:
    """Run a server until the context ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

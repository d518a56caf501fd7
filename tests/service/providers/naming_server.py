"""An HTTP server on this machine that speaks OpenAI's chat completions for names, and fails as a test asks.

It finds words with a capital. A text that begins with `OBEY` and JSON makes it answer with that JSON, as a model does
that takes texts for instructions.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Fault = Callable[["Telling", dict[str, Any]], None]
NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)*")
PLACES = {"Oslo", "Turku"}
OBEY = "OBEY "


class Telling(BaseHTTPRequestHandler):
    """Answers requests with the words that have a capital, unless the server has a fault."""

    server: "NamingServer"  # pyright: ignore[reportIncompatibleVariableOverride]  # as the library means it
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append(body)
            self.server.paths.append(self.path)
            self.server.keys.append(self.headers.get("authorization"))
            fault = self.server.faults.pop(0) if self.server.faults else self.server.always
        if self.path != "/v1/chat/completions":
            self.say(404, b"{}")
        elif fault is not None:
            fault(self, body)
        else:
            self.tell(body)

    def tell(self, body: dict[str, Any]) -> None:
        texts = json.loads(body["messages"][1]["content"])["texts"]
        orders = [one["text"] for one in texts if one["text"].startswith(OBEY)]
        if orders:
            self.complete(orders[0].removeprefix(OBEY))
            return
        found = [
            {"number": one["number"], "names": [told(name) for name in dict.fromkeys(NAME.findall(one["text"]))]}
            for one in reversed(texts)
        ]
        self.complete(json.dumps({"texts": found}))

    def complete(self, content: str | None) -> None:
        self.say(200, json.dumps({"id": "1", "choices": [{"index": 0, "message": {"content": content}}]}).encode())

    def say(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # the name of the standard library
        pass


def told(name: str) -> dict[str, str]:
    return {"text": name, "kind": "place" if name in PLACES else "person"}


class NamingServer(ThreadingHTTPServer):
    """The server. `faults` are used one a request, first to last; `always` is used when none is left."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Telling)
        self.lock = threading.Lock()
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.faults: list[Fault] = []
        self.always: Fault | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def naming_server() -> Iterator[NamingServer]:
    """Run a server until the context ends."""
    server = NamingServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def status(code: int, **headers: str) -> Fault:
    """Answer with a status."""
    return lambda request, _: request.say(code, b"{}", {name.replace("_", "-"): one for name, one in headers.items()})


def content(text: str | None) -> Fault:
    """Answer with a message of the model."""
    return lambda request, _: request.complete(text)


def raw(body: bytes) -> Fault:
    """Answer with other bytes than a completion."""
    return lambda request, _: request.say(200, body)


def late(seconds: float) -> Fault:
    """Answer rightly, but late."""

    def answer(request: Telling, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        request.tell(body)

    return answer

"""An HTTP server on this machine that speaks OpenAI's chat completions for names, and fails as a test asks.

It finds words with a capital. A text that begins with `OBEY` and JSON makes it answer with that JSON, as a model does
that takes texts for instructions.
"""

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.local_server import FaultyServer, Handler, running

Fault = Callable[["Telling", dict[str, Any]], None]
NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)*")
PLACES = {"Oslo", "Turku"}
OBEY = "OBEY "


class Telling(Handler):
    """Answers requests with the words that have a capital, unless the server has a fault."""

    server: "NamingServer"  # pyright: ignore[reportIncompatibleVariableOverride]  # as the library means it

    def do_POST(self) -> None:
        body = json.loads(self.taken())
        with self.server.lock:
            self.server.asked.append(body)
            self.server.paths.append(self.path)
            self.server.keys.append(self.headers.get("authorization"))
            fault = self.server.next_fault()
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


def told(name: str) -> dict[str, str]:
    return {"text": name, "kind": "place" if name in PLACES else "person"}


class NamingServer(FaultyServer):
    """The server, with the paths and keys of its requests."""

    def __init__(self) -> None:
        super().__init__(Telling)
        self.lock = threading.Lock()
        self.paths: list[str] = []
        self.keys: list[str | None] = []


def naming_server() -> AbstractContextManager[NamingServer]:
    """Run a server until the context ends."""
    return running(NamingServer())


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

"""Requests and answers of both clients: how they are written and read, and which requests may be retried."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from ._errors import MuistiError, refused

if TYPE_CHECKING:  # importing it takes a tenth of a second, and writing requests does not need it
    import httpx

ATTEMPTS = 4
PAUSE = 0.2  # seconds before the second attempt; doubled for each that follows
PAUSE_MAX = 10.0
SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
LATER = frozenset({429, 502, 503, 504})
KEY = "Idempotency-Key"
JSON = "application/json"
EVENTS = "text/event-stream"
PROBLEM = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Call:
    """A request to be sent, perhaps more than once. `body` is sent as JSON, `content` as it is."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None
    content: Any = None
    once: bool = False  # the operation takes an idempotency key
    long: bool = False  # the body or the answer is a file of any size: no timeout

    @property
    def repeatable(self) -> bool:
        """Whether sending the request twice has the effect of sending it once."""
        return self.method in SAFE or KEY in self.headers

    @property
    def kept(self) -> bool:
        """Whether the content can be sent a second time: pieces from an iterator cannot."""
        return self.content is None or isinstance(self.content, bytes)

    def with_key(self) -> "Call":
        """Add an idempotency key when the operation takes one and the caller gave none."""
        if not self.once or KEY in self.headers:
            return self
        return replace(self, headers={**self.headers, KEY: str(uuid4())})


@dataclass(frozen=True)
class Reply:
    """An answer: `body` as it came, `data` read from it."""

    body: bytes
    headers: Mapping[str, str]

    @cached_property
    def data(self) -> Any:
        """The decoded JSON of the answer, or its text; None when the answer is empty."""
        if not self.body:
            return None
        kind = self.headers.get("Content-Type", JSON).partition(";")[0]
        return json.loads(self.body) if kind == JSON else self.body.decode()


def call(
    method: str,
    path: str,
    *,
    parts: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, Any] | None = None,
    body: Any = None,
    content: Any = None,
    once: bool = False,
    long: bool = False,
) -> Call:
    """Fill in the template of a request. Arguments that are None are left out."""
    filled = path.format_map({name: _part(value) for name, value in (parts or {}).items()})
    told = {name: _text(value) for name, value in (headers or {}).items() if value is not None}
    asked: dict[str, str] = {}
    for name, value in (params or {}).items():
        if isinstance(value, Mapping):
            asked |= {inner: _text(one) for inner, one in value.items()}
        elif value is not None:
            asked[name] = _text(value)
    return Call(method, filled, asked, told, body, content, once, long)


def events_of(request: Call) -> Call:
    """Return a request for the same as a stream of server-sent events."""
    return replace(request, headers={**request.headers, "Accept": EVENTS})


def arguments(request: Call) -> dict[str, Any]:
    """Return a request as the arguments of `httpx.Client.request`."""
    found = {
        "method": request.method,
        "url": request.path,
        "params": request.params or None,
        "headers": request.headers,
        "json": request.body,
        "content": request.content,
    }
    return {**found, "timeout": None} if request.long else found


def pause(attempt: int, response: "httpx.Response | None") -> float:
    """Return the seconds to wait after an attempt: `Retry-After`, else exponential backoff with jitter."""
    asked = response.headers.get("Retry-After", "") if response is not None else ""
    if asked.isdigit():
        return min(float(asked), PAUSE_MAX)
    return min(PAUSE * 2 ** (attempt - 1), PAUSE_MAX) * random.uniform(0.5, 1)


def again(request: Call, response: "httpx.Response | None") -> bool:
    """Whether to retry a request after this answer, or None for no answer. Any request may be retried after 429."""
    if not request.kept:
        return False
    if response is None:
        return request.repeatable
    return response.status_code == 429 or (response.status_code in LATER and request.repeatable)


def refusal(response: "httpx.Response") -> MuistiError:
    """Return the error for an answer that is no success."""
    status = response.status_code
    if response.headers.get("Content-Type", "").partition(";")[0] == PROBLEM:
        return refused(status, response.json(), response.content)
    detail = f"{response.url.host} answered {status} without saying why; is it a Muisti server?"
    return refused(status, {"status": status, "detail": detail})


def _part(text: str) -> str:
    """Quote a segment of a path. A segment of dots alone would be read as a step up."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

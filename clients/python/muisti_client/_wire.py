"""What both clients share: how a request is written, which may be sent again and when, and what an answer says."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx

ATTEMPTS = 4
PAUSE = 0.2  # seconds before the second attempt; doubled for each that follows
PAUSE_MAX = 10.0
SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
LATER = frozenset({429, 502, 503, 504})
KEY = "Idempotency-Key"


class MuistiError(Exception):
    """The server refused. `code` is stable, the message is prose; `problem` is the whole answer (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"the server answered {status}"))
        self.status, self.problem = status, problem

    @property
    def code(self) -> str:
        return str(self.problem.get("code", ""))


class Unreachable(Exception):
    """No answer came, after every attempt that was safe to make."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to be sent, perhaps more than once. `body` is sent as JSON, `content` as it is."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None
    content: Any = None

    @property
    def repeatable(self) -> bool:
        """Sending it twice does it once."""
        return self.method in SAFE or KEY in self.headers

    @property
    def kept(self) -> bool:
        """There is something to send a second time: pieces that were read once are gone."""
        return self.content is None or isinstance(self.content, bytes)


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
) -> Call:
    """Fill in a template. `once`: it has a place for an idempotency key, which is made up unless one is given."""
    filled = path.format_map({name: _part(value) for name, value in (parts or {}).items()})
    told = {name: _text(value) for name, value in (headers or {}).items() if value is not None}
    if once:
        told.setdefault(KEY, str(uuid4()))
    asked: dict[str, str] = {}
    for name, value in (params or {}).items():
        if isinstance(value, Mapping):
            asked |= {inner: _text(one) for inner, one in value.items()}
        elif value is not None:
            asked[name] = _text(value)
    return Call(method, filled, asked, told, body, content)


def pause(attempt: int, response: httpx.Response | None) -> float:
    """Seconds before the next attempt: what the server asks for, else longer each time, and never the same for two."""
    asked = response.headers.get("Retry-After", "") if response is not None else ""
    return (
        min(float(asked), PAUSE_MAX) if asked.isdigit() else min(PAUSE * 2**attempt, PAUSE_MAX) * random.uniform(0.5, 1)
    )


def again(request: Call, attempt: int, response: httpx.Response | None) -> bool:
    """Whether to send it once more, after no answer or this one. 429 was not done, whatever it was."""
    if attempt + 1 >= ATTEMPTS or not request.kept:
        return False
    if response is None:
        return request.repeatable
    return response.status_code == 429 or (response.status_code in LATER and request.repeatable)


def result(response: httpx.Response) -> Any:
    """The answer's JSON, or its text; None when it has nothing to say.

    Raises:
        MuistiError: it is a refusal.
    """
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if not response.is_success:
        problem = response.json() if kind.endswith("json") else {"detail": response.text[:200]}
        raise MuistiError(response.status_code, problem)
    if not response.content:
        return None
    return response.json() if kind == "application/json" else response.text


def _part(text: str) -> str:
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

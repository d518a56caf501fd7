"""Wrapper of the published client for the command line: one attempt a request, and advice when no answer comes.

The transport is a network, or calls the application in this process. `muisti.client.calls` writes the requests.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from muisti import client as published
from muisti.client import Call, Reply, Unreachable, calls
from muisti.client import Refused as ApiError

if TYPE_CHECKING:  # it takes a tenth of a second, which `--help` does without
    import httpx

TIMEOUT_SECONDS = 60.0
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVENTS = "text/event-stream"
END_MAX = 100  # bytes; the last line of an export is no longer

__all__ = ["ApiError", "Client", "Reply", "Unreachable", "connect", "through", "whole"]


class Client:
    """Connection to a service. Close it, or use it as a context manager.

    Every call returns the answer, or raises `ApiError` or `Unreachable`.
    """

    def __init__(self, http: "httpx.Client") -> None:
        self._http = http
        self._muisti = published.Muisti(http=http, attempts=1)
        self.otherwise: Callable[[Call, ApiError], Reply] | None = (
            None  # answers in the place of a refusal, or raises it
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._muisti.close()

    def allow(self, names: Sequence[str]) -> None:
        """Override parts of the policy of a space in all later requests: `secrets`, `personal_data`."""
        if names:
            self._http.headers["Muisti-Allow"] = ", ".join(names)

    def as_one_call(self) -> None:
        """Send all further requests under one request id, so that an undo takes them back together."""
        self._http.headers["X-Request-Id"] = os.urandom(8).hex()

    def send(self, request: Call) -> Reply:
        """Send a request once."""
        try:
            with self._reaching():
                return self._muisti.send(request)
        except ApiError as error:
            if self.otherwise is None:
                raise
            return self.otherwise(request, error)

    @contextmanager
    def stream(self, request: Call) -> "Iterator[httpx.Response]":
        """Open an answer whose content is streamed."""
        with self._reaching(), self._muisti.stream(request) as response:
            yield response

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Add advice to the error when no answer comes."""
        try:
            yield
        except Unreachable as error:
            if error.__cause__ is None:  # an answer came, but was incomplete
                raise
            raise Unreachable(_advice(error, str(self._http.base_url))) from error.__cause__


def connect(url: str, key: str | None = None) -> Client:
    """Return a client of a running server, such as http://127.0.0.1:8321, with a key if the server needs one.

    Raises:
        ValueError: the URL is no http or https URL.
    """
    httpx, ssl = import_module("httpx"), import_module("ssl")
    try:
        parsed = httpx.URL(url.rstrip("/").removesuffix("/v1"))
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{url!r} is no URL of a server, such as http://127.0.0.1:8321")
    # A proxy of the environment cannot reach this machine's loopback address.
    trusted = parsed.host not in LOOPBACK
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # Plain HTTP to this machine needs no certificates, and loading those of the system takes 34 ms.
    verify = True if trusted or parsed.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    options = {"timeout": TIMEOUT_SECONDS, "trust_env": trusted, "headers": headers, "verify": verify}
    return Client(httpx.Client(base_url=parsed, **options))


def through(transport: "httpx.BaseTransport") -> Client:
    """Return a client over a given transport; closing the client closes the transport."""
    return Client(import_module("httpx").Client(transport=transport, base_url="http://localhost"))


def whole(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pass on the pieces of an export, and check that the last line is there.

    Raises:
        Unreachable: the pieces end before the export's last line.
    """
    lines, tail = 0, b""
    for piece in pieces:
        lines += piece.count(b"\n")
        tail = (tail + piece)[-END_MAX:]
        yield piece
    if tail.rstrip(b"\n").rpartition(b"\n")[2] != b'{"type":"end","lines":%d}' % (lines - 1):
        raise Unreachable(f"the export ended after {lines:,} lines, without its last line: export again")


def listen(client: Client, space: str, asked: Mapping[str, Any], last: str | None) -> Iterator[tuple[str, Any]]:
    """Yield changes as they happen, after the event `last`: the id of each event, and its change, if it has one.

    The stream ends when the server ends it; continue from the last id.
    """
    request = calls.list_changes(space, **asked, last_event_id=last)
    with client.stream(replace(request, headers={**request.headers, "Accept": EVENTS})) as response:
        yield response.headers["Muisti-Seq"] if last is None else last, None
        for event in _events(response.iter_lines()):
            if event.get("event") == "end":
                return
            if "id" in event:
                data = event.get("data")
                yield event["id"], None if data is None else import_module("msgspec").json.decode(data)


def _events(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Parse server-sent events into their fields.

    >>> list(_events(["id: 1", "event: created", "data: {}", "", ": still here", ""]))
    [{'id': '1', 'event': 'created', 'data': '{}'}]
    """
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif not line and fields:
            yield fields
            fields = {}


def _advice(error: Unreachable, url: str) -> str:
    """Return advice on a request without an answer."""
    httpx = import_module("httpx")
    if isinstance(error.__cause__, httpx.ConnectError):
        return (
            f"no server answers at {url}. Start one with `muisti serve`, or leave out --url and MUISTI_URL to work on "
            "the local file."
        )
    if isinstance(error.__cause__, httpx.TimeoutException):
        return (
            f"{url} did not answer within {TIMEOUT_SECONDS:.0f} s. A write may have been stored all the same: look "
            "before you repeat it, or give it an --idempotency-key."
        )
    return f"the connection to {url} failed: {error.__cause__}"

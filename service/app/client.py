"""The published client as the command line uses it: one attempt a request, and advice when no answer comes.

It does not know where the service runs: a transport that calls the application in this process serves as well as a
network. Requests are written by `muisti.client.calls`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from muisti import client as published
from muisti.client import Call, Reply, Unreachable, calls
from muisti.client import MuistiError as ApiError  # the core has an error of that name

if TYPE_CHECKING:  # it takes a tenth of a second, which `--help` does without
    import httpx

TIMEOUT_SECONDS = 60.0
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVENTS = "text/event-stream"
END_MAX = 100  # bytes of the last line of an export, or more

__all__ = ["ApiError", "Client", "Reply", "Unreachable", "connect", "through", "whole"]


class Client:
    """A connection to a service. Close it, or use it as a context manager.

    Every call returns what came, or raises `ApiError` or `Unreachable`.
    """

    def __init__(self, http: "httpx.Client") -> None:
        self._http = http
        self._muisti = published.Muisti(http=http, attempts=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._muisti.close()

    def allow(self, names: Sequence[str]) -> None:
        """Store from now on what the policy of a space would refuse or redact: `secrets`, `personal_data`."""
        if names:
            self._http.headers["Muisti-Allow"] = ", ".join(names)

    def send(self, request: Call) -> Reply:
        """Send a request once."""
        with self._reaching():
            return self._muisti.send(request)

    @contextmanager
    def stream(self, request: Call) -> "Iterator[httpx.Response]":
        """Open an answer whose content is still to come."""
        with self._reaching(), self._muisti.stream(request) as response:
            yield response

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Say what to do when no answer comes."""
        try:
            yield
        except Unreachable as error:
            if error.__cause__ is None:  # an answer came, and was not whole
                raise
            raise Unreachable(_advice(error, str(self._http.base_url))) from error.__cause__


def connect(url: str, key: str | None = None) -> Client:
    """A client of a running server, such as http://127.0.0.1:8321, with a key if it asks for one.

    Raises:
        ValueError: this is no http or https URL.
    """
    httpx = import_module("httpx")
    try:
        parsed = httpx.URL(url.rstrip("/").removesuffix("/v1"))
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{url!r} is no URL of a server, such as http://127.0.0.1:8321")
    # A proxy of the environment leads away from this machine.
    trusted = parsed.host not in LOOPBACK
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Client(httpx.Client(base_url=parsed, timeout=TIMEOUT_SECONDS, trust_env=trusted, headers=headers))


def through(transport: "httpx.BaseTransport") -> Client:
    """A client over a transport of the caller's; closing the client closes the transport."""
    return Client(import_module("httpx").Client(transport=transport, base_url="http://localhost"))


def whole(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of an export.

    Raises:
        Unreachable: the last of them has come, and is not its end.
    """
    lines, tail = 0, b""
    for piece in pieces:
        lines += piece.count(b"\n")
        tail = (tail + piece)[-END_MAX:]
        yield piece
    if tail.rstrip(b"\n").rpartition(b"\n")[2] != b'{"type":"end","lines":%d}' % (lines - 1):
        raise Unreachable(f"the export broke off after {lines:,} lines, without the one that ends it: export again")


def listen(client: Client, space: str, asked: Mapping[str, Any], last: str | None) -> Iterator[tuple[str, Any]]:
    """Changes as they happen, after the event `last`: the id of each event, and what it tells, if anything.

    Ends when the server ends it; go on from the last id.
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
    """Server-sent events by their fields.

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
    """What to do about a request that nobody answered."""
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

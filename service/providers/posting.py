"""One request to an endpoint of models: to a checked address, within a time and a size, without redirects."""

import email.utils
from functools import cached_property
from importlib import import_module
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import msgspec

from muisti.core.support.memo import Reread
from muisti.service.outgoing.addresses import Allowed, Refused
from muisti.service.version import installed_version

if TYPE_CHECKING:
    import httpx

OK = 200
ANSWER_MAX = 64 << 20  # bytes of an answer: 1,000 vectors of 3,072 numbers in decimal take 60 MB
WAIT_MAX = 3600.0  # seconds of Retry-After that are believed
REFUSED_TEXTS = frozenset({400, 413, 422})  # what endpoints answer for a text that they do not take


class Failed(Exception):
    """A request had no good answer. The message names no key, no text and nothing of the answer.

    `status` is that of the answer, 0 without one. `wait` is for how many seconds the endpoint asks to be left alone.
    """

    def __init__(self, why: str, status: int = 0, wait: float = 0.0) -> None:
        super().__init__(why)
        self.status, self.wait = status, wait


class Poster:
    """Sends requests to one URL. Thread-safe."""

    def __init__(self, url: str, key: str | Reread | None, allowed: Allowed, most: int = ANSWER_MAX) -> None:
        """`most` is the size of an answer in bytes."""
        self._url, self._key, self._allowed, self._most = url, key, allowed, most

    @cached_property
    def _client(self) -> "httpx.Client":
        httpx: Any = import_module("httpx")
        return httpx.Client(trust_env=False, follow_redirects=False, limits=httpx.Limits(max_connections=16))

    def post(self, body: object, seconds: float) -> bytes:
        """Send a body as JSON; return that of the answer.

        Raises:
            Failed: no answer with status 200 came within `seconds`, or the URL is not allowed.
        """
        httpx: Any = import_module("httpx")
        try:
            target = self._allowed.resolve(self._url)
        except Refused as refused:
            raise Failed(f"may not be asked: {refused}") from None
        headers = {**self._headers(), "Host": target.url.netloc}
        asked: Any = {
            "content": msgspec.json.encode(body),
            "headers": headers,
            "extensions": {"sni_hostname": target.host},
            "timeout": httpx.Timeout(seconds),
        }
        until = monotonic() + seconds
        try:
            with self._client.stream("POST", target.pinned, **asked) as answer:
                if answer.status_code != OK:
                    raise Failed(f"answered {answer.status_code}", answer.status_code, _wait(answer.headers))
                return _body(answer, until, self._most)
        except httpx.TimeoutException:
            raise Failed("did not answer in time") from None
        except httpx.HTTPError as error:
            raise Failed(f"did not answer: {type(error).__name__}") from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": f"Muisti/{installed_version()}"}
        try:
            key = self._key.current() if isinstance(self._key, Reread) else self._key
        except (OSError, UnicodeDecodeError):
            raise Failed("cannot be asked: the file with its key cannot be read") from None
        return headers if key is None else {**headers, "Authorization": f"Bearer {key}"}


def _body(answer: "httpx.Response", until: float, most: int) -> bytes:
    """Return the body of an answer, which must come in time and have a bounded size."""
    parts, size = list[bytes](), 0
    for part in answer.iter_bytes():
        size += len(part)
        if size > most:
            raise Failed(f"answered with more than {most:,} bytes")
        if monotonic() > until:
            raise Failed("did not answer in time")
        parts.append(part)
    return b"".join(parts)


def _wait(headers: "httpx.Headers") -> float:
    """Return the seconds of `Retry-After`, which has seconds or a date; 0 without it."""
    given = headers.get("retry-after", "").strip()
    try:
        seconds = float(given) if given.replace(".", "", 1).isdigit() else _until(given)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), WAIT_MAX)


def _until(date: str) -> float:
    return email.utils.parsedate_to_datetime(date).timestamp() - time()

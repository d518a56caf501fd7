"""Requests to endpoints of models, within a time and a size, without redirects; batches, a breaker, their answers."""

import base64
import binascii
import email.utils
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from muisti.core.embedding.vectors import Vectors
from muisti.core.model.decoding import decoder
from muisti.core.support.memo import Reread
from muisti.core.text.terms import count_tokens
from muisti.service.outgoing.addresses import Allowed, Refused
from muisti.service.version import installed_version

if TYPE_CHECKING:
    import httpx


# Texts in batches that an endpoint takes: at most so many texts, and about so many tokens

LETTERS = 3  # characters that make a token, at the least that is usual


def tokens_of(text: str) -> int:
    """Return about how many tokens a model counts in a text: rather too many than too few.

    >>> tokens_of("hello world"), tokens_of("東京都")
    (4, 3)
    """
    return max(count_tokens(text), -(-len(text) // LETTERS), 1)


def batches(texts: Sequence[str], items: int, tokens: int) -> Iterator[Sequence[str]]:
    """Yield the texts in order, in batches of at most `items` texts and `tokens` tokens; one text may have more.

    >>> [len(batch) for batch in batches(["a b c", "d e f", "g"], items=2, tokens=100)]
    [2, 1]
    """
    start, held = 0, 0
    for place, text in enumerate(texts):
        cost = tokens_of(text)
        if place > start and (place - start == items or held + cost > tokens):
            yield texts[start:place]
            start, held = place, 0
        held += cost
    if start < len(texts):
        yield texts[start:]


FAILURES = 3  # in a row, after which calls are refused
FIRST_SECONDS = 2.0  # for which calls are refused; doubled with each further failure
LONGEST_SECONDS = 60.0


class Breaker:
    """Counts failures in a row. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0
        self._why = ""

    @property
    def refusing(self) -> str | None:
        """Return the last failure while calls are refused, else None."""
        with self._lock:
            return self._why if self._clock() < self._until else None

    def succeeded(self) -> None:
        """Record that a call succeeded: further calls are let through."""
        with self._lock:
            self._failures, self._until = 0, 0.0

    def failed(self, why: str, wait: float = 0.0) -> None:
        """Record a failed call. `wait` is for how many seconds the other side asks to be left alone."""
        with self._lock:
            self._failures += 1
            self._why = why
            extra = self._failures - FAILURES
            own = min(FIRST_SECONDS * 2.0**extra, LONGEST_SECONDS) if extra >= 0 else 0.0
            self._until = self._clock() + min(max(own, wait), LONGEST_SECONDS)


class BadAnswer(Exception):
    """The answer is not what was asked for. The message quotes nothing of it."""


class _Item(msgspec.Struct):
    index: int
    embedding: list[float] | str


class _Answer(msgspec.Struct):
    data: list[_Item]


def read(body: bytes, count: int, dimensions: int | None) -> Vectors:
    """Return the unit-length vectors of an answer for `count` texts, in the order of the texts.

    `dimensions` is how many components each must have; None takes any number that all have.

    Raises:
        BadAnswer: it is no such answer, or a vector lacks components, is not finite, or has no length.
    """
    try:
        items = decoder(_Answer).decode(body).data
    except msgspec.MsgspecError:
        raise BadAnswer("answered with something that is no list of embeddings") from None
    if sorted(item.index for item in items) != list(range(count)):
        raise BadAnswer(f"answered with {len(items)} embeddings, or other places than those of the {count} texts")
    rows = [_row(item.embedding) for item in sorted(items, key=lambda item: item.index)]
    wanted = dimensions if dimensions is not None else len(rows[0])
    for row in rows:
        if len(row) != wanted or not wanted:
            raise BadAnswer(f"answered with vectors of {len(row)} dimensions instead of {wanted}")
    return _normal(np.stack(rows))


def _row(embedding: list[float] | str) -> Any:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        except (binascii.Error, ValueError):
            raise BadAnswer("answered with embeddings that are not base64 of 32-bit numbers") from None
    return np.array(embedding, np.float64)


def _normal(rows: np.ndarray) -> Vectors:
    """Return rows of length 1."""
    wide = rows.astype(np.float64)
    with np.errstate(over="ignore"):  # then the length is infinite, and refused
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise BadAnswer("answered with vectors that are not finite, or have no length")
    return (wide / lengths).astype(np.float32)


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

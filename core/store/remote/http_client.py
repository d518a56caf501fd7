"""HTTP client of one server that speaks Hrana: it sends a batch and returns the result.

A failure on the way is one of three: the batch was not sent, it was declined, or its outcome is unknown.
"""

import binascii
import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from ssl import SSLCertVerificationError
from urllib.parse import SplitResult, urlsplit

import urllib3
from urllib3.exceptions import ClosedPoolError, ConnectTimeoutError, HTTPError, ReadTimeoutError, SSLError

from muisti.core.model.errors import StoreUnavailable, TooLarge
from muisti.core.model.location import base_url
from muisti.core.store.database import Row
from muisti.core.store.remote import hrana
from muisti.core.store.remote.hrana import BadReply, BatchResult, CursorHead, Fault, Step, StepResult, raise_fault
from muisti.core.support.memo import Reread

# Bearer token of a remote database, given as text or in a file that may change while Muisti runs


class Token:
    """Token that is read again when its file has changed. Thread-safe."""

    def __init__(self, text: str | None = None, file: Path | None = None) -> None:
        """Take the token as text or as a file, not both; neither means that there is no token.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        self._text = text
        self._file = None if file is None else Reread(file)
        self.current()

    def current(self) -> str | None:
        """Return the current token, None when there is none."""
        if self._file is None:
            return self._text
        try:
            return self._file.current()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreUnavailable(f"the file with the token for the database cannot be read: {error}") from error


CONNECT_SECONDS = 2.0
CONNECTIONS = 64  # kept open
CLOSE_SECONDS = 1.0
MISSING_SECONDS = 1.0  # sqld answers 404 for so long while it closes one database to make room for another
PORTS = {"http": 80, "https": 443}
_ALIKE = {"content-type": "application/json", "accept-encoding": "identity"}


class NotSent(Exception):
    """No connection: the server has not seen the request."""


class Declined(Exception):
    """The server is overloaded, and did nothing of the request."""


class NoAnswer(Exception):
    """The request was sent and no answer came: its effects may have happened or not."""


class TooSlow(NoAnswer):
    """No answer came within the given time."""


class Server:
    """Client of one server. Thread-safe; connections are pooled. All methods raise NotSent, Declined and NoAnswer.

    They raise StoreUnavailable where a retry cannot help: the token is refused, or there is no such database.
    """

    def __init__(self, url: str, token: Token, namespace: str | None = None) -> None:
        self._base = base_url(url)
        self._path = urlsplit(self._base).path
        self._token = token
        self._namespace = {} if namespace is None else {"x-namespace-bin": _unpadded(namespace)}
        self._missing_after = time.monotonic() + MISSING_SECONDS  # infinite once the server has answered
        # TLS uses the system's trusted certificates. No redirect is followed, since it would take the token elsewhere.
        self._pool = urllib3.connection_from_url(self._base, maxsize=CONNECTIONS)

    def run(self, steps: Sequence[Step], index: int | None, seconds: float) -> BatchResult | Fault:
        """Run one batch in one request."""
        response = self._post("/v3/pipeline", hrana.pipeline_body(steps, index), seconds)
        try:
            return hrana.pipeline_reply(response.data)
        except BadReply as error:
            raise NoAnswer(f"the reply is not valid Hrana: {error}") from error

    def scan(self, steps: Sequence[Step], index: int | None, seconds: float) -> tuple[BatchResult | Fault, int]:
        """Run a batch and read its rows one by one, since they may take more room than one answer has.

        Returns the result, and the bytes of all rows. `seconds` is the longest silence.
        """
        with self._cursor(steps, index, seconds) as lines:
            return _gathered(lines, len(steps))

    def stream(self, steps: Sequence[Step], seconds: float) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a transaction, each with its step, as they arrive; `seconds` is the longest silence.

        Faults of the server are raised as errors of the core.
        """
        step = ended = -1
        with self._cursor(steps, None, seconds) as lines:
            for line in lines:
                entry = hrana.cursor_entry(line)
                if entry.error is not None:
                    raise_fault(entry.error)
                if entry.type == "row":
                    yield step, hrana.row_of(entry.row)
                elif entry.type == "step_begin":
                    step = entry.step
                elif entry.type == "step_end":
                    ended = step
        if ended != len(steps) - 2:  # the last step is the ROLLBACK, which runs on failure only
            raise NoAnswer("the reply is incomplete")

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    @contextmanager
    def _cursor(self, steps: Sequence[Step], index: int | None, seconds: float) -> Generator[Iterator[bytes]]:
        """Yield the lines of an answer that comes row by row; end its stream after they were read."""
        response = self._post("/v3/cursor", hrana.cursor_body(steps, index), seconds, whole=False)
        try:
            lines = _lines(response)
            head = hrana.cursor_head(next(lines, b""))
            yield lines
        except (HTTPError, BadReply) as error:
            raise NoAnswer(f"the reply is incomplete ({type(error).__name__})") from error
        finally:
            response.close()  # a connection that was read to its end is in the pool already; others must not go there
        self._close(head)

    def _close(self, head: CursorHead) -> None:
        """End the stream of a cursor, which the server would otherwise keep for ten seconds."""
        path = self._path if head.base_url is None else _path_on(self._base, head.base_url)
        if head.baton is None or path is None:
            return
        try:
            self._send(f"{path}/v3/pipeline", hrana.close_body(head.baton), self._token.current(), CLOSE_SECONDS)
        except (NotSent, NoAnswer):
            return  # the server ends the stream by itself

    def _post(self, path: str, body: bytes, seconds: float, *, whole: bool = True) -> urllib3.BaseHTTPResponse:
        token, path = self._token.current(), f"{self._path}{path}"
        response = self._send(path, body, token, seconds, whole)
        if response.status in (401, 403):
            renewed = self._token.current()
            if renewed != token:  # the file has changed meanwhile
                response.drain_conn()
                response.release_conn()
                response = self._send(path, body, renewed, seconds, whole)
        return self._answered(response)

    def _send(
        self, path: str, body: bytes, token: str | None, seconds: float, whole: bool = True
    ) -> urllib3.BaseHTTPResponse:
        bearer = {} if token is None else {"authorization": f"Bearer {token}"}
        try:
            return self._pool.urlopen(
                "POST",
                path,
                body=body,
                headers=_ALIKE | self._namespace | bearer,
                retries=False,
                redirect=False,
                timeout=urllib3.Timeout(connect=min(CONNECT_SECONDS, seconds), read=seconds),
                preload_content=whole,
            )
        except (ConnectTimeoutError, ClosedPoolError) as error:  # the first includes refused connections
            raise NotSent("it cannot be reached") from error
        except ReadTimeoutError as error:
            raise TooSlow(f"no answer came within {seconds:.1f} s") from error
        except SSLError as error:
            if isinstance(error.args[0], SSLCertVerificationError):
                raise StoreUnavailable("the certificate of the database is not trusted here") from error
            raise NoAnswer("the connection broke off (TLS)") from error
        except HTTPError as error:
            raise NoAnswer(f"the connection broke off ({type(error).__name__})") from error

    def _answered(self, response: urllib3.BaseHTTPResponse) -> urllib3.BaseHTTPResponse:
        status = response.status
        if status == 200:
            self._missing_after = math.inf
            return response
        response.drain_conn()
        response.release_conn()
        if status in (401, 403):
            raise StoreUnavailable("the database refuses our token; see MUISTI_DATABASE_TOKEN")
        if status == 404 and time.monotonic() > self._missing_after:
            raise StoreUnavailable(
                "the server at the URL does not speak Hrana 3, or has no such database; see MUISTI_DATABASE_NAMESPACE"
            )
        if status in (404, 429):
            raise Declined(f"it answered {status}")
        if status == 413:
            raise TooLarge("the database server or its proxy refuses requests of this size; send less at a time")
        if status >= 500:
            raise NoAnswer(f"it answered {status}")
        raise StoreUnavailable(f"the server at the database's URL does not speak Hrana 3: it answered {status}")


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    pending = b""
    for piece in response.stream(1 << 20):
        *whole, pending = (pending + piece).split(b"\n")
        yield from whole
    if pending:
        yield pending


def _gathered(lines: Iterator[bytes], steps: int) -> tuple[BatchResult | Fault, int]:
    """Collect a cursor's entries into the result of a batch, and count their bytes."""
    results: list[StepResult | None] = [None] * steps
    errors: list[Fault | None] = [None] * steps
    step, rows = 0, list[list[hrana.Cell]]()
    index: str | None = None
    size = 0
    for line in lines:
        entry = hrana.cursor_entry(line)
        size += len(line)
        if entry.type == "row":
            rows.append(entry.row)
        elif entry.type == "step_begin":
            step, rows = entry.step, list[list[hrana.Cell]]()
        elif entry.type == "step_end":
            results[step] = StepResult(rows)
        elif entry.type == "step_error":
            errors[entry.step] = entry.error
        elif entry.type == "replication_index":
            index = None if entry.replication_index is None else str(entry.replication_index)
        elif entry.type == "error" and entry.error is not None:
            return entry.error, size
    return BatchResult(results, errors, index), size


def _path_on(base: str, moved_to: str) -> str | None:
    """Return the path of a URL that the server redirects a stream to; None when its origin is another.

    >>> _path_on("https://db.example:443", "https://db.example/node1/")
    '/node1'
    >>> [_path_on("https://db.example", url) for url in ("https://db.example.net", "http://db.example", "//[")]
    [None, None, None]
    """
    try:
        theirs = urlsplit(moved_to)
        return theirs.path.rstrip("/") if _origin(theirs) == _origin(urlsplit(base)) else None
    except ValueError:  # no URL at all
        return None


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or PORTS.get(url.scheme)


def _unpadded(text: str) -> str:
    return binascii.b2a_base64(text.encode(), newline=False).rstrip(b"=").decode("ascii")

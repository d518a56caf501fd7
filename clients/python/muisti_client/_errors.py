"""Errors of the client: a class for each meaning, the same over HTTP and in process."""

from collections.abc import Mapping
from typing import Any


class MuistiError(Exception):
    """Base of all errors of Muisti. `code` is stable and `detail` is prose.

    `problem` is the whole answer (RFC 9457), `body` its bytes as they came, and `status` its HTTP status. An error
    without an answer has the status 0 and an empty code.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], body: bytes = b"") -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"the server answered {status}"))
        self.status, self.problem, self.body = status, problem, body

    @property
    def code(self) -> str:
        return str(self.problem.get("code", ""))

    @property
    def detail(self) -> str:
        return str(self)

    @property
    def errors(self) -> list[Mapping[str, Any]]:
        """The bad fields, each with `path` and `message`."""
        return list(self.problem.get("errors") or ())

    @property
    def conflicts(self) -> list[Mapping[str, Any]]:
        """The memories in conflict with the request, each with `id`, `kind`, `content` and what `differs`."""
        return list(self.problem.get("conflicts") or ())


class Unreachable(MuistiError):
    """No answer came, after every attempt that was safe to make. Its cause is the error of the connection."""

    def __init__(self, detail: str) -> None:
        super().__init__(0, {"detail": detail})


class Refused(MuistiError):
    """An answer that is no success. Its subclasses have meanings; this class itself is for the others."""


class Invalid(Refused):
    """A field, parameter or header has a value that cannot be accepted; `errors` names them."""


class Unauthorized(Refused):
    """A key is needed, and none was sent, or it is not valid."""


class Forbidden(Refused):
    """The key lacks a right, or a quota is used up."""


class NotFound(Refused):
    """There is no such space or memory, or it was deleted or has expired."""


class Conflict(Refused):
    """The request conflicts with what is stored; `conflicts` shows the memories."""


class StaleVersion(Conflict):
    """The memory has changed since the version that the request names."""


class TooLong(Refused):
    """The request is larger than the service accepts."""


class Unavailable(Refused):
    """The service or its database cannot answer now."""


class Busy(Unavailable):
    """Too many requests run or wait; nothing was done."""


KINDS: Mapping[int, type[Refused]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    412: StaleVersion,
    413: TooLong,
    415: Invalid,
    422: Invalid,
    429: Busy,
}


def refused(status: int, problem: Mapping[str, Any], body: bytes = b"") -> Refused:
    """Return the error of the class that a refusal means.

    >>> type(refused(404, {"code": "not_found", "detail": "there is no such memory"})).__name__
    'NotFound'
    """
    if problem.get("code") == "busy":
        return Busy(status, problem, body)
    return KINDS.get(status, Unavailable if status >= 500 else Refused)(status, problem, body)

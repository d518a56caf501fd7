"""Handlers of exceptions for Litestar: each answers with a problem (RFC 9457)."""

import re
from collections.abc import Mapping

from litestar import Request, Response
from litestar.exceptions import HTTPException, InternalServerException, ValidationException

from muisti.core.model.errors import InvalidInput, MuistiError
from muisti.core.model.errors import Problem as BadField
from muisti.service.schemas.errors import HttpError, Problem, crash, mark, noted, problem, problem_of, shown
from muisti.service.schemas.sdk_errors import SdkError

_MISSING = re.compile(r"Missing required \w+ parameter '([^']+)'")
_WANTED = {"int": "a whole number", "bool": "true or false"}
_HTTP_CODES = {404: "no_route", 405: "method_not_allowed", 413: "too_large"}


def _response(request: Request, found: Problem, headers: Mapping[str, str]) -> Response[Problem | SdkError]:
    noted(request.scope, found)
    status, usual, body = shown(request.scope, found)
    kind = usual["Content-Type"]
    return Response(body, status_code=status, media_type=kind, headers={**usual, **headers})


def _refused(request: Request, error: MuistiError | HttpError) -> Response[Problem | SdkError]:
    mark(request.scope, error)
    return _response(request, problem_of(error), error.headers if isinstance(error, HttpError) else {})


def _invalid_parameters(request: Request, error: ValidationException) -> Response[Problem | SdkError]:
    """Answer a request with a missing parameter, or one of the wrong type, as Litestar found it."""
    missing = _MISSING.match(error.detail)
    if missing:
        return _refused(request, InvalidInput.at(f"$.{missing[1]}", "is required"))
    given = error.extra if isinstance(error.extra, list) else []
    names = [str(item.get("key", "")) for item in given if isinstance(item, dict)]
    if "data" in names:  # the name of the body in a handler; a body that is there was decoded before
        return _refused(request, HttpError("malformed_json", "the body is empty; send JSON"))
    messages = [str(item.get("message")) for item in given if isinstance(item, dict)]
    bad = [BadField(f"$.{name}", _reworded(request, name, text)) for name, text in zip(names, messages, strict=True)]
    return _refused(request, InvalidInput(bad or [BadField("$", "is not valid")]))


def _reworded(request: Request, name: str, message: str) -> str:
    """Reword a message about a parameter, which is always a string: say which form the string must have."""
    wanted = next((words for type, words in _WANTED.items() if f"`{type}" in message), None)
    return message if wanted is None else f"{request.query_params.get(name, '')[:40]!r} is not {wanted}"


def _http(request: Request, error: HTTPException) -> Response[Problem | SdkError]:
    gone = isinstance(error, InternalServerException) and "disconnected" in error.detail  # nobody reads the answer
    others = "malformed_request" if error.status_code < 500 or gone else "internal"
    code = _HTTP_CODES.get(error.status_code, others)
    if code == "internal":
        return _crashed(request, error)
    method, path = request.method, request.scope["path"].replace("\0", "%2F")
    detail = {
        "no_route": f"there is no path {path[:200]!r}; /docs lists the routes",
        "method_not_allowed": f"{path[:200]!r} does not allow {method}; `Allow` lists the methods",
        "too_large": _too_large(request),
    }.get(code, error.detail)
    allow = {name.title(): value for name, value in (error.headers or {}).items()}
    return _response(request, problem(code, detail), allow)


def _too_large(request: Request) -> str:
    limit = request.app.state.settings.body_limit
    size = request.headers.get("content-length", "")
    known = f"has {int(size):,} bytes" if size.isdecimal() else "is larger"
    return f"the body {known}; at most {limit:,} bytes are accepted"


def _crashed(request: Request, error: Exception) -> Response[Problem | SdkError]:
    return _response(request, crash(error, str(request.scope.get("request_id"))), {})


HANDLERS = {
    MuistiError: _refused,
    HttpError: _refused,
    ValidationException: _invalid_parameters,
    HTTPException: _http,
    Exception: _crashed,
}

"""Decodes requests into typed values: strictly, in one pass, with a JSON path for each mistake.

Litestar would decode first and convert later, accept "5" for 5, and not distinguish malformed from invalid.
"""

import re
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import litestar
import msgspec
from msgspec import inspect

from muisti.core.model import decoding
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput, Problem, placed
from muisti.service.http.choices import refused_choice
from muisti.service.http.lenient import fitted
from muisti.service.http.repair import repaired
from muisti.service.schemas.errors import HttpError

T = TypeVar("T")

JSON = "application/json"
LINES = "application/x-ndjson"
FITTED = 20_000  # values of a body, about, that are looked at one by one
SLASH = "\0"  # stands for %2F in a path, as no name holds a NUL

_FIELD = re.compile(r"Object (?P<what>contains unknown field|missing required field) `(?P<name>.*)`", re.DOTALL)
_WHAT = {"contains unknown field": "there is no such field", "missing required field": "is required"}


class Request(litestar.Request[Any, Any, Any]):
    """A request whose JSON body arrives as the type that its handler declares."""

    @property
    def path_params(self) -> dict[str, Any]:
        return {name: value.replace(SLASH, "/") for name, value in super().path_params.items()}

    async def json(self) -> Any:
        field = self.route_handler.parsed_data_field
        assert field is not None
        media_type = self.content_type[0]
        of_lines = getattr(field.annotation, "of_lines", None)
        if media_type == LINES and of_lines is not None:
            return of_lines(await self.body())
        if media_type != JSON:
            accepted = JSON if of_lines is None else f"{JSON} or {LINES}"
            raise HttpError("unsupported_media_type", f"Content-Type is {media_type[:80]!r}; send {accepted}")
        return decode(await self.body(), field.annotation)


def decode(body: bytes | msgspec.Raw, type: type[T], path: str = "$") -> T:
    """Decode JSON into a value of `type`; `path` is the place of the JSON in the request, for messages.

    Raises:
        HttpError: the body is no JSON.
        InvalidInput: the JSON does not fit the type.
    """
    try:
        return decoder(type).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decoded(_fitted(bytes(body), type), type, path)


def _fitted(body: bytes, type: type[Any]) -> bytes:
    """Return JSON with what has only one meaning as the type takes it. One of very many values stays as it is."""
    body = repaired(body)
    if body.count(b",") > FITTED:
        return body
    try:
        found = msgspec.json.decode(body)
        fit = fitted(inspect.type_info(type), found)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body
    return body if fit == found and repr(fit) == repr(found) else msgspec.json.encode(fit)


def _decoded(body: bytes, type: type[T], path: str) -> T:
    try:
        return decoder(type).decode(body)
    except msgspec.ValidationError as error:
        raise InvalidInput([_problem(str(error), path, type)]) from None
    except msgspec.DecodeError as error:
        raise HttpError("malformed_json", f"{_subject(path)} is no JSON: {error}") from None
    except UnicodeDecodeError:
        raise HttpError("malformed_json", f"{_subject(path)} is no valid UTF-8") from None
    except RecursionError:
        raise HttpError("malformed_json", f"{_subject(path)} is nested too deeply") from None


def convert(given: object, type: type[T]) -> T:
    """Convert values that came otherwise than as JSON, such as parameters, into a value of `type`.

    Raises:
        InvalidInput: they do not fit the type.
    """
    try:
        return decoding.convert(given, type)
    except msgspec.ValidationError as error:
        raise InvalidInput([_problem(str(error), "$", type)]) from None


def routable(raw_path: bytes) -> str:
    """Return the path that the router sees: percent-decoded, but an encoded slash stays within its segment.

    >>> routable(b"/entries/a%2Fb/c%20d").split("/")
    ['', 'entries', 'a\\x00b', 'c d']

    Raises:
        HttpError: it is no UTF-8, or holds a NUL.
    """
    path = utf8(raw_path, "path")
    if SLASH in path:
        raise HttpError("malformed_request", "the path holds a NUL")
    return utf8(re.sub(rb"%2[Ff]", b"%00", raw_path), "path")


def utf8(raw: bytes, what: str) -> str:
    """Decode a percent-encoded text; `what` names it in messages.

    Raises:
        HttpError: it is no UTF-8.
    """
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise HttpError("malformed_request", f"the {what} is no valid UTF-8") from None


def _subject(path: str) -> str:
    return "the body" if path == "$" else path


def _problem(text: str, path: str, type: type[Any]) -> Problem:
    """Turn a message of msgspec about a value of `type` into a problem with a path.

    >>> _problem("Expected `int`, got `str` - at `$.limit`", "$", dict).path
    '$.limit'
    >>> _problem("Object contains unknown field `contnt` - at `$`", "$.memories[1]", dict).path
    '$.memories[1].contnt'
    """
    fault, place = placed(text)
    path += place[1:]
    choice = refused_choice(fault, place, type)
    if choice is not None:
        return Problem(path, choice)
    field = _FIELD.fullmatch(fault)
    if field is None:
        return Problem(path, fault)
    return Problem(f"{path}.{field['name'][:80]}", _WHAT[field["what"]])

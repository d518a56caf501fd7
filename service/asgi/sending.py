"""Sends answers as ASGI messages, without Litestar."""

from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Response
from litestar.types import Scope, Send

from muisti.core.model.errors import MuistiError
from muisti.service.schemas.errors import MEDIA_TYPE, HttpError, headers_of, noted, problem_of

_ENCODER = msgspec.json.Encoder()


class PlainResponse(msgspec.Struct, frozen=True):
    """Content, headers and status of an answer. The fast path sends it as it is; handlers convert it for Litestar."""

    content: Any
    headers: Mapping[str, str]
    status: int = 200

    def response(self) -> Response[Any]:
        """Return the answer as a response of Litestar."""
        return Response(self.content, status_code=self.status, headers=self.headers)


async def send_body(send: Send, status: int, headers: Mapping[str, str], content: Any) -> None:
    """Send `content` as JSON, with its length added to the headers."""
    body = _ENCODER.encode(content)
    given = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    given.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def send_problem(scope: Scope, send: Send, error: HttpError | MuistiError) -> None:
    """Send a refusal as a problem (RFC 9457)."""
    found = problem_of(error)
    noted(scope, found)
    extra = error.headers if isinstance(error, HttpError) else {}
    await send_body(send, found.status, {"Content-Type": MEDIA_TYPE, **headers_of(found.code), **extra}, found)

"""Reads bodies and headers without Litestar."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from litestar.types import Receive

from muisti.service.schemas.errors import HttpError

Header = tuple[bytes, bytes]


def header_of(scope: Mapping[str, Any], name: str) -> str | None:
    """Return a header of a request, None when absent. Litestar would map all headers, which takes ten times longer."""
    wanted = name.lower().encode()
    for given, value in cast(Iterable[Header], scope["headers"]):
        if given == wanted:
            return value.decode("latin-1")
    return None


async def read_body(receive: Receive, limit: int | None = None) -> bytes:
    """Read the whole body. `limit` is in bytes, None when something before this bounds it.

    Raises:
        HttpError: the caller disconnected first, or the body is too large.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise HttpError("malformed_request", "the client disconnected before its body was complete")
        body += message["body"]
        if limit is not None and len(body) > limit:
            raise HttpError("too_large", f"the body has more than {limit:,} bytes")
        if not message["more_body"]:
            return bytes(body)

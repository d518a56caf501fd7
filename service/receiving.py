"""Bodies that do not go through Litestar."""

from litestar.types import Receive

from service.errors import HttpError


async def read_body(receive: Receive) -> bytes:
    """The whole body.

    Raises:
        HttpError: the caller has gone.
    """
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise HttpError("malformed_request", "the client disconnected before its body was complete")
        body += message["body"]
        if not message["more_body"]:
            return body

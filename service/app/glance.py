"""Quick parse of a request that arrived in one piece, in the form that most clients write.

An overloaded server refuses ten requests for each that it answers. Without this module, the parser and its callbacks
would be half the cost of a refusal. Requests that are not simple, or are malformed, are left to the parser.
"""

import re
from collections.abc import Mapping

import msgspec

_HEAD = re.compile(
    rb"(?P<method>GET|HEAD|POST|PUT|PATCH|DELETE) (?P<path>/[A-Za-z0-9/._~-]*)(?:\?[A-Za-z0-9/._~%=&+,:-]*)? HTTP/1\.1"
    rb"(?P<headers>(?:\r\n[A-Za-z0-9_-]+: ?[!-~](?:[ -~]*[!-~])?)*)"
)
MOST_DIGITS = 9  # digits of a length: Python refuses to convert thousands of digits
_FRAMING = frozenset({b"transfer-encoding", b"expect", b"upgrade"})  # headers that change how the body is sent


class Glance(msgspec.Struct, frozen=True):
    """Method, path and headers of a request; names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[bytes, bytes]


def glance(data: bytes) -> Glance | None:
    """Parse `data` as exactly one request; None when it is not simple enough to be sure.

    >>> glance(b"POST /v1/spaces/a/search?x=1 HTTP/1.1\\r\\nContent-Length: 2\\r\\n\\r\\n{}").path
    '/v1/spaces/a/search'
    >>> glance(b"POST /v1/spaces/a/search HTTP/1.1\\r\\nContent-Length: 3\\r\\n\\r\\n{}") is None
    True
    """
    head, _, body = data.partition(b"\r\n\r\n")
    match = _HEAD.fullmatch(head)
    if match is None:
        return None
    lines = match["headers"].split(b"\r\n")[1:]
    headers = {name.lower(): value.lstrip() for name, _, value in (line.partition(b":") for line in lines)}
    size = headers.get(b"content-length", b"0")
    if (
        len(headers) < len(lines)
        or not size.isdigit()
        or len(size) > MOST_DIGITS
        or int(size) != len(body)
        or not _FRAMING.isdisjoint(headers)
        or headers.get(b"connection", b"keep-alive").lower() != b"keep-alive"
        or len(data) < len(head) + 4
    ):
        return None
    return Glance(match["method"].decode(), match["path"].decode(), headers)

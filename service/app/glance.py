"""A request at a glance: what it asks for, when all of it has come at once and is written as most clients write it.

For an overloaded server, which refuses ten requests for each that it answers: else the parser and what hangs on it are
half of what a refusal costs. What is not simple is left to the parser, and so is everything that is wrong.
"""

import re
from collections.abc import Mapping

import msgspec

_HEAD = re.compile(
    rb"(?P<method>GET|HEAD|POST|PUT|PATCH|DELETE) (?P<path>/[A-Za-z0-9/._~-]*)(?:\?[A-Za-z0-9/._~%=&+,:-]*)? HTTP/1\.1"
    rb"(?P<headers>(?:\r\n[A-Za-z0-9_-]+: ?[!-~](?:[ -~]*[!-~])?)*)"
)
MOST_DIGITS = 9  # of a length: Python refuses to read some thousands of them
_FRAMING = frozenset({b"transfer-encoding", b"expect", b"upgrade"})  # what makes the body another matter


class Glance(msgspec.Struct, frozen=True):
    """What was asked for; names of headers in lower case."""

    method: str
    path: str
    headers: Mapping[bytes, bytes]


def glance(data: bytes) -> Glance | None:
    """The request that `data` is, all of it and nothing more; None when that is not plain to see.

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

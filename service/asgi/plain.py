"""Decides by the headers of a request whether a fast path may answer it. Reads the table of all headers."""

from collections.abc import Iterable, Mapping

from muisti.service.asgi.header_names import DECIDING, ONCE

Header = tuple[bytes, bytes]

_TYPE, _SIZE, _JSON = b"content-type", b"content-length", b"application/json"


def plain_headers(headers: Iterable[Header], body_limit: int) -> Mapping[bytes, bytes] | None:
    """Return the headers by name; None when only the handler may answer. `body_limit` is in bytes.

    A plain request has a JSON body of known and allowed size, no header that decides, and each header of `ONCE` once.

    >>> plain_headers([(b"content-type", b"application/json"), (b"content-length", b"2")], 10) is None
    False
    >>> plain_headers([(b"content-type", b"application/json"), (b"content-length", b"12")], 10) is None
    True
    """
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in DECIDING or (name in found and name in ONCE):
            return None
        found[name] = value
    size = found.get(_SIZE, b"")
    return found if found.get(_TYPE) == _JSON and size.isdigit() and int(size) <= body_limit else None

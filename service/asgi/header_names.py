"""Every header that the server reads or sends, declared once. CORS and the fast paths read this table."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

Way = Literal["in", "out", "both"]


class Header(NamedTuple):
    """`way`: read from requests, sent in answers, or both.

    `decides`: it changes what a request means, so a fast path leaves the request to its handler.
    `once`: sent twice, it could be read in two ways, so a fast path leaves that request to its handler as well.
    `pages`: web pages of other origins set or read it; the others are for browsers, proxies and connections.
    """

    name: str
    way: Way
    decides: bool = False
    once: bool = False
    pages: bool = True


SEQ = "Muisti-Seq"
MIN_SEQ = "Muisti-Min-Seq"
FRESHNESS = "Muisti-Freshness"
REPLAYED = "Idempotent-Replayed"
FLAGS = "Muisti-Flags"
TABLE = (
    # Of requests.
    Header("Authorization", "in"),
    Header("X-Api-Key", "in", pages=False),  # a key, on the paths of memory stores
    Header("Accept", "in", once=True),
    Header("Idempotency-Key", "in", decides=True),
    Header("If-Match", "in", decides=True),
    Header("If-None-Match", "in", decides=True),
    Header("Prefer", "in", decides=True),
    Header(MIN_SEQ, "in", decides=True),
    Header(FRESHNESS, "in", decides=True),
    Header("Muisti-Allow", "in"),  # read by what both paths call
    Header("Muisti-Project", "in"),
    Header("Muisti-Folder", "in", pages=False),  # of a hook on this machine
    Header("traceparent", "in"),
    Header("tracestate", "in"),
    Header("Mcp-Method", "in", once=True),
    Header("Mcp-Name", "in", once=True),
    Header("Last-Event-ID", "in"),
    Header("Sec-Fetch-Site", "in", pages=False),  # whose page a browser sends it for
    # Of both.
    Header("Content-Type", "both", once=True),
    Header("X-Request-Id", "both"),
    Header("Mcp-Protocol-Version", "both", once=True),
    Header("Mcp-Session-Id", "both"),
    # Of answers.
    Header("ETag", "out"),
    Header("Location", "out"),
    Header("Link", "out"),
    Header("Allow", "out"),
    Header("Content-Disposition", "out"),
    Header(SEQ, "out"),
    Header(FLAGS, "out"),
    Header(REPLAYED, "out"),
    Header("Preference-Applied", "out"),
    Header("Retry-After", "out"),
    Header("Server-Timing", "out"),
    Header("RateLimit-Limit", "out"),
    Header("RateLimit-Remaining", "out"),
    Header("RateLimit-Reset", "out"),
    Header("WWW-Authenticate", "out"),
    # Between browsers, proxies and servers.
    Header("Content-Encoding", "both", decides=True, pages=False),
    Header("Content-Length", "both", once=True, pages=False),
    Header("Transfer-Encoding", "both", decides=True, pages=False),
    Header("Connection", "both", pages=False),
    Header("Host", "in", pages=False),
    Header("Origin", "in", pages=False),
    Header("Expect", "in", pages=False),
    Header("Upgrade", "in", pages=False),
    Header("Accept-Encoding", "in", pages=False),
    Header("Access-Control-Request-Method", "in", pages=False),
    Header("Access-Control-Allow-Origin", "out", pages=False),
    Header("Access-Control-Allow-Methods", "out", pages=False),
    Header("Access-Control-Allow-Headers", "out", pages=False),
    Header("Access-Control-Expose-Headers", "out", pages=False),
    Header("Access-Control-Max-Age", "out", pages=False),
    Header("Cache-Control", "out", pages=False),
    Header("Vary", "out", pages=False),
    Header("Date", "out", pages=False),
    Header("Server", "out", pages=False),
    Header("Content-Security-Policy", "out", pages=False),
    Header("Referrer-Policy", "out", pages=False),
    Header("X-Content-Type-Options", "out", pages=False),
    Header("X-Accel-Buffering", "out", pages=False),
    # Of the console's pages.
    Header("Set-Cookie", "out", pages=False),
    Header("HX-Redirect", "out", pages=False),
    Header("HX-Replace-Url", "out", pages=False),
    Header("HX-Trigger", "out", pages=False),
    Header("X-Frame-Options", "out", pages=False),
    Header("Cross-Origin-Opener-Policy", "out", pages=False),
    Header("Cross-Origin-Resource-Policy", "out", pages=False),
)

DECIDING = frozenset(header.name.lower().encode() for header in TABLE if header.decides)
ONCE = frozenset(header.name.lower().encode() for header in TABLE if header.once)


def of_pages(way: Literal["in", "out"]) -> Iterator[str]:
    """Names of the headers that web pages of other origins may set, or read.

    >>> {"Muisti-Allow", "Muisti-Freshness"} <= set(of_pages("in")), "Muisti-Flags" in of_pages("out")
    (True, True)
    """
    return (header.name for header in TABLE if header.pages and header.way in (way, "both"))


# Decides by the headers of a request whether a fast path may answer it. Reads the table of all headers

RawHeader = tuple[bytes, bytes]

_TYPE, _SIZE, _JSON = b"content-type", b"content-length", b"application/json"


def decided(headers: Iterable[RawHeader]) -> bool:
    """Tell whether a header changes what a request means, so that only its handler may answer."""
    return any(name in DECIDING for name, _ in headers)


def plain_headers(headers: Iterable[RawHeader], body_limit: int) -> Mapping[bytes, bytes] | None:
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

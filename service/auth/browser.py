"""Cookies of the console, checks of the host that a browser calls, and of the page that calls.

A session is a key that was made with the key of the person. So it ends with that key, and a list of keys shows it.
The cookie authenticates reads alone. What changes something comes through a form of the console, which checks a token.
"""

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Collection, Mapping, Sequence
from http.cookies import CookieError, SimpleCookie

from muisti.service.asgi.header_names import of_pages
from muisti.service.schemas.asgi import HTTPScope, Message, Send
from muisti.service.schemas.errors import HttpError

Header = tuple[bytes, bytes]

SESSION = "muisti_session"
FORM = "muisti_form"
SECURE = "__Host-"  # browsers take cookies with this prefix over HTTPS alone, and never from another host
SAFE = frozenset({"GET", "HEAD"})
OWN = frozenset({"same-origin", "none"})  # of Sec-Fetch-Site: a page of ours, or the person alone


def cookie_of(headers: Sequence[Header], name: str) -> str | None:
    """Return the value of a cookie, sent with or without the prefix of secure cookies; None when it is absent."""
    for header, value in headers:
        if header != b"cookie":
            continue
        try:
            found = SimpleCookie(value.decode("latin-1"))
        except CookieError:
            continue
        for one in (SECURE + name, name):
            if one in found:
                return found[one].value
    return None


def session_of(headers: Sequence[Header]) -> str | None:
    """Return the key of the session that a read is sent with; None for requests of other sites."""
    return cookie_of(headers, SESSION) if own_site(headers) else None


def own_site(headers: Sequence[Header]) -> bool:
    """Tell whether a request comes from a page of this server, or from no page at all."""
    given = dict(headers)
    site = given.get(b"sec-fetch-site")
    if site is not None:
        return site.decode("latin-1") in OWN
    origin = given.get(b"origin")
    return origin is None or origin.partition(b"://")[2] == given.get(b"host")


def form_token(cookie: str) -> str:
    """Return the token that forms carry, made from the value of the cookie `FORM`."""
    return hmac.new(cookie.encode(), b"form", hashlib.sha256).hexdigest()


def is_own_form(headers: Sequence[Header], token: str) -> bool:
    """Tell whether a form was drawn for this browser and sent by one of our pages."""
    cookie = cookie_of(headers, FORM)
    return cookie is not None and own_site(headers) and hmac.compare_digest(form_token(cookie), token)


def set_cookie(name: str, value: str, *, secure: bool, seconds: int | None = None) -> str:
    """Return the header `Set-Cookie` for a cookie that no script reads and no other site sends; 0 seconds delete it."""
    parts = [f"{SECURE if secure else ''}{name}={value}", "Path=/", "HttpOnly", "SameSite=Strict"]
    if secure:
        parts.append("Secure")
    if seconds is not None:
        parts.append(f"Max-Age={seconds}")
    return "; ".join(parts)


# Check of the Host header against DNS rebinding


def check_host(headers: Sequence[tuple[bytes, bytes]], own: str) -> None:
    """Check the Host header of a request to a server without keys. `own` is the name that the server listens on.

    Raises:
        HttpError: the header names another host.
    """
    given = dict(headers).get(b"host", b"localhost").decode("latin-1")
    host = host_of(given)
    if host not in ("localhost", own.lower()) and not is_address(host):
        raise HttpError(
            "unknown_host",
            f"{given[:80]!r} is no name of this machine; a server without keys accepts only localhost, "
            "127.0.0.1 and [::1] (MUISTI_INSECURE=1 lifts this)",
        )


def check_listed(headers: Sequence[tuple[bytes, bytes]], names: Collection[str]) -> None:
    """Raise `HttpError` unless the Host header is one of the names that the operator lists."""
    given = dict(headers).get(b"host", b"").decode("latin-1")
    if host_of(given) not in {host_of(name) for name in names}:
        raise HttpError("unknown_host", f"{given[:80]!r} is none of MUISTI_HOSTS")


def host_of(header: str) -> str:
    """Return the host without port and brackets.

    >>> [host_of(h) for h in ("LocalHost:8321", "[::1]:8321", "127.0.0.1", "::1")]
    ['localhost', '::1', '127.0.0.1', '::1']
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header if header.count(":") > 1 else header.partition(":")[0].lower()


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


# Which web pages may call: one check of every request that may change something, and the headers of CORS

METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
TAKEN = ", ".join(of_pages("in")).encode()
SHOWN = ", ".join(of_pages("out")).encode()
AGE = b"600"  # seconds that a browser may remember
READING = SAFE | {"OPTIONS"}
_HERE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?", re.ASCII)  # origins on this machine
ORIGIN, SITE = b"origin", b"sec-fetch-site"
PAGED = frozenset({ORIGIN, SITE})  # headers of requests that need `WebPages`


class WebPages:
    """Refuses changes by web pages that may not call, and lets the others read answers (CORS).

    A browser sends simple requests of any page without asking, so their effect must be refused. Requests of programs
    have neither `Origin` nor `Sec-Fetch-Site`, and pass. Callers authenticate with Authorization, never with cookies.
    """

    def __init__(self, origins: Sequence[str], own: str | None = None) -> None:
        """`origins`: those whose pages may call; `*` allows every origin. `own` is a path of our own pages.

        Below `own`, only pages of this server may call.
        """
        self._origins, self._every = frozenset(origins), "*" in origins
        self._own = own

    async def shown(self, scope: HTTPScope, given: Mapping[bytes, bytes], send: Send) -> Send | None:
        """Return what sends the answer to a request with the headers `given`; None when it is answered here.

        Raises:
            HttpError: the page may not call.
        """
        origin = given[ORIGIN].decode("latin-1") if ORIGIN in given else None
        own_only = self._own is not None and f"{scope['path']}/".startswith(f"{self._own}/")
        allowed = not own_only and self._allows(origin, given.get(b"host", b"").decode("latin-1"))
        if scope["method"] not in READING and not allowed and not own_site([*scope["headers"]]):
            page = "another site" if origin is None else repr(origin[:80])
            raise HttpError("forbidden_origin", f"pages of {page} may not call; MUISTI_ORIGINS names those that may")
        if origin is None or not allowed:
            return send
        shared = [(b"access-control-allow-origin", given[ORIGIN]), (b"vary", b"Origin")]
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in given:
            preflight = [
                (b"access-control-allow-methods", METHODS),
                (b"access-control-allow-headers", TAKEN),
                (b"access-control-max-age", AGE),
            ]
            await send({"type": "http.response.start", "status": 204, "headers": [*shared, *preflight]})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return None

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *shared, (b"access-control-expose-headers", SHOWN)]
            await send(message)

        return dressed

    def _allows(self, origin: str | None, host: str) -> bool:
        """Return whether a page may call: its origin is listed, or page and server are both on this machine."""
        if self._every or origin is None or origin in self._origins:
            return self._every or origin is not None
        server = host_of(host)
        return _HERE.fullmatch(origin) is not None and (server == "localhost" or is_address(server))

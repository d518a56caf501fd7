"""Cookies of the console: the key of a browser's session, and the tokens of its forms.

A session is a key that was made with the key of the person. So it ends with that key, and a list of keys shows it.
The cookie authenticates reads alone. What changes something comes through a form of the console, which checks a token.
"""

import hashlib
import hmac
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie

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


def session_of(method: str, headers: Sequence[Header]) -> str | None:
    """Return the key of the session that a read is sent with; None for writes and for requests of other sites."""
    if method not in SAFE or not own_site(headers):
        return None
    return cookie_of(headers, SESSION)


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

"""Answers of the console: pages, redirects after a form, and refusals as pages."""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from litestar import Request, Response
from litestar.exceptions import HTTPException

from muisti.client import MuistiError
from muisti.service.auth.browser import FORM, form_token, set_cookie
from muisti.service.console.mount import ROOT
from muisti.service.console.render import HEADERS, View, draw
from muisti.service.console.sections import OF_SERVER, OF_SPACE, PRESENT_ONLY
from muisti.service.console.told import SENTENCES
from muisti.service.console.visit import OF_NOW, NotSignedIn, Visit, cookie, link
from muisti.service.schemas.errors import crash

SECURE = "console.secure"  # key under which the state of the application says that the server is behind HTTPS

Asked = Request[Any, Any, Any]


def page(visit: Visit, view: View) -> Response[str]:
    """Draw a page for a visitor."""
    return drawn(visit.request, view, visit)


async def long_page(visit: Visit, view: View) -> Response[str]:
    """Draw a page of long texts on a thread, so that the event loop goes on meanwhile."""
    return await asyncio.to_thread(page, visit, view)


def drawn(request: Asked, view: View, visit: Visit | None = None) -> Response[str]:
    """Draw a page; without a visit it is one that needs no key, such as the sign-in."""
    kept = cookie(request, FORM)
    headers: dict[str, str] = {**HEADERS, **view.headers}
    if kept is None:
        kept = secrets.token_urlsafe(32)
        headers["Set-Cookie"] = set_cookie(FORM, kept, secure=secure(request))
    said = request.query_params.get("said", "")
    shared: Mapping[str, Any] = {
        "visit": visit,
        "form_token": form_token(kept),
        "sections": () if visit is None or visit.space is None else _of(visit, OF_SPACE),
        "server_sections": () if visit is None else _of(visit, OF_SERVER),
        "present_only": PRESENT_ONLY,
        "said": SENTENCES.get(said),
        "undoable": request.query_params.get("undo") if said in SENTENCES else None,
        "here": _here(request),
        "fields": [(name, value) for name, value in request.query_params.multi_items() if name not in OF_NOW],
    }
    content = draw(view, shared, part=visit is not None and visit.is_fragment)
    return Response(content, media_type="text/html; charset=utf-8", status_code=view.status, headers=headers)


def done(visit: Visit, path: str, said: str, *, undo: str | None = None, **params: Any) -> Response[None]:
    """Redirect to a page after a change. `said` is a code of `SENTENCES`; `undo` the request that can be undone."""
    assert said in SENTENCES
    return see_other(visit.to(path, said=said, undo=undo, **params))


def see_other(url: str, headers: Mapping[str, str] | None = None) -> Response[None]:
    """Redirect, so that a reload sends no form again. The URL is one of the console's own."""
    assert is_own(url)
    return Response(None, status_code=303, headers={**HEADERS, "Location": url, **(headers or {})})


def is_own(url: str) -> bool:
    """Tell whether a URL is a page of the console on this server.

    >>> [is_own(url) for url in ("/console/keys", "/", "//evil.example", "/console\\\\..", "https://evil.example/console")]
    [True, True, False, False, False]
    """
    if any(ord(sign) < 33 or sign == "\\" for sign in url):
        return False
    parts = urlsplit(url)
    own = parts.path == "/" or parts.path == ROOT or parts.path.startswith(ROOT + "/")
    return not parts.scheme and not parts.netloc and own and ".." not in parts.path.split("/")


def secure(request: Asked) -> bool:
    """Tell whether browsers reach the server over HTTPS."""
    return request.scope["scheme"] == "https" or bool(request.app.state[SECURE])


def refused(request: Asked, error: MuistiError) -> Response[str]:
    """Draw a refusal of the API: what is wrong, and what to do."""
    problem = error.problem
    model = {
        "status": error.status,
        "title": problem.get("title") or "The server refused",
        "detail": str(error),
        "errors": error.errors,
        "code": error.code,
    }
    return _alone(request, View("refused.html", model, block="refusal", status=error.status))


def not_signed_in(request: Asked, _: NotSignedIn) -> Response[None]:
    """Send the browser to the sign-in, and from there back to the page."""
    back = _here(request) if request.method == "GET" and "hx-request" not in request.headers else ROOT
    url = link("sign-in", None, {"next": back})
    if "hx-request" in request.headers:
        return Response(None, status_code=401, headers={**HEADERS, "HX-Redirect": url})
    return see_other(url)


def failed(request: Asked, error: HTTPException) -> Response[str]:
    """Draw an error of the console itself: a missing page, a parameter that cannot be read, a form of another site."""
    model = {"status": error.status_code, "title": _TITLES.get(error.status_code, "That did not work")}
    more = {"detail": str(error.detail), "errors": [], "code": ""}
    return _alone(request, View("refused.html", model | more, block="refusal", status=error.status_code))


def crashed(request: Asked, error: Exception) -> Response[str]:
    """Draw a fault of our own; the log has its details under the id of the request."""
    found = crash(error, request.scope["request_id"])  # pyright: ignore[reportGeneralTypeIssues]  # set by our middleware
    model = {"status": 500, "title": "That went wrong here", "detail": found.detail, "errors": [], "code": found.code}
    return _alone(request, View("refused.html", model, block="refusal", status=500))


def _alone(request: Asked, view: View) -> Response[str]:
    """Draw a page outside of a visit; htmx gets the part that it can place."""
    if "hx-request" not in request.headers:
        return drawn(request, view)
    html = draw(view, {"visit": None}, part=True)
    return Response(html, media_type="text/html; charset=utf-8", status_code=view.status, headers=HEADERS)


def _here(request: Asked) -> str:
    """Return the URL of a request on this server, without what was said after a change."""
    path = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")  # some servers leave the query string in it
    given = [
        (name, value) for name, value in request.query_params.multi_items() if name not in ("said", "undo", "back")
    ]
    return path + (f"?{urlencode(given)}" if given else "")


def _of(visit: Visit, sections: Any) -> list[Any]:
    return [one for one in sections if one.needs == "key" or visit.may(one.needs)]


_TITLES = {403: "This form was refused", 404: "There is no such page", 405: "That is no page to read"}

"""How pages are declared and answered: pages, redirects after a form, refusals, and what they all show."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from muisti.client import MuistiError
from muisti.service.auth.browser import FORM, form_token, set_cookie
from muisti.service.console import ROOT
from muisti.service.console.early import Early
from muisti.service.console.filter_form import Unreadable
from muisti.service.console.render import HEADERS, View, draw
from muisti.service.console.versions import around, diff
from muisti.service.console.visit import OF_NOW, NotSignedIn, Visit, cookie, link
from muisti.service.schemas.errors import crash

SENTENCES: Mapping[str, str] = {
    "added": "The memory was saved.",
    "changed": "The memory was changed.",
    "selected_changed": "The selected memories were changed.",
    "selected_replaced": "This memory replaced those that you selected. Undo brings them back.",
    "deleted": "The memory was deleted. You can restore it from its history.",
    "restored": "The earlier version is current again.",
    "judged": "Your rating was saved.",
    "unchanged": "There were no changes to save.",
    "replaced": "The memory was replaced.",
    "erasing": "The erasure has begun. Its report appears here.",
    "saved": "The change was saved.",
    "deleted_conversation": "The conversation was deleted, with its topics and turns.",
    "deleted_session": "The session was deleted, with its conversations.",
    "deleted_document": "The document was deleted, with its chunks.",
    "stored_document": "The document was stored.",
    "stored_documents": "The files were stored or are being read; those still being read are listed first.",
    "cancelled": "The task was cancelled. What it stored so far stays.",
    "kept": "The answer was kept as a receipt.",
    "superseded": "The new memory replaced the other. Undo opens the conflict again.",
    "rejected": "The new memory was deleted. Undo brings it back and opens the conflict again.",
    "kept_both": "Both memories stay. No memory changed, so there is nothing to undo.",
    "merged": "The names were merged. Undo separates them again.",
    "kept_apart": "The names stay separate. Undo proposes them again.",
    "mended": "The finding was fixed.",
    "nothing_to_mend": "The finding is gone: it was fixed, or its memory has changed.",
    "promoted": "The candidates are now active.",
    "pruned": "The candidates are now deprecated. Nothing was deleted.",
    "marked": "The checkpoint was created.",
    "unmarked": "The checkpoint was deleted. No memory changed.",
    "rolled_back": "The space is as it was at that time.",
    "undone": "Undone: everything is as it was before.",
    "reads_forgotten": "The reads of this space were cleared, and the questions without an answer.",
    "probe_added": "The probe was added. Run all probes to see its rank.",
    "probe_deleted": "The probe was deleted.",
    "probes_run": "All probes have run.",
    "signed_out": "You are signed out, and the session key was revoked.",
    "key_revoked": "The key was revoked, and so were all keys that it created.",
    "import_begun": "The file was uploaded and is being imported.",
    "import_undone": "The import was undone: its memories were deleted.",
    "task_cancelled": "The task was cancelled. What it stored so far stays.",
    "webhook_deleted": "The webhook was deleted.",
    "webhook_again": "The changes are being sent again.",
    "space_made": "The space was created.",
    "setting_changed": "The change was saved.",
    "building": "The model is embedding the space.",
}


class Section(NamedTuple):
    """`path` is below that of the space; empty for the page of the space itself. `needs` is the scope of a key.

    `past`: its pages can show what was at another time; the others say that they cannot.
    """

    name: str
    title: str
    path: str
    needs: str = "read"
    past: bool = True


OF_SPACE = (
    Section("space", "Overview", ""),
    Section("ask", "Ask", "ask"),
    Section("memories", "Memories", "memories"),
    Section("conversations", "Conversations", "conversations"),
    Section("documents", "Documents", "documents"),
    Section("graph", "Graph", "graph"),
    Section("review", "Review", "review", past=False),
    Section("time", "Time", "time", past=False),
    Section("live", "Live", "live", past=False),
    Section("quality", "Quality", "quality", past=False),
    Section("imports", "Imports and exports", "imports", past=False),
    Section("settings", "Settings", "settings", "admin", past=False),
    Section("tasks", "Tasks", "tasks", "key", past=False),
    Section("webhooks", "Webhooks", "webhooks", "admin", past=False),
)
OF_SERVER = (Section("keys", "Keys", "keys", "key"), Section("connect", "Connect an agent", "connect", "key"))
PRESENT_ONLY = frozenset({*(one.name for one in OF_SPACE if not one.past), *(one.name for one in OF_SERVER)})


Model = dict[str, Any]
Answer = View | Response[Any]
Read = Callable[..., Awaitable[Model | Answer]]
Act = Callable[..., Awaitable[Answer]]
PAGES: list[HTTPRouteHandler] = []  # all pages, which `shows` and `does` declare
_PARAMETER = re.compile(r"\{(\w+)\}")
SECURE = "console.secure"  # key under which the state of the application says that the server is behind HTTPS

Asked = Request[Any, Any, Any]


def shows(path: str, template: str = "", *, block: str | None = None, **more: Any) -> Callable[[Read], Read]:
    """Declare a page below the space, or of the console when `path` begins with a slash.

    The function gets the visit and the parameters of the path, and returns the values of the template or an answer.
    `more` are values for the template too.
    """

    def declare(read: Read) -> Read:
        async def answer(visit: Visit) -> Response[Any]:
            found = await read(visit, **visit.request.path_params)
            if isinstance(found, Response):
                return found
            view = found if isinstance(found, View) else View(template, more | found, block)
            return await _page(visit, view)

        async def handler(request: Asked) -> Response[Any]:
            return await early.answer(request, answer)

        PAGES.append(get(_paths(path))(handler))
        return read

    return declare


def does(path: str) -> Callable[[Act], Act]:
    """Declare what a form does. The function returns where to go next, or a view; `visit.form` is what was sent."""

    def declare(act: Act) -> Act:
        async def handler(visit: NamedDependency[Visit]) -> Response[Any]:
            visit.form = await visit.request.form()
            found = await act(visit, **visit.request.path_params)
            if isinstance(found, View):
                return await _page(visit, found)
            return _to_script(found) if visit.is_fragment else found

        PAGES.append(post(_paths(path), status_code=200)(handler))
        return act

    return declare


def _to_script(found: Response[Any]) -> Response[Any]:
    """Name the next page to the script that sent the form: it cannot read where a redirect leads."""
    if found.status_code != 303:
        return found
    headers = {name: value for name, value in found.headers.items() if name.lower() != "location"}
    return Response(None, status_code=204, headers={**headers, "HX-Redirect": found.headers["Location"]})


async def _page(visit: Visit, view: View) -> Response[str]:
    """Draw a page on a thread, so that the event loop goes on meanwhile: a list takes tens of milliseconds."""
    return await asyncio.to_thread(drawn, visit.request, view, visit)


def _paths(path: str) -> list[str]:
    """Return the paths of a page for the router.

    >>> _paths("tasks/{task}"), _paths("/keys")
    (['/console/spaces/{space:str}/tasks/{task:str}'], ['/console/keys'])
    """
    whole = ROOT + path if path.startswith("/") else f"{ROOT}/spaces/{{space}}/{path}"
    return [_PARAMETER.sub(r"{\1:str}", whole.rstrip("/")), *(["/"] if path == "/" else [])]


def drawn(request: Asked, view: View, visit: Visit | None = None) -> Response[str]:
    """Draw a page; without a visit it is one that needs no key, such as the sign-in."""
    kept = cookie(request, FORM)
    headers: dict[str, str] = {**HEADERS, **view.headers}
    if kept is None:
        kept = request.scope.setdefault("state", {}).setdefault(FORM, secrets.token_urlsafe(32))
        headers["Set-Cookie"] = set_cookie(FORM, kept, secure=secure(request))
    said = request.query_params.get("said", "")
    shared: Mapping[str, Any] = {
        "visit": visit,
        "form_token": form_token(kept),
        "sections": () if visit is None or visit.space is None else _of(visit, OF_SPACE),
        "server_sections": () if visit is None else _of(visit, OF_SERVER),
        "present_only": PRESENT_ONLY,
        "said": SENTENCES.get(said),
        "server_url": f"{request.scope['scheme']}://{request.headers.get('host', 'localhost')}",
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


def back_from(visit: Visit, said: str, *, undo: str | None = None) -> Response[None]:
    """Redirect after a change to the page that its form names in `back`, else to the page of the space."""
    back = visit.field("back")
    url = back if is_own(back) else visit.to()
    given = urlencode({"said": said, **({} if undo is None else {"undo": undo})})
    return see_other(f"{url}{'&' if '?' in url else '?'}{given}")


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
    title = error.problem.get("title") or "The server refused"
    return _refusal(request, error.status, title, str(error), error.code, error.errors)


def not_signed_in(request: Asked, _: NotSignedIn) -> Response[None]:
    """Send the browser to the sign-in, and from there back to the page."""
    back = _here(request) if request.method == "GET" and "hx-request" not in request.headers else ROOT
    url = link("sign-in", None, {"next": back})
    if "hx-request" in request.headers:
        return Response(None, status_code=401, headers={**HEADERS, "HX-Redirect": url})
    return see_other(url)


def failed(request: Asked, error: HTTPException) -> Response[str]:
    """Draw an error of the console itself: a missing page, a parameter that cannot be read, a form of another site."""
    title = _TITLES.get(error.status_code, "That did not work")
    return _refusal(request, error.status_code, title, str(error.detail))


def crashed(request: Asked, error: Exception) -> Response[str]:
    """Draw a fault of our own; the log has its details under the id of the request."""
    found = crash(error, request.scope["request_id"])  # pyright: ignore[reportGeneralTypeIssues]  # set by our middleware
    return _refusal(request, 500, "That went wrong here", found.detail, found.code)


def _refusal(
    request: Asked, status: int, title: str, detail: str, code: str = "", errors: Sequence[Any] = ()
) -> Response[str]:
    """Draw a page outside of a visit; htmx gets the part that it can place."""
    part = "hx-request" in request.headers
    model = {"status": status, "title": title, "detail": detail, "errors": errors, "code": code, "part": part}
    view = View("refused.html", model, block="refusal", status=status)
    if not part:
        return drawn(request, view)
    html = draw(view, {"visit": None}, part=True)
    return Response(html, media_type="text/html; charset=utf-8", status_code=status, headers=HEADERS)


def _here(request: Asked) -> str:
    """Return the URL of a request on this server, without what was said after a change."""
    path = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")  # some servers leave the query string in it
    given = [
        (name, value) for name, value in request.query_params.multi_items() if name not in ("said", "undo", "back")
    ]
    return path + (f"?{urlencode(given)}" if given else "")


def _of(visit: Visit, sections: Any) -> list[Any]:
    return [one for one in sections if one.needs == "key" or visit.may(one.needs)]


def _frame(request: Asked, visit: Visit) -> Response[str]:
    """Draw a page without its content, as its path names it."""
    place = request.scope["path"].removeprefix(ROOT).strip("/").split("/")
    place = place[2:] if visit.space is not None else place
    first = place[0] if place else ""
    section = next((one.name for one in (*OF_SPACE, *OF_SERVER) if one.path == first), first)
    return drawn(request, View("waiting.html", {"section": section}), visit)


REFUSED = {MuistiError: refused, NotSignedIn: not_signed_in, HTTPException: failed, Exception: crashed}
early = Early(_frame, REFUSED)

_TITLES = {403: "This form was refused", 404: "There is no such page", 405: "That is no page to read"}


def problem_of(error: Unreadable | MuistiError, text: str = "") -> dict[str, Any]:
    """Return what a form shows of a refusal; memories in the way with the words in which `text` differs from them."""
    if isinstance(error, Unreadable):
        errors = [{"path": error.path, "message": str(error)}]
        return {"detail": "A field cannot be read.", "errors": errors, "conflicts": []}
    detail = error.problem.get("title") if error.conflicts or error.errors else str(error)
    conflicts = [{**one, "pieces": around(diff(one["content"], text))} for one in error.conflicts]
    return {"detail": detail, "errors": error.errors, "conflicts": conflicts}


def status_of(error: Unreadable | MuistiError) -> int:
    """Return the status of a page that shows a refusal."""
    return error.status if isinstance(error, MuistiError) else 422

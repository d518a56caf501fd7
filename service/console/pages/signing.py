"""Sign in and out. A session is a key made with the visitor's key; it ends with it, or after half a day."""

from datetime import UTC, datetime, timedelta
from typing import Any

from litestar import Request, Response, get, post

from muisti.client import MuistiError
from muisti.client.types import AccessReply, KeyBody
from muisti.service.auth.browser import SESSION, set_cookie
from muisti.service.console.answers import drawn, is_own, secure, see_other
from muisti.service.console.api import api_of
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.visit import cookie, host_of, link

HOURS = 12
NAME_MAX = 100
SESSION_NAME = "Console of "  # begins the names of the keys of sessions


@get(f"{ROOT}/sign-in")
async def show_sign_in(request: Request) -> Response[str]:
    """Ask for a key."""
    return _form(request, request.query_params.get("next", ""))


@post(f"{ROOT}/sign-in", status_code=200)
async def sign_in(request: Request) -> Response[Any]:
    """Make a session of a key. The key itself goes nowhere but to the API, once."""
    form = await request.form()
    key, back = str(form.get("key", "")).strip(), str(form.get("next", ""))
    try:
        async with api_of(request.app.state["api"], host_of(request), key) as api:
            made = await api.create_key(_session(await api.get_access()))
    except MuistiError as error:
        if error.status not in (401, 403):
            raise
        return _form(request, back, str(error) if key else "Paste a key: it begins with mk_.", status=401)
    given = set_cookie(SESSION, made["key"], secure=secure(request), seconds=HOURS * 3600)
    return see_other(back if is_own(back) else ROOT, {"Set-Cookie": given})


@post(f"{ROOT}/sign-out")
async def sign_out(request: Request) -> Response[None]:
    """Revoke the session's key, and remove its cookie."""
    key = cookie(request, SESSION)
    if key is not None:
        async with api_of(request.app.state["api"], host_of(request), key) as api:
            try:
                access = await api.get_access()
                if access["key_id"] is not None:
                    await api.revoke_key(access["key_id"])
            except MuistiError as error:
                if error.status != 401:  # it has ended already
                    raise
    gone = set_cookie(SESSION, "", secure=secure(request), seconds=0)
    return see_other(link("sign-in", None, {"said": "signed_out"}), {"Set-Cookie": gone})


def _session(access: AccessReply) -> KeyBody:
    """Return the key of a session: as strong as the visitor's, for half a day at most."""
    until = datetime.now(UTC) + timedelta(hours=HOURS)
    if access["expires_at"] is not None:
        until = min(until, datetime.fromisoformat(access["expires_at"]))
    return {
        "name": f"{SESSION_NAME}{access['name'] or access['actor']}"[:NAME_MAX],
        "scopes": access["scopes"],
        "spaces": access["spaces"],
        "category": access["category"],
        "source_class": access["source_class"],
        "expires_at": until.isoformat(),
        "bound": True,
    }


def _form(request: Request, back: str, problem: str | None = None, status: int = 200) -> Response[str]:
    return drawn(request, View("sign_in.html", {"next": back, "problem": problem}, status=status))


ROUTES = (show_sign_in, sign_in, sign_out)

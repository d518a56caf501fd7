"""The first page: the spaces of the visitor with their sizes, how to connect an agent, and signing in and out.

A session is a key made with the visitor's key. It ends with that key, or after half a day.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from litestar import Request, Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from muisti.client import MuistiError, calls
from muisti.client.types import AccessReply, KeyBody
from muisti.service.auth.browser import SESSION, set_cookie
from muisti.service.connect.clients import CLIENTS
from muisti.service.console import ROOT
from muisti.service.console.answers import Model, does, drawn, is_own, secure, see_other, shows
from muisti.service.console.render import STATIC, View, assets
from muisti.service.console.visit import Visit, api_of, cookie, host_of, link

TIMED = 8  # operations whose times are shown


@shows("/", "home.html")
async def show_home(visit: Visit) -> Model:
    """Show the spaces, with what is in them and whether they are well."""
    spaces = (await visit.api.list_spaces())["items"]
    times: Sequence[Any] = ()
    if visit.may("admin") and "*" in visit.access["spaces"]:
        times = (await visit.api.get_server_stats())["operations"][:TIMED]
    first = visit.may_change("append") and empty(spaces)
    return {
        "spaces": spaces,
        "ready": await visit.api.get_readiness(),
        "connecting": connecting(visit),
        "first": visit.to("memories", space=spaces[0]["name"]) if first else None,
        "times": times,
    }


@does("/spaces")
async def make_space(visit: Visit) -> Response[None]:
    """Make a space, and open it."""
    description = visit.field("description").strip()
    asked: Any = {"name": visit.field("name").strip(), **({"description": description} if description else {})}
    made = await visit.send(calls.create_space(asked))
    return see_other(visit.to("", space=made.data["name"], said="space_made"))


def empty(spaces: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a server has spaces and no memory in any of them, as far as the visitor knows.

    >>> empty([{"use": {"memories": 0}}]), empty([{"use": None}]), empty([])
    (True, False, False)
    """
    return bool(spaces) and all(one["use"] is not None and one["use"]["memories"] == 0 for one in spaces)


@shows("/connect", "connect.html")
async def show_connect(visit: Visit) -> Model:
    """Show the lines that connect each agent."""
    return {"connecting": connecting(visit), "url": url_of(visit)}


def url_of(visit: Visit) -> str:
    """Return the address by which the browser reaches the server."""
    return f"{visit.request.scope['scheme']}://{host_of(visit.request)}"


def connecting(visit: Visit) -> list[tuple[str, str]]:
    """Return each agent with the command that connects it to this server."""
    return [(name, f"muisti connect {name} --url {url_of(visit)}") for name in CLIENTS]


HOURS = 12
NAME_MAX = 100
SESSION_NAME = "Console of "  # begins the names of the keys of sessions


@get(f"{ROOT}/sign-in")
async def show_sign_in(request: Request) -> Response[str]:
    """Ask for a key."""
    return _sign_in_form(request, request.query_params.get("next", ""))


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
        return _sign_in_form(request, back, str(error) if key else "Paste a key: it begins with mk_.", status=401)
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


def _sign_in_form(request: Request, back: str, problem: str | None = None, status: int = 200) -> Response[str]:
    return drawn(request, View("sign_in.html", {"next": back, "problem": problem}, status=status))


FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "Cross-Origin-Resource-Policy": "same-origin"}


@get(f"{STATIC}/{{name:path}}")
async def get_file(name: FromPath[str]) -> Response[bytes]:
    """Read a file. Its URL changes with its content, so browsers keep it."""
    found = assets().get(name.removeprefix("/"))
    if found is None:
        raise NotFoundException("The console has no such file.")
    return Response(found.content, media_type=found.media, headers=FOREVER)

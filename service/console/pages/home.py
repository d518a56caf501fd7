"""The first page: the spaces of the visitor with their sizes, and how to connect an agent."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency

from muisti.client import calls
from muisti.service.connect.clients import CLIENTS
from muisti.service.console.answers import page, see_other
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.visit import Visit, host_of

TIMED = 8  # operations whose times are shown


@get(["/", ROOT])
async def show_home(visit: NamedDependency[Visit]) -> Response[str]:
    """Show the spaces, with what is in them and whether they are well."""
    spaces = (await visit.api.list_spaces())["items"]
    times: Sequence[Any] = ()
    if visit.may("admin") and "*" in visit.access["spaces"]:
        times = (await visit.api.get_server_stats())["operations"][:TIMED]
    first = visit.may_change("append") and empty(spaces)
    model = {
        "spaces": spaces,
        "ready": await visit.api.get_readiness(),
        "connecting": connecting(visit),
        "first": visit.to("memories", space=spaces[0]["name"]) if first else None,
        "times": times,
    }
    return page(visit, View("home.html", model))


@post(f"{ROOT}/spaces")
async def make_space(request: Request, visit: NamedDependency[Visit]) -> Response[None]:
    """Make a space, and open it."""
    form = await request.form()
    description = str(form.get("description", "")).strip()
    asked: Any = {"name": str(form.get("name", "")).strip(), **({"description": description} if description else {})}
    made = await visit.send(calls.create_space(asked))
    return see_other(visit.to("", space=made.data["name"], said="space_made"))


def empty(spaces: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a server has spaces and no memory in any of them, as far as the visitor knows.

    >>> empty([{"use": {"memories": 0}}]), empty([{"use": None}]), empty([])
    (True, False, False)
    """
    return bool(spaces) and all(one["use"] is not None and one["use"]["memories"] == 0 for one in spaces)


@get(f"{ROOT}/connect")
async def show_connect(visit: NamedDependency[Visit]) -> Response[str]:
    """Show the lines that connect each agent."""
    return page(visit, View("connect.html", {"connecting": connecting(visit), "url": url_of(visit)}))


def url_of(visit: Visit) -> str:
    """Return the address by which the browser reaches the server."""
    return f"{visit.request.scope['scheme']}://{host_of(visit.request)}"


def connecting(visit: Visit) -> list[tuple[str, str]]:
    """Return each agent with the command that connects it to this server."""
    return [(name, f"muisti connect {name} --url {url_of(visit)}") for name in CLIENTS]


ROUTES = (show_home, make_space, show_connect)

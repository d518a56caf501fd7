"""The first page: the spaces of the visitor with their sizes, and how to connect an agent."""

from litestar import Response, get
from litestar.di import NamedDependency

from muisti.service.connect.clients import CLIENTS
from muisti.service.console.answers import page
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.visit import Visit, host_of


@get(["/", ROOT])
async def show_home(visit: NamedDependency[Visit]) -> Response[str]:
    """Show the spaces, with what is in them and whether they are well."""
    spaces = (await visit.api.list_spaces())["items"]
    ready = await visit.api.get_readiness()
    return page(visit, View("home.html", {"spaces": spaces, "ready": ready, "connecting": connecting(visit)}))


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


ROUTES = (show_home, show_connect)

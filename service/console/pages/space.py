"""The page of a space: what is in it, what has changed lately, and the first memory of an empty space."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.service.console.answers import page
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.visit import Visit


@get(f"{ROOT}/spaces/{{space:str}}")
async def show_space(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a space with its sizes."""
    model = {"found": await visit.api.get_space(space), "stats": await visit.api.get_stats(space, **visit.at)}
    return page(visit, View("space.html", model))


ROUTES = (show_space,)

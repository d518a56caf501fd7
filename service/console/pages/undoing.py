"""Undo of what a page has just done, by the id of its request."""

from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.service.console.answers import is_own, see_other
from muisti.service.console.mount import ROOT
from muisti.service.console.visit import Visit


@post(f"{ROOT}/spaces/{{space:str}}/undo")
async def undo(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Undo all changes of one request, and go back to the page."""
    form = await request.form()
    await visit.api.undo(space, {"request": str(form["request"])})
    back = str(form.get("back", ""))
    return see_other(back if is_own(back) else visit.to())


ROUTES = (undo,)

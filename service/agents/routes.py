"""The route of the hooks. Its bodies and answers are those of each client, so the API's document leaves it out."""

from typing import Annotated, Any, cast
from urllib.parse import unquote

from litestar import Response
from litestar.background_tasks import BackgroundTask
from litestar.params import FromPath

from muisti.service.agents.answering import Hooked
from muisti.service.http.decode import JSON
from muisti.service.http.parameters import query
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes

routes = Routes("hooks", "")

PROJECT, FOLDER = "Muisti-Project", "Muisti-Folder"
EventParameter = Annotated[str, query("The event, of a client whose bodies do not name it.")]
ProjectParameter = Annotated[str | None, query("The space of the project; as the header.")]


@routes.post("/hooks/{client:str}", status_code=200, needs="key", include_in_schema=False)
async def answer_hook(
    request: Request, client: FromPath[str], event: EventParameter = "", project: ProjectParameter = None
) -> Response[bytes]:
    """Answer an event of an agent client in the client's own form; an empty body says nothing."""
    headers = request.headers
    known = {"project": project or headers.get(PROJECT), "folder": unquote(headers.get(FOLDER, "")), "event": event}
    number = cast(dict[str, Any], request.scope).get("request_id")
    turn = request.app.state.agents.turn(Hooked.read(client, await request.body(), **known), request.access, number)
    if turn is None:
        return Response(b"", media_type=JSON)
    return Response(await turn.answer(), media_type=JSON, background=BackgroundTask(turn.keep))

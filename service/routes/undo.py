"""Undo of changes."""

from litestar import Response
from litestar.params import JSONBody

from muisti.service.auth.access import check
from muisti.service.http.parameters import KEYED
from muisti.service.http.request import Request
from muisti.service.http.respond import planned, written_headers
from muisti.service.http.routing import Routes
from muisti.service.schemas.replies import UndoReply
from muisti.service.schemas.requests import UndoBody

routes = Routes("memories")


@routes.post(
    "/undo",
    status_code=200,
    needs="delete",
    screens=True,
    problems=["changed_since", "not_undone", "address_taken", "sensitive_content"],
    standard=KEYED,
)
async def undo(request: Request, data: JSONBody[UndoBody]) -> Response[UndoReply]:
    """Undo your last call, another request, or the last changes of memories of an author.

    Without `author` and `request` it is your last call as a whole, an import too; `last` limits it to so many of your
    changes. A last call that cannot be taken back, such as a purge, is refused by name. Undo is atomic. Each memory is
    restored as it was before the first of these changes; a memory that did not exist is deleted. Later changes by
    others prevent an undo. Text that becomes current again passes the policy of the space as if it were new. Needs the
    scopes `write` and `delete`.
    """
    check(request.access, "write")
    key = await request.key()
    seen = request.memories
    undone = await request.ask(seen.write.undo, data.which(), request=key)
    return planned(undone.plan, Response(UndoReply.of(undone), status_code=200, headers=written_headers(undone)))

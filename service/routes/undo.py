"""Undo of changes."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, request_key
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import planned, written_headers
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.replies import UndoReply
from muisti.service.schemas.requests import UndoBody


@post(
    "/undo",
    status_code=200,
    operation_id="undo",
    tags=["memories"],
    needs="delete",
    screens=True,
    problems=["changed_since", "not_undone", "address_taken", "sensitive_content"],
)
async def undo(
    request: Request,
    space: FromPath[str],
    data: JSONBody[UndoBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[UndoReply]:
    """Undo your last call, another request, or the last changes of memories of an author.

    Without `author` and `request` it is your last call as a whole, an import too; `last` limits it to so many of your
    changes. A last call that cannot be taken back, such as a purge, is refused by name. Undo is atomic. Each memory is
    restored as it was before the first of these changes; a memory that did not exist is deleted. Later changes by
    others prevent an undo. Text that becomes current again passes the policy of the space as if it were new. Needs the
    scopes `write` and `delete`.
    """
    check(access_of(request.scope), "write")
    key = await request_key(request, space, idempotency_key)
    seen = memories(request, backend, dry_run=dry_run)
    undone = await backend.store(seen.write.undo, space, data.which(), request=key)
    return planned(undone.plan, Response(UndoReply.of(undone), status_code=200, headers=written_headers(undone)))


ROUTES = (undo,)

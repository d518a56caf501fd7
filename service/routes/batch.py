"""Many memories in one request, and undo."""

from litestar import Response
from litestar.params import JSONBody
from msgspec import UNSET

from muisti.core.model.errors import InvalidInput
from muisti.service.asgi.header_names import SEQ
from muisti.service.auth.access import check
from muisti.service.http.batch import PATH, add_each, all_or_none, read_items
from muisti.service.http.parameters import KEYED, AtomicParameter, OnConflictParameter, not_with_key
from muisti.service.http.request import Request
from muisti.service.http.respond import planned, tried, written_headers
from muisti.service.http.routing import Routes
from muisti.service.schemas.replies import BatchReply, ItemsReply, UndoReply
from muisti.service.schemas.requests import BatchBody, UndoBody, on_conflict_of

routes = Routes("memories")


@routes.post(
    "/memories/batch",
    needs="append",
    screens=True,
    problems=["duplicate", "contradiction", "echo", "address_taken", "sensitive_content"],
    statuses=[200],
    standard=KEYED,
)
async def add_memories(
    request: Request, data: JSONBody[BatchBody], atomic: AtomicParameter = None, on_conflict: OnConflictParameter = None
) -> Response[BatchReply] | Response[ItemsReply]:
    """Add 1 to 1,000 memories.

    An atomic batch stores all or none: 201. With `atomic` false each memory is stored for itself, and the answer has an
    outcome for each: 200, even when some failed. A body of application/x-ndjson has one memory a line; its options are
    query parameters.
    """
    choice = on_conflict_of(data.on_conflict, on_conflict, "keep")
    if choice == "supersede":
        raise InvalidInput.at("$.on_conflict", "several memories cannot supersede in one request; send them one by one")
    key = await request.key()
    items = read_items(data.memories)
    write = request.memories.write
    if not _is_atomic(data, atomic):
        not_with_key(key)
        replies, plan = await request.backend.store(add_each, write, request.space, items, choice)
        answer = Response(replies, status_code=200, headers={SEQ: replies.seq} if replies.seq else {})
        return tried(request, answer) if plan is None else planned(plan, answer)
    added = await request.ask(write.add, all_or_none(items), on_conflict=choice, request=key, path=PATH)
    return planned(added.plan, Response(BatchReply.of(added), status_code=201, headers=written_headers(added)))


def _is_atomic(data: BatchBody, parameter: bool | None) -> bool:
    if data.atomic is not UNSET and parameter not in (None, data.atomic):
        raise InvalidInput.at("$.atomic", "has one value in the body and another in the query string")
    return data.atomic if data.atomic is not UNSET else parameter is not False


# Undo of changes


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

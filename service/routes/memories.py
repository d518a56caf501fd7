"""Memories, one at a time and as lists. One memory is named by its id, or as an entry by its category and key."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from litestar import Response
from litestar.params import JSONBody

from muisti.core.model.choices import PLACED_MAX
from muisti.core.model.errors import InvalidInput
from muisti.core.query.filters import parse_params
from muisti.core.query.points import parse
from muisti.service.auth.access import check
from muisti.service.erasure.routes import reported
from muisti.service.erasure.schemas import ErasureReply
from muisti.service.http.parameters import (
    DRY,
    GUARDED,
    HISTORY_CHARACTERS,
    KEYED,
    PAST,
    AsOfParameter,
    CursorParameter,
    IfNoneMatchHeader,
    LimitParameter,
    NoTouchParameter,
    OnConflictParameter,
    PurgeParameter,
    SortParameter,
    between,
    is_known,
    version_in,
)
from muisti.service.http.plain import add, reading
from muisti.service.http.request import Request
from muisti.service.http.respond import (
    added,
    deleted,
    followed,
    found,
    planned,
    preferred,
    read,
    tried,
    written,
)
from muisti.service.http.routing import Routes
from muisti.service.schemas.replies import (
    AddedReply,
    HistoryReply,
    MapReply,
    MemoryReply,
    PageReply,
    TelemetryReply,
    WrittenReply,
)
from muisti.service.schemas.requests import (
    AddBody,
    EntryBody,
    FeedbackBody,
    PatchBody,
    RestoreBody,
    SupersedeBody,
)

routes = Routes("memories")
entries = Routes("entries")

ONE, ENTRY = "/memories/{memory_id:str}", "/entries/{category:str}/{key:str}"
PlacedParameter = Annotated[int, between("Memories at most.", 1, PLACED_MAX)]
_WRITTEN = ["address_taken", "sensitive_content"]
F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


def of_one(method: str, end: str, entry: str, doc: str, **options: Any) -> Callable[[F], F]:
    """Register an operation for a memory by its id, and as `entry`, with its own `doc`, for the one at an address."""

    def add(function: F) -> F:
        getattr(entries, method)(ENTRY + end, name=entry, doc=doc, **options)(function)
        return getattr(routes, method)(ONE + end, **options)(function)

    return add


@routes.post(
    "/memories",
    needs="append",
    prefers=True,
    screens=True,
    problems=["duplicate", "contradiction", "echo", *_WRITTEN],
    standard=KEYED,
)
async def add_memory(
    request: Request, data: JSONBody[AddBody], on_conflict: OnConflictParameter = None
) -> Response[AddedReply]:
    """Add a memory.

    When the answer arrives, the memory is on disk and every search finds it. A memory that repeats or contradicts a
    current one is refused, unless `on_conflict` says otherwise. `keep` stores it beside the others. `supersede` puts it
    in place of the closest of them, which needs the scope `write`.
    """
    key = await request.key()
    stated = (request.scope, request.space, data, request.backend, on_conflict, key)
    return preferred(request, await add(*stated, dry_run=request.dry_run, reply=added))


@routes.get("/memories", needs="read", filters=True, problems=PAST)
async def list_memories(
    request: Request,
    limit: LimitParameter = 50,
    sort: SortParameter = None,
    cursor: CursorParameter = None,
    as_of: AsOfParameter = None,
) -> Response[PageReply]:
    """List memories, newest first unless `sort` names another order.

    Every other parameter is a filter: `tags=a,b`, `created_at.gte=2026-01-01`, `metadata.team=core`, or
    `filter=` with JSON. All must hold.
    """
    own = ("limit", "sort", "cursor", "as_of")
    filters = parse_params({name: texts for name, texts in request.query_params.dict().items() if name not in own})
    with reading(request.scope, request.backend, "list") as noted:
        ask = request.memories.read.list
        page = await request.ask(ask, filter=filters, limit=limit, sort=sort, cursor=cursor, as_of=parse(as_of))
        noted.found(request.space, page.seq, len(page.items))
    return followed(request, read(PageReply.of(page), page.seq), page.next_cursor)


@routes.get("/map", needs="read", filters=True, problems=PAST)
async def get_map(request: Request, limit: PlacedParameter = 1_000, as_of: AsOfParameter = None) -> Response[MapReply]:
    """Place the newest memories in two dimensions, close together where their meanings are.

    Filters are those of the list of memories. The same memories have the same places.
    """
    given = {name: texts for name, texts in request.query_params.dict().items() if name not in ("limit", "as_of")}
    ask = request.memories.read.map
    found = await request.ask(ask, filter=parse_params(given), limit=limit, as_of=parse(as_of))
    return read(MapReply.of(found), found.seq)


@of_one(
    "get",
    "",
    "get_entry",
    """Read the memory at an address.

    A slash within a category or key is written %2F.
    """,
    needs="read",
    statuses=[304],
    problems=PAST,
)
async def get_memory(
    request: Request,
    as_of: AsOfParameter = None,
    if_none_match: IfNoneMatchHeader = None,
    no_touch: NoTouchParameter = False,
) -> Response[MemoryReply] | Response[None]:
    """Read a memory.

    That counts as a retrieval unless `no_touch` is true.
    """
    with reading(request.scope, request.backend, "get") as noted:
        one = await request.ask(request.memories.read.get, request.name, as_of=parse(as_of), no_touch=no_touch)
        noted.found(request.space, one.seq, 1)
    return found(one, is_known=is_known(if_none_match, one.memory.etag))


@entries.put(
    ENTRY,
    needs="write",
    prefers=True,
    screens=True,
    statuses=[201],
    problems=["echo", "sensitive_content"],
    standard=GUARDED,
)
async def put_entry(request: Request, data: JSONBody[EntryBody]) -> Response[WrittenReply]:
    """Store a memory at an address, in place of what is there.

    201 when nothing was there. A memory that is there keeps its id and gets a new version, in which nothing of the old
    one is left.
    """
    given = request.path_params
    entry = data.entry(given["category"], given["key"])
    one = await request.ask(request.memories.write.put, entry, **await request.conditions())
    return preferred(request, written(one))


@of_one(
    "patch",
    "",
    "update_entry",
    """Change the memory at an address.

    Absent fields stay, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version.
    """,
    needs="write",
    prefers=True,
    screens=True,
    problems=_WRITTEN,
    standard=GUARDED,
)
async def update_memory(request: Request, data: JSONBody[PatchBody]) -> Response[WrittenReply]:
    """Change a memory.

    Absent fields stay, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version.
    """
    update = request.memories.write.update
    return preferred(
        request, written(await request.ask(update, request.name, data.changes(), **await request.conditions()))
    )


@of_one(
    "post",
    "/supersede",
    "supersede_entry",
    """Put a new memory in place of the one at an address.

    A body without category and key takes over the address.
    """,
    needs="write",
    screens=True,
    problems=_WRITTEN,
    standard=GUARDED,
)
async def supersede_memory(request: Request, data: JSONBody[SupersedeBody]) -> Response[WrittenReply]:
    """Put a new memory in place of a current one.

    Both change in one step. The old memory gets a last version that names the new one in `superseded_by`, gives up its
    address and is no longer found. The new memory names the old one in `supersedes`, and takes over its category and
    key when the body has none.
    """
    supersede = request.memories.write.supersede
    return preferred(
        request, written(await request.ask(supersede, request.name, data.draft(), **await request.conditions()))
    )


@of_one(
    "post",
    "/restore",
    "restore_entry",
    """Restore an earlier version of the memory at an address.

    The memory at the address now is restored, expired or not, else the last one that was there, even if deleted.
    """,
    status_code=200,
    needs="write",
    screens=True,
    problems=_WRITTEN,
    standard=GUARDED,
)
async def restore_memory(request: Request, data: JSONBody[RestoreBody]) -> Response[WrittenReply]:
    """Restore an earlier version of a memory.

    That makes a new version, so that nothing is lost. Deleted and superseded memories can be restored, unless their
    address belongs to another memory now. An expiry time that has passed is left out. Text that is not current in the
    memory passes the policy of the space as if it were new.
    """
    restore = request.memories.write.restore
    return preferred(
        request, written(await request.ask(restore, request.name, data.version, **await request.conditions()))
    )


@of_one(
    "delete",
    "",
    "delete_entry",
    """Delete the memory at an address.

    With `purge` it is erased with its history, and the answer is the signed report. A purge takes the memory that is
    there now, expired or not, and never one that was there before. Repeat a purge by the id in its report.
    """,
    status_code=200,
    needs="delete",
    statuses=[204],
    standard=GUARDED,
)
async def delete_memory(request: Request, purge: PurgeParameter = None) -> Response[ErasureReply] | Response[None]:
    """Delete a memory.

    Its versions stay in its history. With `purge` nothing stays, and the answer is a signed report of the places that
    were searched. A purge takes no If-Match and no Idempotency-Key: it erases all versions and can be repeated.
    """
    if not purge:
        delete = request.memories.write.delete
        return deleted(await request.ask(delete, request.name, **await request.conditions()))
    if "if-match" in request.headers or "idempotency-key" in request.headers:
        raise InvalidInput.at("$.purge", "takes no If-Match or Idempotency-Key, because repeating it is harmless")
    space, name = request.space, request.name
    eraser, caller = request.engine.eraser, request.named_caller
    if request.dry_run:
        return planned(await request.ask(eraser.plan_memory, name, caller), Response(ErasureReply()))
    return await reported(request, lambda: eraser.memory(space, name, caller))


@of_one(
    "get",
    "/history",
    "get_entry_history",
    """Read versions of the memory at an address, newest first, and what each has changed.

    The memory is the one at the address now, expired or not, else the last one that was there.
    """,
    needs="read",
)
async def get_history(
    request: Request, limit: LimitParameter = 100, cursor: CursorParameter = None
) -> Response[HistoryReply]:
    """Read versions of a memory, newest first, and what each has changed.

    A deleted or superseded memory has its history too. A page has about a million characters of text at most.
    """
    before = None if cursor is None else version_in(cursor)
    ask = request.memories.read.history
    history = await request.ask(ask, request.name, most=limit, characters=HISTORY_CHARACTERS, before=before)
    reply = HistoryReply.of(history)
    return followed(request, read(reply, history.seq), reply.next_cursor)


@of_one(
    "get",
    "/telemetry",
    "get_entry_telemetry",
    """Read how often the memory at an address was retrieved, when last, and its feedback.

    This request does not count as a retrieval.
    """,
    needs="read",
)
async def get_telemetry(request: Request) -> Response[TelemetryReply]:
    """Read how often a memory was retrieved, when last, and its feedback.

    This request does not count as a retrieval.
    """
    used = await request.ask(request.memories.review.telemetry, request.name)
    return read(TelemetryReply.of(used), used.seq)


@of_one(
    "put",
    "/feedback",
    "give_entry_feedback",
    """Say that the memory at an address was useful, or that it was not.

    Only the last verdict of each key counts; null withdraws it. Needs the scopes `read` and `append`.
    """,
    needs="append",
    standard=DRY,
)
async def give_feedback(request: Request, data: JSONBody[FeedbackBody]) -> Response[TelemetryReply]:
    """Say that a memory was useful, or that it was not.

    Only the last verdict of each key counts; null withdraws it. It changes the rank of the memory, within bounds, and
    makes neither a version nor a change. Needs the scopes `read` and `append`.
    """
    check(request.access, "read")
    used = await request.ask(request.memories.review.give_feedback, request.name, data.verdict)
    return tried(request, read(TelemetryReply.of(used), used.seq))

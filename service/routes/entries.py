"""The same memories by their address: a category and a key."""

from litestar import Response, delete, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from core.points import parse
from service.decode import Request
from service.gate import memories
from service.headers import (
    IdempotencyKeyHeader,
    IfMatchHeader,
    IfNoneMatchHeader,
    expected,
    is_known,
    request_key,
)
from service.parameters import PAST, AsOfParameter, DryRunParameter, NoTouchParameter
from service.preferences import preferred
from service.respond import deleted, found, unchanged, written
from service.schemas.replies import MemoryReply, WrittenReply
from service.schemas.requests import EntryBody
from service.workers import Backend

PATH = "/entries/{category:str}/{key:str}"


@get(PATH, operation_id="getEntry", tags=["entries"], needs="read", statuses=[304], problems=PAST)
async def get_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
    as_of: AsOfParameter = None,
    if_none_match: IfNoneMatchHeader = None,
    no_touch: NoTouchParameter = False,
) -> Response[MemoryReply] | Response[None]:
    """Read the memory at an address.

    A slash within a category or key is written %2F.
    """
    one = await backend.store(
        memories(request, backend).get_entry, space, category, key, as_of=parse(as_of), no_touch=no_touch
    )
    return unchanged(one) if is_known(if_none_match, one.memory.etag) else found(one)


@put(
    PATH,
    operation_id="putEntry",
    tags=["entries"],
    needs="write",
    prefers=True,
    screens=True,
    statuses=[201],
    problems=["echo", "sensitive_content"],
)
async def put_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    data: JSONBody[EntryBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Store a memory at an address, in place of what is there.

    201 when nothing was there. What is there keeps its id and gets a new version, with nothing of the old one left.
    """
    stored = await backend.store(
        memories(request, backend, dry_run=dry_run).put_entry,
        space,
        data.entry(category, key),
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return preferred(request, written(stored))


@delete(PATH, operation_id="deleteEntry", tags=["entries"], needs="delete")
async def delete_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[None]:
    """Delete the memory at an address."""
    ended = await backend.store(
        memories(request, backend, dry_run=dry_run).delete_entry,
        space,
        category,
        key,
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return deleted(ended)


ROUTES = (get_entry, put_entry, delete_entry)

"""Versions of the memories of a store: what was done to each, by whom, and what it said then."""

from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.filed import FileVersion
from muisti.core.query.filed import Changed
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.memory_stores.names import STORE, memory_id, version_of
from muisti.service.memory_stores.schemas import (
    FULL_MAX,
    ListReply,
    VersionReply,
    VersionsQuery,
    ViewQuery,
    asked,
    microseconds,
    page_text,
)
from muisti.service.schemas.sdk_errors import PREFIX

routes = Routes("memory-stores", PREFIX, include_in_schema=False, filters=True)
ONE = "/{store:str}/memory_versions/{version:str}"


@routes.get("/{store:str}/memory_versions", needs="read")
async def list_file_versions(request: Request) -> ListReply:
    """List what was done to the memories of a store, newest first."""
    query = asked(request, VersionsQuery)
    after = query.after
    if not (after.isdecimal() and after.isascii() and len(after) < 16 or not after):
        raise InvalidInput.at("$.page", "is none of these answers; send next_page of the page before")
    if query.session_id is not None or query.service_account_id is not None:
        return ListReply(data=[])  # everybody here is a key
    wanted = Changed(
        memory_id=None if query.memory_id is None else memory_id(query.memory_id),
        operation=query.operation,
        actor=query.api_key_id,
        since_us=microseconds(query.since),
        until_us=microseconds(query.until),
        before=int(after) if after else None,
        limit=min(query.limit, FULL_MAX) if query.view == "full" else query.limit,
    )
    page, more = await request.ask(request.memories.read.file_versions, wanted)
    shown = [VersionReply.of(one, _store(request), query.view) for one in page]
    return ListReply(data=shown, next_page=page_text(page[-1].seq) if more else None)


@routes.get(ONE, needs="read")
async def get_file_version(request: Request) -> VersionReply:
    """Read a version."""
    view = asked(request, ViewQuery).view
    return VersionReply.of(await _version(request), _store(request), view or "full")


@routes.post(f"{ONE}/redact", status_code=200, needs="admin", tag="erasure")
async def redact_file_version(request: Request) -> VersionReply:
    """Erase the text of an earlier version for good; that it was there stays known."""
    request.caller.check_whole()
    found = await _version(request)
    if found.redacted_at is None:
        redact, caller = request.engine.redaction.version, request.named_caller
        await request.ask(redact, found.memory_id, found.version, caller)
        found = await _version(request)
    return VersionReply.of(found, _store(request), "full")


async def _version(request: Request) -> FileVersion:
    """Return the version in the path of the request. Raises NotFound."""
    name = request.path_params["version"]
    memory, number, deleted = version_of(name)
    page, _ = await request.ask(request.memories.read.file_versions, Changed(memory_id=memory, version=number))
    for one in page:
        if (one.operation == "deleted") is deleted:
            return one
    raise NotFound("memory version", name)


def _store(request: Request) -> str:
    return f"{STORE}{request.space}"

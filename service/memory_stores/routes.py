"""Memory stores and their memories, as Anthropic's SDK asks for them."""

from collections.abc import Mapping

from litestar.params import JSONBody

from muisti.core.model.errors import AlreadyExists, InvalidInput, NotFound, Stale
from muisti.core.model.filed import Changed, FileVersion, Folder, Item, is_file
from muisti.core.model.spaces import Space
from muisti.core.model.times import to_us
from muisti.core.model.values import Draft, Memory
from muisti.service.auth.access import check
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.memory_stores.names import (
    STORE,
    address_of,
    memory_id,
    packed,
    path_of,
    prefix_of,
    segments,
    sent_id,
    shown_path,
    space_names,
    text_of,
    version_of,
)
from muisti.service.memory_stores.schemas import (
    FULL_MAX,
    DeletedReply,
    DeleteQuery,
    FileBody,
    FileChanges,
    FileReply,
    FilesQuery,
    FolderReply,
    ListReply,
    StoreBody,
    StoreChanges,
    StoreReply,
    StoresQuery,
    VersionReply,
    VersionsQuery,
    View,
    ViewQuery,
    asked,
    checked,
    digest_of,
    microseconds,
    page_text,
)
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.sdk_errors import PREFIX

routes = Routes("memory-stores", PREFIX, include_in_schema=False, filters=True)


@routes.post("", status_code=200, needs="admin")
async def create_memory_store(request: Request, data: JSONBody[StoreBody]) -> StoreReply:
    """Create a store: a space with a name of its own, as near to that of the store as is free."""
    access = request.access
    for name in space_names(data.name):
        if not access.grant.reaches(name):
            raise HttpError("forbidden", f"this key may not create the space {name!r}")
        request.works_in(name)
        try:
            create = request.engine.spaces.create
            return StoreReply.of(await request.backend.store(create, name, data.settings(), by=access.actor))
        except AlreadyExists:
            continue
    raise AlreadyExists(f"spaces with names such as {data.name[:80]!r} exist already")


@routes.get("", needs="key")
async def list_memory_stores(request: Request) -> ListReply:
    """List the stores that the key may use, newest first."""
    query, reaches = asked(request, StoresQuery), request.access.grant.reaches
    since, until = microseconds(query.since), microseconds(query.until)

    def wanted(space: Space) -> bool:
        at = to_us(space.created_at)
        in_time = (since is None or at >= since) and (until is None or at <= until)
        is_open = query.include_archived or space.policy.archived_us is None
        return reaches(space.name) and in_time and is_open and _place(space) > query.after

    every = [space for space, _ in await request.backend.store(request.backend.engines.spaces)]
    found = sorted(filter(wanted, every), key=_place)
    page = found[: query.limit]
    more = page_text(_place(page[-1])) if len(found) > len(page) else None
    return ListReply(data=[StoreReply.of(space) for space in page], next_page=more)


@routes.get("/{store:str}", needs="read")
async def get_memory_store(request: Request) -> StoreReply:
    """Read a store."""
    return StoreReply.of(await request.ask(request.engine.spaces.get))


@routes.post("/{store:str}", status_code=200, needs="admin")
async def update_memory_store(request: Request, data: JSONBody[StoreChanges]) -> StoreReply:
    """Change the name, the description or the metadata of a store."""
    describe = request.engine.spaces.describe
    return StoreReply.of(await request.ask(describe, data.applied, by=request.access.actor))


@routes.post("/{store:str}/archive", status_code=200, needs="admin")
async def archive_memory_store(request: Request) -> StoreReply:
    """Let a store take no more text; what is there can be read, deleted and redacted."""
    return StoreReply.of(await request.ask(request.engine.spaces.archive, by=request.access.actor))


@routes.delete("/{store:str}", status_code=200, needs="admin", tag="erasure")
async def delete_memory_store(request: Request) -> DeletedReply:
    """Erase a store with all that is in it."""
    eraser, caller = request.engine.eraser, request.named_caller
    await request.ask(eraser.space, caller, keep=False)
    return DeletedReply(id=f"{STORE}{request.space}", type="memory_store_deleted")


@routes.post("/{store:str}/memories", status_code=200, needs="append")
async def create_file(request: Request, data: JSONBody[FileBody]) -> FileReply:
    """Create a memory at a path where there is none."""
    query, at = asked(request, ViewQuery), address_of(segments(data.path))
    draft = Draft(category=at.category, key=at.key, **packed(checked(data.content or ""), {}))
    written = await request.ask(request.memories.write.add, [draft], on_conflict="keep")
    return FileReply.of(written.memories[0], query.view or "basic")


@routes.get("/{store:str}/memories", needs="read")
async def list_files(request: Request) -> ListReply:
    """List memories by their paths: all below a folder, or with `depth=1` those in it, and the folders in it."""
    query = asked(request, FilesQuery)
    limit = min(query.limit, FULL_MAX) if query.view == "full" else query.limit
    prefix = prefix_of(query.path_prefix)
    folder = Folder(prefix=prefix, deep=not query.depth, after=query.after, limit=limit)
    page, more = await request.ask(request.memories.read.files, folder)
    return ListReply(
        data=[_item(one, query.view) for one in page], next_page=page_text(page[-1].path) if more else None
    )


@routes.get("/{store:str}/memories/{file:str}", needs="read")
async def get_file(request: Request) -> FileReply:
    """Read a memory."""
    view = asked(request, ViewQuery).view
    return FileReply.of(await _file(request), view or "full")


@routes.post("/{store:str}/memories/{file:str}", status_code=200, needs="write")
async def update_file(request: Request, data: JSONBody[FileChanges]) -> FileReply:
    """Change the content or the path of a memory, or both, where its content is what the caller expects."""
    query, update = asked(request, ViewQuery), request.memories.write.update
    expected = None if data.precondition is None else data.precondition.content_sha256
    before = await _file(request, expected)
    known = None if expected is None else before.version
    written = await request.ask(update, before.id, _changes(data, before), if_match=known)
    return FileReply.of(written.memories[0], query.view or "basic")


@routes.delete("/{store:str}/memories/{file:str}", status_code=200, needs="delete")
async def delete_file(request: Request) -> DeletedReply:
    """Delete a memory, where its content is what the caller expects. Its versions stay."""
    expected = asked(request, DeleteQuery).expected_content_sha256
    before = await _file(request, expected)
    await request.ask(request.memories.write.delete, before.id, if_match=None if expected is None else before.version)
    return DeletedReply(id=sent_id(before.id), type="memory_deleted")


async def _file(request: Request, expected: str | None = None) -> Memory:
    """Return the memory in the path of the request.

    Raises:
        NotFound: there is none, or it is a part of a document or conversation.
        Stale: its content has not the SHA-256 that is expected.
        HttpError: the key may not read.
    """
    check(request.access, "read")  # an expected content could be guessed
    name = memory_id(request.path_params["file"])
    memory = (await request.ask(request.memories.read.get, name, no_touch=expected is not None)).memory
    if not is_file(memory):
        raise NotFound("memory", sent_id(name))
    if expected is not None and digest_of(text_of(memory)) != expected:
        raise Stale(memory.id, memory.version)
    return memory


def _changes(data: FileChanges, before: Memory) -> Mapping[str, object]:
    """Return the fields of a memory that change. Raises InvalidInput."""
    changes = dict[str, object]()
    if data.content is not None:
        changes |= packed(checked(data.content), before.metadata)
    if data.path is not None:
        found = segments(data.path)
        if data.path != path_of(before):
            at = address_of(found)
            changes |= {"category": at.category, "key": at.key}
    return changes


def _item(one: Item, view: View) -> FileReply | FolderReply:
    if one.memory is None:
        return FolderReply(path=shown_path(one.path, one.reach))
    return FileReply.of(one.memory, view)


def _place(space: Space) -> str:
    """Return the place of a store in the list, which sorts the newest first."""
    return f"{(1 << 62) - to_us(space.created_at):020} {space.name}"


# Versions of the memories of a store: what was done to each, by whom, and what it said then


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

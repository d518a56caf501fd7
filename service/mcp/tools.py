"""Says which tools, arguments and choices a caller sees, and runs a tool, for the fast path and for the SDK."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from muisti.core.model.errors import DatabaseDown, InvalidInput, MuistiError, NotFound, SpaceMoving, StoreUnavailable
from muisti.core.model.values import TRUST
from muisti.core.query.filter_fields import nearest
from muisti.service.auth.access import Access, single_space
from muisti.service.conversations import tools as conversations
from muisti.service.documents import tools as documents
from muisti.service.graph import tools as graph
from muisti.service.http.decode import decode, fitted
from muisti.service.mcp import admin, reads, review, writes
from muisti.service.mcp.admin import Purge
from muisti.service.mcp.refusals import NOT_OFFERED, not_offered, refused
from muisti.service.runtime.admission import LANE, Lane, is_slow_tool
from muisti.service.runtime.placing import TRIES, again
from muisti.service.schemas.errors import HttpError
from muisti.service.settings.tool_groups import Group
from muisti.service.tools.arguments import WRITING, Fetch, OneMemory, Remember, UndoChanges
from muisti.service.tools.catalog import Tool, described, fields_of, properties_of, required_of
from muisti.service.tools.session import PERSONAL, Call, Outcome, Session, told_in

Json = dict[str, Any]

TOOLS: tuple[Tool, ...] = (
    *(writes.remember, reads.recall, reads.overview, reads.get_memory, reads.list_memories),
    *(writes.update_memory, writes.forget, writes.undo, reads.memory_history, reads.list_spaces),
    *(reads.get_context, conversations.add_exchanges, conversations.conversations, writes.import_memories),
    *(reads.search, reads.fetch, admin.set_model, admin.prune_memory, admin.clear_all, admin.create_space),
    *(admin.purge, admin.get_stats, documents.add_document, documents.documents, documents.code),
    *(graph.graph, graph.state_graph, review.review, review.decide),
)
_ADDRESS = "category and key"  # of these the key alone is left to a caller of one category


def usable(access: Access) -> list[Tool]:
    """Return the tools that a caller may use, always in this order."""
    narrow, single = access.grant.category is not None, single_space(access.grant) is not None
    return [
        tool
        for tool in TOOLS
        if access.may(tool.needs)
        and not ("whole" in tool.traits and narrow)
        and not ("across" in tool.traits and single)
    ]


def offered(access: Access, groups: Collection[Group]) -> list[Tool]:
    """Return the tools of these groups that a caller may use, always in this order."""
    return [tool for tool in usable(access) if tool.group in groups]


def hidden(access: Access) -> frozenset[str]:
    """Return the names of the arguments that a caller may not use."""
    names: set[str] = set()
    if single_space(access.grant) is not None:
        names.add("space")
    if access.grant.category is not None:
        names.add("category")
    if not access.may("write"):
        names |= {"replace", "supersedes"}
    return frozenset(names)


def schema_of(tool: Tool, access: Access) -> Json:
    """Return the JSON Schema of the arguments of a tool, as a caller sees it."""
    gone = hidden(access)
    properties = {
        name: _for(access, name, described(name, schema, tool.words))
        for name, schema in properties_of(tool.arguments).items()
        if name not in gone
    }
    required = list(required_of(tool.arguments))
    if "space" in properties and not access.grant.reaches("default"):
        required.append("space")
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _for(access: Access, name: str, schema: Json) -> Json:
    """Return the schema of an argument with the words and choices that are for this caller."""
    if access.grant.category is not None:
        schema = {**schema, "description": schema["description"].replace(_ADDRESS, "key")}
    own = access.grant.source_class
    if name == "source_class" and own is not None:
        return {**schema, "enum": [one for one in schema["enum"] if TRUST[one] <= TRUST[own]]}
    if name == "action":
        return {**schema, "enum": [one for one in schema["enum"] if access.may(WRITING.get(one, "read"))]}
    if name == "on_conflict" and not access.may("write"):
        told = schema["description"].partition("; supersede:")[0]
        return {**schema, "enum": [one for one in schema["enum"] if one != "supersede"], "description": told}
    return schema


TEXTS = frozenset({"content", "contents", "text", "ndjson", "query", "idempotency_key"})  # kept as they are
MEMORY = ("id", "category", "key")  # the names of one memory


def given(kind: type[msgspec.Struct], arguments: Mapping[str, Any], gone: frozenset[str] = frozenset()) -> Json:
    """Return the arguments of a call as `kind` takes them.

    An optional argument that is null or blank is left out: clients send these for what a model leaves out. Null within
    an argument stays, since in `changes` it clears a field. A text may stand for a number, a boolean, a list or an
    object, and a single value for a list. A date counts as its midnight, and a time without a zone is in UTC.

    `gone` are arguments that the caller may not use, which no message names. For `purge` a blank is a value: it would
    otherwise erase more than was asked. For `undo` it names no memory, which otherwise means the caller's last request.

    Raises:
        InvalidInput: there is no such argument, or the memory to undo has only blank names.
    """
    fields = {field.encode_name: field for field in fields_of(kind)}
    found: Json = {}
    for name, value in arguments.items():
        field = fields.get(name)
        if field is None:
            raise InvalidInput.at(f"$.{name[:80]}", f"there is no such field{nearest(name, [*fields.keys() - gone])}")
        if name in TEXTS:
            if value is not None:
                found[name] = (
                    value if name != "contents" and isinstance(value, str) else fitted(field.type, value, _parsed)
                )
            continue
        value = value.strip() if isinstance(value, str) else value
        if value is None or (value == "" and not field.required and kind is not Purge):
            continue
        value = fitted(field.type, value, _parsed)
        found[name] = [one for one in value if one != ""] if isinstance(value, list) and _of_texts(field) else value
    if kind is UndoChanges and not found.keys() & {*MEMORY}:
        for name in MEMORY:
            if isinstance(arguments.get(name), str):
                raise InvalidInput.at(f"$.{name}", "must not be blank; leave it out to undo your own last request")
    return found


def _of_texts(field: inspect.Field) -> bool:
    kind = field.type.type if isinstance(field.type, inspect.Metadata) else field.type
    return isinstance(kind, inspect.ListType) and not isinstance(kind.item_type, inspect.DictType)


def _parsed(text: str) -> Any:
    """Return the value that a text says as JSON; `True` of Python too.

    Raises:
        ValueError: it is no JSON.
    """
    word = text.strip()
    return msgspec.json.decode(word.lower() if word in ("True", "False") else word)


def tool_of(access: Access, name: str) -> Tool | None:
    """Return a tool; None when there is none or the caller may not use it, which callers cannot distinguish."""
    return next((tool for tool in usable(access) if tool.name == name), None)


async def run(session: Session, tool: Tool, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool. A refusal is an outcome too, and raises nothing."""
    calls = session.backend.meters.tool_calls
    if tool.group not in session.groups:
        calls.add(tool.name, NOT_OFFERED)
        return not_offered(tool.name, frozenset((*session.groups, tool.group)))
    try:
        outcome = await _run(session.numbered(), tool, arguments)
    except (MuistiError, HttpError) as error:
        calls.add(tool.name, error.code)
        return refused(error, session.access)
    calls.add(tool.name, "ok")
    return outcome


async def _run(session: Session, tool: Tool, arguments: Mapping[str, Any]) -> Outcome:
    unusable = hidden(session.access)
    if gone := unusable & arguments.keys():
        raise HttpError("forbidden", f"there is no argument {', '.join(sorted(gone))} for this key; leave it out")
    raw = msgspec.json.encode(given(tool.arguments, arguments, unusable), order="deterministic")
    found: Any = decode(raw, tool.arguments)
    try:
        return await _in_space(session, tool, found, raw)
    except NotFound:
        beside = session.beside(getattr(found, "space", None)) if _names_one(found) else None
        if beside is None:
            raise
        with suppress(NotFound):
            outcome = await _in_space(beside, tool, found, raw)
            return told_in(outcome, PERSONAL) if tool.in_space else outcome
        raise


async def _in_space(session: Session, tool: Tool, found: Any, raw: bytes) -> Outcome:
    """Call a tool in its space, again where that has moved to another database meanwhile."""
    for left in reversed(range(TRIES)):
        try:
            return await _called(session, tool, found, raw)
        except (NotFound, SpaceMoving, StoreUnavailable) as error:
            space, about_memory = LANE.get().space, isinstance(error, NotFound) and error.kind != "space"
            if not left or not space or about_memory or isinstance(error, DatabaseDown):
                raise
            if not await session.backend.vital(again, session.backend.engines, space, error.code):
                raise
    raise AssertionError


async def _called(session: Session, tool: Tool, found: Any, raw: bytes) -> Outcome:
    space = session.space(found.space, tool.needs) if tool.in_space else ""
    LANE.set(Lane(is_slow_tool(tool.name, len(raw)), space, session.access.lane_key))
    memories = session.memories(dry_run=getattr(found, "dry_run", False))
    try:
        return await tool.run(Call(session, space, memories, raw), found)
    except NotFound:
        is_projects = tool.in_space and found.space is None and space == session.project != PERSONAL
        if not is_projects or space in await session.spaces():
            raise
    if session.access.may("admin"):
        await session.backend.store(session.backend.engines.ensure, space)
        return await tool.run(Call(session, space, memories, raw), found)
    return await _in_space(replace(session, project=None), tool, found, raw)


def _names_one(found: object) -> bool:
    """Tell whether arguments name a memory, which may be in the personal space beside the project's."""
    if isinstance(found, Remember):
        return found.supersedes is not None
    return isinstance(found, Fetch) or (isinstance(found, OneMemory) and (found.id or found.key) is not None)

"""What the tools do: one call of the engine each."""

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any

import msgspec

from core import filters
from core.errors import InvalidInput
from core.importing.importer import Import
from core.memories import Memories
from core.values import Memory, RequestKey
from service.access import Access, check
from service.lines import Lines
from service.mcp.arguments import (
    Forget,
    History,
    ImportMemories,
    InSpace,
    ListMemories,
    OneMemory,
    Recall,
    Remember,
    Restore,
    UpdateMemory,
    checked,
    narrowed,
)
from service.mcp.flags import flags_of, told_of
from service.mcp.history import told
from service.mcp.recall import NOTICE, fits, listed, packed, quoted, shown
from service.schemas.likeness import alike
from service.schemas.requests import on_conflict_of
from service.workers import Backend

Json = dict[str, Any]
KEY_MAX = 255  # characters


class Call(msgspec.Struct, frozen=True):
    """A tool that is called: by whom, where, on which memories, with which arguments."""

    backend: Backend
    access: Access
    space: str
    memories: Memories
    raw: bytes

    def once(self, tool: str, key: str | None) -> RequestKey | None:
        """What tells a repeated call; a retry has another id in MCP."""
        if key is None:
            return None
        if not 1 <= len(key) <= KEY_MAX or not key.isascii() or not key.isprintable():
            raise InvalidInput.at("$.idempotency_key", f"must have 1 to {KEY_MAX} visible ASCII characters")
        scope = f"mcp {self.space} {self.access.actor}"
        return RequestKey(scope, key, blake2b(tool.encode() + b"\0" + self.raw, digest_size=32).digest())


class Outcome(msgspec.Struct, frozen=True):
    """What a tool answers: for programs and for models."""

    structured: Json
    text: str
    is_error: bool = False


async def remember(call: Call, given: Remember) -> Outcome:
    request = call.once("remember", given.idempotency_key)
    category = given.category if call.access.grant.category is None else call.access.grant.category
    if given.replace:
        if category is None or given.key is None:
            raise InvalidInput.at("$.replace", "needs category and key: they say what to replace")
        written = await call.backend.store(
            call.memories.put_entry, call.space, given.entry(category, given.key), request=request
        )
    elif given.supersedes is not None:
        written = await call.backend.store(
            call.memories.supersede, call.space, given.supersedes, given.successor().draft(), request=request
        )
    else:
        choice = on_conflict_of(given.on_conflict, None, "reject")
        if choice == "supersede":
            check(call.access, "write", call.space)
        written = await call.backend.add(call.memories, call.space, given.draft(), choice, request)
    memory = written.memories[0]
    done = "Already remembered" if written.replayed else "Remembered" if written.created else "Replaced"
    similar = alike(written.similar)
    structured: Json = {"memory": shown(memory), "created": written.created, "replayed": written.replayed}
    if similar:
        structured["similar"] = msgspec.to_builtins(similar)
    structured |= flags_of(written)
    beside = f" Similar, stored beside it: {', '.join(one.id for one in written.similar)}." if similar else ""
    instead = f" It supersedes {memory.supersedes}." if memory.supersedes and written.created else ""
    return Outcome(structured, f"{done} as {memory.id}, version {memory.version}.{instead}{beside}{told_of(written)}")


async def recall(call: Call, given: Recall) -> Outcome:
    query = given.search().to_query()
    answer = await call.backend.search(call.memories, call.space, query)
    return Outcome(*packed(answer, given.max_tokens))


async def get_memory(call: Call, given: OneMemory) -> Outcome:
    if given.id is not None:
        found = await call.backend.store(call.memories.get, call.space, given.id, no_touch=given.no_touch)
    else:
        category = given.category or call.access.grant.category
        if category is None or given.key is None:
            raise InvalidInput.at("$.id", "give an id, or category and key")
        found = await call.backend.store(
            call.memories.get_entry, call.space, category, given.key, no_touch=given.no_touch
        )
    return _one(found.memory)


async def list_memories(call: Call, given: ListMemories) -> Outcome:
    narrow = narrowed(given.filter, given.category, given.tags)
    filter = None if narrow is None else filters.parse(narrow)
    max_tokens, limit, left_out = checked(given.max_tokens), given.limit, 0
    while True:
        page = await call.backend.store(
            call.memories.list_memories, call.space, filter=filter, limit=limit, cursor=given.cursor
        )
        kept = max(fits(page.items, max_tokens), 1)
        if kept >= len(page.items):
            return Outcome(*listed(page, left_out, max_tokens))
        left_out += len(page.items) - kept
        limit = kept  # asked again, because it is the page that knows its cursor


async def update_memory(call: Call, given: UpdateMemory) -> Outcome:
    changes = given.patch().changes()
    if given.feedback is not None and not changes:
        await call.backend.store(call.memories.give_feedback, call.space, given.id, given.feedback)
        found = await call.backend.store(call.memories.get, call.space, given.id, no_touch=True)
        return Outcome({"memory": shown(found.memory)}, f"Noted: {given.id} was {given.feedback.replace('_', ' ')}.")
    written = await call.backend.store(
        call.memories.update,
        call.space,
        given.id,
        changes,
        if_match=_match(given.id, given.if_version),
        request=call.once("update_memory", given.idempotency_key),
    )
    if given.feedback is not None:
        await call.backend.store(call.memories.give_feedback, call.space, given.id, given.feedback)
    memory = written.memories[0]
    text = f"{memory.id} is now at version {memory.version}.{told_of(written)}"
    return Outcome({"memory": shown(memory), **flags_of(written)}, text)


async def memory_history(call: Call, given: History) -> Outcome:
    history = await call.backend.store(call.memories.history, call.space, given.id)
    return Outcome(*told(history, given.limit))


async def restore_memory(call: Call, given: Restore) -> Outcome:
    written = await call.backend.store(
        call.memories.restore,
        call.space,
        given.id,
        given.version,
        if_match=_match(given.id, given.if_version),
        request=call.once("restore_memory", given.idempotency_key),
    )
    memory = written.memories[0]
    text = f"Restored {memory.id}: now at version {memory.version}.{told_of(written)}"
    return Outcome({"memory": shown(memory), **flags_of(written)}, text)


async def forget(call: Call, given: Forget) -> Outcome:
    await call.backend.store(
        call.memories.delete,
        call.space,
        given.id,
        if_match=_match(given.id, given.if_version),
        request=call.once("forget", given.idempotency_key),
    )
    return Outcome({"id": given.id, "deleted": True}, f"Forgot {given.id}.")


async def import_memories(call: Call, given: ImportMemories) -> Outcome:
    incoming = await call.backend.store(call.memories.begin_import, call.space, dry_run=given.dry_run)
    try:
        await call.backend.store(_take_all, incoming, given.ndjson)
        report = await call.backend.store(incoming.finish)
    finally:
        await call.backend.store(incoming.abandon)
    found = {
        "import_id": report.id,
        "dry_run": report.dry_run,
        "created": report.created,
        "versions": report.versions,
        "skipped": dict(report.skipped),
    }
    done = "would come in" if report.dry_run else "came in"
    return Outcome(found, f"{report.created} memories {done}, {sum(report.skipped.values())} were skipped")


def _take_all(incoming: Import, text: str) -> None:
    lines = Lines(incoming.take)
    lines.feed(text.encode())
    lines.end()


async def list_categories(call: Call, _: InSpace) -> Outcome:
    counts = await call.backend.store(call.memories.categories, call.space)
    found = [{"name": one.name, "count": one.count} for one in counts.items]
    text = "\n".join(f"{one['name']}: {one['count']}" for one in found) or "There are no categories yet."
    return Outcome({"categories": found}, text)


async def memory_stats(call: Call, _: InSpace) -> Outcome:
    stats = await call.backend.store(call.memories.stats, call.space)
    names = ("memories", "versions", "tokens", "content_bytes", "expired", "changes", "changes_last_day")
    found = {name: getattr(stats, name) for name in names}
    return Outcome(found, ", ".join(f"{name} {value}" for name, value in found.items()))


RUN: dict[str, Callable[[Call, Any], Awaitable[Outcome]]] = {
    "remember": remember,
    "recall": recall,
    "get_memory": get_memory,
    "list_memories": list_memories,
    "update_memory": update_memory,
    "memory_history": memory_history,
    "restore_memory": restore_memory,
    "forget": forget,
    "import_memories": import_memories,
    "list_categories": list_categories,
    "memory_stats": memory_stats,
}


def _one(memory: Memory) -> Outcome:
    found = shown(memory)
    return Outcome({"memory": found, "notice": NOTICE}, f"{NOTICE}\n\n{quoted(found)}")


def _match(memory_id: str, version: int | None) -> tuple[str, ...] | None:
    return None if version is None else (f'"{memory_id}.{version}"',)

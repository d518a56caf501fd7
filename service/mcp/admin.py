"""The tools that look after a space: statistics, pruning, and emptying it."""

from msgspec import to_builtins

from muisti.core.model.errors import Forbidden, InvalidInput
from muisti.core.model.spaces import SpaceSettings, check_name
from muisti.core.views.documents import Filter
from muisti.service.auth.administration import EVERYWHERE
from muisti.service.http.ingesting import looker
from muisti.service.mcp.arguments import InSpace
from muisti.service.mcp.calls import Call, Json, Outcome
from muisti.service.mcp.fence import one_line
from muisti.service.mcp.group_arguments import (
    ClearAll,
    CreateSpace,
    PruneMemory,
    Purge,
)
from muisti.service.mcp.rendering import counted
from muisti.service.runtime.workers import Latencies
from muisti.service.schemas.checkpoints import ClearedReply
from muisti.service.schemas.documents import PruneDocumentsReply
from muisti.service.schemas.erasure import PurgeBody
from muisti.service.schemas.replies import StatsReply
from muisti.service.schemas.spaces import SpaceReply
from muisti.service.schemas.tasks import TaskReply

_OPERATIONS = 10  # of which latencies are shown, the most frequent first
_NAMED = 20  # things that a text lists
_COUNTED = ("memories", "versions", "passages", "tokens", "content_bytes", "expired", "changes", "changes_last_day")


async def get_stats(call: Call, _: InSpace) -> Outcome:
    """Count a space: memories, chunks, documents, sizes. Administrators also get cache and latencies."""
    stats = await call.backend.store(call.memories.read.stats, call.space)
    page = await call.backend.store(call.memories.documents.page, call.space, Filter(), limit=1)
    use = call.backend.engine.models.cache.use if call.access.may("admin") else None
    reply = to_builtins(StatsReply.of(stats, use))
    found: Json = {name: reply[name] for name in _COUNTED}
    found |= {"by_kind": reply["by"]["kind"], "documents": page.totals.documents, "document_bytes": page.totals.size}
    if use is not None:
        found["embedding_cache"] = reply["embedding_cache"]
    lines = [f"{name} {value}" for name, value in found.items() if isinstance(value, int)]
    measured = call.backend.latencies
    if use is not None and measured is not None and call.access.grant.covers(EVERYWHERE):
        found["latencies"] = await _latencies(measured)
        lines += [f"{one['operation']}: p50 {one['p50']} ms, p99 {one['p99']} ms" for one in found["latencies"]]
    return Outcome(found, "\n".join(lines))


async def prune_memory(call: Call, given: PruneMemory) -> Outcome:
    """End what has lost its source, or say what would end."""
    memories = call.session.memories(dry_run=given.dry_run)
    look = looker(call.access, call.backend.uploads.folder)
    done = await call.backend.store(memories.documents.prune, call.space, given.strategy, look)
    found: Json = to_builtins(PruneDocumentsReply.of(done))
    verb = "would end" if given.dry_run else "ended"
    lines = [
        f"{kind}: {len(names)} {verb}" + "".join(f"\n- {one_line(name)}" for name in names[:_NAMED])
        for kind, names in found.items()
        if isinstance(names, list)
    ]
    lines.append(f"documents of code whose source is unknown: {done.unknown}")
    return Outcome({**found, "dry_run": given.dry_run}, "\n".join(lines))


async def clear_all(call: Call, given: ClearAll) -> Outcome:
    """Delete all memories of a space, or say how many that are; a rollback brings them back."""
    done = await call.backend.store(call.memories.timeline.clear, call.space, given.confirm)
    found: Json = {**to_builtins(ClearedReply.of(done)), "dry_run": given.dry_run}
    many = counted(done.ended, "memory", "memories")
    if given.dry_run:
        return Outcome(found, f"Dry run: {many} would be deleted.")
    return Outcome(found, f"{many} deleted; a rollback to {done.before} undoes it.")


async def create_space(call: Call, given: CreateSpace) -> Outcome:
    """Create a space that the grant includes.

    Raises:
        InvalidInput: the name is not valid.
        Forbidden: the grant does not include it.
        AlreadyExists: there is one of this name.
    """
    check_name(given.name)
    if not call.access.grant.reaches(given.name):
        raise Forbidden(f"this key may create the spaces {', '.join(call.access.grant.spaces)} only")
    settings = SpaceSettings(description=given.description)
    make = call.backend.engine.spaces.create
    space = await call.backend.store(make, given.name, settings, by=call.access.actor)
    return Outcome(to_builtins(SpaceReply.of(space)), f"Created the space {space.name}.")


async def purge(call: Call, given: Purge) -> Outcome:
    """Erase memories permanently, as a task, or count them.

    Raises:
        InvalidInput: nothing is chosen, or `confirm` is not the name of the space.
    """
    engine, store = call.backend.engine, call.backend.store
    chosen = PurgeBody(
        author=given.author, source=given.source, filter=given.filter, older_than_days=given.older_than_days
    )
    subject = chosen.subject(engine.now())
    if given.dry_run:
        plan = await store(engine.eraser.plan, call.space, subject)
        many = counted(plan.changes, "memory", "memories")
        return Outcome({"memories": plan.changes, "dry_run": True}, f"{many} would be erased.")
    if given.confirm != call.space:
        raise InvalidInput.at("$.confirm", f"to erase memories for good send the name of the space, {call.space!r}")
    caller = call.session.caller()
    task, _ = await store(engine.purge, call.space, subject, chosen.what(), caller, None)
    told = f"task {task.id} erases {counted(task.total or 0, 'group', 'groups')} of memories; its result is the report"
    return Outcome({**to_builtins(TaskReply.of(task)), "dry_run": False}, told)


async def _latencies(measured: Latencies) -> list[Json]:
    """Return the milliseconds that the most frequent operations take."""
    summary = await measured()
    return [
        {"operation": f"{one.method} {one.route}", "count": one.count, "p50": one.p50, "p95": one.p95, "p99": one.p99}
        for one in summary.operations[:_OPERATIONS]
    ]

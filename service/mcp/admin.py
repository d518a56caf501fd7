"""The tools that look after a space: statistics, pruning, emptying, erasing, and its model."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, to_builtins

from muisti.core.documents.view import Filter
from muisti.core.model.choices import PruneStrategy
from muisti.core.model.errors import Forbidden, InvalidInput
from muisti.core.model.spaces import SpaceSettings, check_name
from muisti.service.auth.access import EVERYWHERE
from muisti.service.checkpoints.schemas import ClearedReply
from muisti.service.documents.ingesting import looker
from muisti.service.documents.schemas import PruneDocumentsReply
from muisti.service.erasure.schemas import PurgeBody
from muisti.service.schemas import fields
from muisti.service.schemas.generations import GenerationReply, GenerationsReply
from muisti.service.schemas.policy import SpaceReply
from muisti.service.schemas.replies import StatsReply
from muisti.service.schemas.tasks import TaskReply
from muisti.service.tools.arguments import InSpace
from muisti.service.tools.catalog import tool
from muisti.service.tools.rendering import counted, one_line
from muisti.service.tools.session import Call, Json, Outcome

_OPERATIONS = 10  # of which latencies in ms are shown, the most frequent first
_NAMED = 20  # things that a text lists
_COUNTED = ("memories", "versions", "passages", "tokens", "content_bytes", "expired", "changes", "changes_last_day")


class PruneMemory(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A strategy of pruning. Without `dry_run: false` nothing ends."""

    strategy: PruneStrategy
    dry_run: bool = True


class ClearAll(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The phrase that confirms that a space is cleared."""

    confirm: str
    dry_run: bool = False


class CreateSpace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A space to create."""

    name: str
    description: fields.SpaceDescription | None = None


class Purge(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Memories to erase, which meet all conditions. Without `dry_run: false` none is; then `confirm` is the space."""

    author: str | None = None
    source: str | None = None
    filter: dict[str, Any] | None = None
    older_than_days: Annotated[float, Meta(gt=0, le=100_000)] | None = None
    confirm: str | None = None
    dry_run: bool = True


@tool("read", group="admin")
async def get_stats(call: Call, _: InSpace) -> Outcome:
    """Counts and sizes of a space, rate of the embedding cache, latencies."""
    stats = await call.ask(call.memories.read.stats)
    page = await call.ask(call.memories.documents.page, Filter(), limit=1)
    use = call.backend.engine.models.cache.use if call.access.may("admin") else None
    reply = to_builtins(StatsReply.of(stats, use))
    found: Json = {name: reply[name] for name in _COUNTED}
    found |= {"by_kind": reply["by"]["kind"], "documents": page.totals.documents, "document_bytes": page.totals.size}
    if use is not None:
        found["embedding_cache"] = reply["embedding_cache"]
    lines = [f"{name} {value}" for name, value in found.items() if isinstance(value, int)]
    measured = call.backend.latencies
    if use is not None and measured is not None and call.access.grant.covers(EVERYWHERE):
        found["latencies"] = [
            {
                "operation": f"{one.method} {one.route}",
                "count": one.count,
                "p50": one.p50,
                "p95": one.p95,
                "p99": one.p99,
            }
            for one in (await measured()).operations[:_OPERATIONS]
        ]
        lines += [f"{one['operation']}: p50 {one['p50']} ms, p99 {one['p99']} ms" for one in found["latencies"]]
    return Outcome(found, "\n".join(lines))


@tool("delete", "destructive", group="admin", words={"dry_run": "Default true: only tell", "strategy": "What to end"})
async def prune_memory(call: Call, given: PruneMemory) -> Outcome:
    """End what has lost its source; a rollback brings it back."""
    memories = call.session.memories(dry_run=given.dry_run)
    look = looker(call.access, call.backend.uploads.folder)
    done = await call.ask(memories.documents.prune, given.strategy, look)
    found: Json = to_builtins(PruneDocumentsReply.of(done))
    verb = "would end" if given.dry_run else "ended"
    lines = [
        f"{kind}: {len(names)} {verb}" + "".join(f"\n- {one_line(name)}" for name in names[:_NAMED])
        for kind, names in found.items()
        if isinstance(names, list)
    ]
    lines.append(f"documents of code whose source is unknown: {done.unknown}")
    return Outcome({**found, "dry_run": given.dry_run}, "\n".join(lines))


@tool("delete", "destructive", "whole", "staged", group="admin")
async def clear_all(call: Call, given: ClearAll) -> Outcome:
    """Delete all memories of a space; a rollback brings them back."""
    if call.session.confirmed is not None and not given.dry_run:
        await call.ask(call.session.memories(dry_run=True).timeline.clear, given.confirm)
        stats = await call.ask(call.memories.read.stats)
        question = f"Delete everything in the space {call.space}, {counted(stats.memories)}? A rollback brings it back."
        if refused := await call.refused(question):
            return refused
    done = await call.ask(call.memories.timeline.clear, given.confirm)
    found: Json = {**to_builtins(ClearedReply.of(done)), "dry_run": given.dry_run}
    many = counted(done.ended, "memory", "memories")
    if given.dry_run:
        return Outcome(found, f"Dry run: {many} would be deleted.")
    return Outcome(found, f"{many} deleted; a rollback to {done.before} undoes it.")


@tool("admin", "across", group="admin", words={"name": "e.g. acme.shop", "description": "What it is for"})
async def create_space(call: Call, given: CreateSpace) -> Outcome:
    """Create an empty space."""
    check_name(given.name)
    if not call.access.grant.reaches(given.name):
        raise Forbidden(f"this key may create the spaces {', '.join(call.access.grant.spaces)} only")
    settings = SpaceSettings(description=given.description)
    make = call.backend.engines.of(given.name).spaces.create
    space = await call.backend.store(make, given.name, settings, by=call.access.actor)
    return Outcome(to_builtins(SpaceReply.of(space)), f"Created the space {space.name}.")


@tool(
    "admin",
    "destructive",
    "whole",
    "staged",
    group="admin",
    words={
        "author": "Whose",
        "source": "Where they come from",
        "dry_run": "Default true: only count",
        "confirm": "Name of the space",
    },
)
async def purge(call: Call, given: Purge) -> Outcome:
    """Erase memories with their history for good, as a task; its result is a signed report."""
    engine = call.backend.engine
    chosen = PurgeBody(
        author=given.author, source=given.source, filter=given.filter, older_than_days=given.older_than_days
    )
    subject = chosen.subject(engine.now())
    asks = call.session.confirmed is not None
    plan = await call.ask(engine.eraser.plan, subject) if given.dry_run or asks else None
    if given.dry_run and plan is not None:
        many = counted(plan.changes, "memory", "memories")
        return Outcome({"memories": plan.changes, "dry_run": True}, f"{many} would be erased.")
    if plan is not None:
        question = f"Erase {counted(plan.changes)} of the space {call.space} with their history? Nothing undoes that."
        if refused := await call.refused(question):
            return refused
    elif given.confirm != call.space:
        raise InvalidInput.at("$.confirm", f"to erase memories for good send the name of the space, {call.space!r}")
    caller = call.session.caller()
    task, _ = await call.ask(engine.purge, subject, chosen.what(), caller, None)
    told = f"task {task.id} erases {counted(task.total or 0, 'group', 'groups')} of memories; its result is the report"
    return Outcome({**to_builtins(TaskReply.of(task)), "dry_run": False}, told, task=task)


Step = Literal["list", "build", "switch", "rollback", "drop"]


class SetModel(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step in the exchange of the embedding model of a space. `model` is for `build` and `drop`."""

    step: Step = "list"
    model: str | None = None
    force: bool = False


@tool("admin", "destructive", "whole", "staged", group="admin")
async def set_model(call: Call, given: SetModel) -> Outcome:
    """Exchange the embedding model of a space while it is in use."""
    engine, caller = call.backend.engine, call.session.caller()
    match given.step:
        case "list":
            return await _models(call)
        case "build":
            task = await call.ask(engine.generations.build, _model(given), caller)
            told = f"task {task.id} embeds {task.total:,} passages with {_model(given)}; list shows how far it is"
            return Outcome(to_builtins(TaskReply.of(task)), told, task=task)
        case "switch":
            one = await call.ask(engine.generations.switch, caller, force=given.force)
            return Outcome(to_builtins(GenerationReply.of(one)), f"{one.model} answers now; rollback leads back")
        case "rollback":
            one = await call.ask(engine.generations.roll_back, caller, force=given.force)
            return Outcome(to_builtins(GenerationReply.of(one)), f"{one.model} answers again")
        case "drop":
            count = await call.ask(engine.generations.drop, _model(given), caller)
            return Outcome({"dropped": count}, f"{count:,} vectors of {_model(given)} are deleted")


async def _models(call: Call) -> Outcome:
    engine = call.backend.engine
    found = await call.ask(engine.generations.list, call.session.caller())
    names = [encoder.name for encoder in engine.models]
    lines = [f"{one.model} ({one.identity[:12]}): {one.role}, {one.embedded}/{one.passages} passages" for one in found]
    structured: Any = to_builtins(GenerationsReply.of(found, names))
    return Outcome(structured, "\n".join([*lines, f"at hand: {', '.join(names)}"]))


def _model(given: SetModel) -> str:
    if given.model is None:
        raise InvalidInput.at("$.model", f"is missing: {given.step} needs the name of a model")
    return given.model

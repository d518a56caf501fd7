"""The tools that change something: one call of the engine for each memory, two where feedback comes with a change."""

from contextlib import suppress
from typing import Any

import msgspec
from msgspec import to_builtins
from msgspec.structs import replace

from muisti.core.model.errors import InvalidInput, MuistiError, NotFound, Problem
from muisti.core.model.outcomes import Flag, Likeness, Plan, Undo, Written
from muisti.core.model.tasks import Task
from muisti.core.model.values import RequestKey
from muisti.core.text.discourse.signals import suggested
from muisti.core.views.write import Import
from muisti.service.agents.outcomes import is_of_a_person
from muisti.service.auth.access import check
from muisti.service.formats.line_stream import TASK, KeptLines, Lines
from muisti.service.mcp.refusals import refused
from muisti.service.runtime.admission import SMALL
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.likeness import alike
from muisti.service.schemas.policy import flagged
from muisti.service.schemas.requests import on_conflict_of
from muisti.service.schemas.tasks import TaskReply
from muisti.service.tools.arguments import Change, ImportMemories, Remember, UndoChanges, UpdateMemory
from muisti.service.tools.catalog import tool
from muisti.service.tools.rendering import brief, counted, differences, one_line
from muisti.service.tools.session import PERSONAL, Call, Json, Outcome, told_in

# Reports where a write differs from what the caller asked for


def flags_of(written: Written) -> dict[str, Any]:
    """Return the flags as JSON, and what searches cannot do yet; an empty object when there is neither."""
    flags = {"flags": msgspec.to_builtins(flagged(written.flags))} if written.flags else {}
    return {**flags, "degraded": list(written.degraded)} if written.degraded else flags


def suggestions_of(written: Written) -> tuple[dict[str, Any], str]:
    """Return the suggestions about what was stored, as JSON and in a sentence; both empty when there is none."""
    found = [*suggested(written.memories)]
    if not found:
        return {}, ""
    ids = ", ".join(one.id for one in found)
    told = f" Reads like a standing instruction, for which there is the type guard: {ids}."
    return {"suggestions": msgspec.to_builtins(found)}, told


def told_of(written: Written) -> str:
    """Return a sentence for each flag, and for what searches cannot do yet."""
    told = [*map(sentence, written.flags), *(f"{each[0].upper()}{each[1:]}." for each in written.degraded)]
    return "".join(f" {each}" for each in told)


def sentence(flag: Flag) -> str:
    where = one_line(flag.path.removeprefix("$."))
    match flag.code:
        case "echo":
            return f"It only repeats what you have just recalled: {', '.join(flag.ids)}."
        case "trust_lowered":
            return f"It is trusted no more than what it is derived from: {', '.join(flag.ids)}."
        case "suspected":
            return f"Stored, but {where} may hold a secret: {flag.kind}."
        case "redacted":
            return f"Not stored, in {where}: what looks like {flag.kind}."


ASKED = 500  # characters of a candidate in a question
PLANNED = 20  # changes of a dry run that are named


@tool("append", words={"category": "Group, e.g. decisions"})
async def remember(call: Call, given: Remember) -> Outcome:
    """Store something new to know later: one memory, or several. Refuses one that repeats or contradicts a
    stored one, and shows that."""
    each = given.each()
    if not given.contents:
        return await _placed(call, given)
    outcomes: list[Outcome] = []
    for number, one in enumerate(each):
        try:
            outcomes.append(await _placed(call, one, number))
        except (MuistiError, HttpError) as error:
            outcomes.append(refused(error, call.access))
    failed = sum(one.is_error for one in outcomes)
    structured: Json = {
        "results": [one.structured for one in outcomes],
        "succeeded": len(outcomes) - failed,
        "failed": failed,
    }
    lines = [f"{number}. {one.text}" for number, one in enumerate(outcomes, 1)]
    told = f"{len(outcomes) - failed} of {counted(len(outcomes))} accepted, {failed} refused."
    return Outcome(structured, "\n\n".join([told, *lines]), is_error=failed == len(outcomes))


async def _placed(call: Call, given: Remember, number: int | None = None) -> Outcome:
    """Store one memory: what is said of the person in the personal space beside the project's, where there is one."""
    beside = call.session.beside(given.space)
    addressed = given.key is not None or given.supersedes is not None or given.parent_id is not None
    if beside is not None and not addressed and is_of_a_person(given.content):
        memories = beside.memories(dry_run=given.dry_run)
        personal = replace(call, session=beside, space=PERSONAL, memories=memories)
        with suppress(NotFound):  # there is no such space
            request = personal.once("remember", given.idempotency_key, number)
            return told_in(await _remembered(personal, given, request), PERSONAL)
    return await _remembered(call, given, call.once("remember", given.idempotency_key, number))


async def _remembered(call: Call, given: Remember, request: RequestKey | None) -> Outcome:
    """Store one memory. Every call of `remember` comes through here."""
    category = given.category if call.access.grant.category is None else call.access.grant.category
    if given.replace:
        if given.supersedes is not None:
            raise InvalidInput.at("$.replace", "goes without supersedes: one keeps the id of the old memory")
        if category is None or given.key is None:
            raise InvalidInput.at("$.replace", "needs category and key: they say what to replace")
        written = await call.ask(call.memories.write.put, given.entry(category, given.key), request=request)
    elif given.supersedes is not None:
        written = await call.ask(
            call.memories.write.supersede, given.supersedes, given.successor().draft(), request=request
        )
    else:
        choice = on_conflict_of(given.on_conflict, None, "reject")
        if choice == "supersede":
            check(call.access, "write", call.space)
        written = await call.backend.add(call.memories, call.space, given.draft(), choice, request)
    memory = written.memories[0]
    structured: Json = {"created": written.created, "replayed": written.replayed}
    if similar := alike(written.similar):
        structured["similar"] = msgspec.to_builtins(similar)
    beside = "".join(_beside(one) for one in written.similar)
    if written.plan is not None:
        return _planned(written, written.plan, structured, beside)
    done = "Already remembered" if written.replayed else "Remembered" if written.created else "Replaced"
    instead = f" It supersedes {memory.supersedes}." if memory.supersedes and written.created else ""
    suggestions, suggested = suggestions_of(written)
    text = f"{done} as {memory.id}, version {memory.version}.{instead}{beside}{told_of(written)}{suggested}"
    return Outcome({"memory": brief(memory), **structured, **flags_of(written), **suggestions}, text)


@tool("write", "idempotent", "staged")
async def update_memory(call: Call, given: UpdateMemory) -> Outcome:
    """Correct, move, rate or promote a stored memory; old versions stay."""
    name, request = call.name(given), call.once("update_memory", given.idempotency_key)
    try:
        changes = given.changes.changes()
        if given.feedback is not None and not changes:
            return await _noted(call, given)
        if changes.get("status") == "active" and (refused := await _unconfirmed(call, given)):
            return refused
        update = call.memories.write.update
        written = await call.ask(update, name, changes, if_match=given.if_version, request=request)
    except InvalidInput as error:
        error.problems = tuple(Problem(one.path.replace("$", "$.changes", 1), one.message) for one in error.problems)
        raise
    memory = written.memories[0]
    if given.feedback is not None:
        await call.ask(call.memories.review.give_feedback, memory.id, given.feedback)
    structured = {"memory": brief(memory, full=True)}
    if written.plan is not None:
        return _planned(written, written.plan, structured)
    suggestions, suggested = suggestions_of(written)
    text = f"{memory.id} is now at version {memory.version}.{told_of(written)}{suggested}"
    return Outcome({**structured, **flags_of(written), **suggestions}, text)


async def _unconfirmed(call: Call, given: UpdateMemory) -> Outcome | None:
    """Ask whether a candidate is accepted, where a person can be asked. Return None when it may go on."""
    if call.session.confirmed is None or given.dry_run:
        return None
    memory = (await call.ask(call.memories.read.get, call.name(given), no_touch=True)).memory
    if memory.status != "candidate":
        return None
    said = one_line(memory.content)
    said = said if len(said) <= ASKED else f"{said[: ASKED - 1]}…"
    return await call.refused(f"Accept this candidate as a memory? {said}", f"{memory.id} {memory.version}")


@tool("write", "destructive")
async def undo(call: Call, given: UndoChanges) -> Outcome:
    """Take back your last call, all of it. With id, or category and key: bring back that memory if deleted, or
    as it was before."""
    if not given.of_one:
        return await _own_undone(call, given, given.which())
    request = call.once("undo", given.idempotency_key)
    if given.last not in (None, 1):
        raise InvalidInput.at("$.last", "is about your own changes; version goes further back in one memory")
    written = await call.ask(
        call.memories.write.restore, call.name(given), given.version, if_match=given.if_version, request=request
    )
    memory = written.memories[0]
    structured = {"memory": brief(memory, full=True)}
    if written.plan is not None:
        return _planned(written, written.plan, structured)
    text = f"Restored {memory.id}: now at version {memory.version}.{told_of(written)}"
    return Outcome({**structured, **flags_of(written)}, text)


async def _own_undone(call: Call, given: UndoChanges, which: Undo) -> Outcome:
    """Undo changes of the caller. It may delete what was added, so it needs the scope for that too."""
    check(call.access, "delete", call.space)
    places = await _last_places(call, given, which)
    if len(places) > 1 and not given.dry_run:  # what one space refuses, neither takes back
        for one in places:
            await _taken_back(replace(one, memories=one.session.memories(dry_run=True)), which, None)
    found = [await _taken_back(one, which, one.once("undo", given.idempotency_key)) for one in places]
    if len(found) > 1:
        both = {name: [*found[0].structured[name], *found[1].structured[name]] for name in ("memories", "ended")}
        both["spaces"] = [one.space for one in places]
        return Outcome({**found[0].structured, **both}, " ".join(one.text for one in found))
    return found[0] if places[0] is call else told_in(found[0], PERSONAL)


async def _last_places(call: Call, given: UndoChanges, which: Undo) -> list[Call]:
    """Return the call as it is in each space in which the last call of the caller was: perhaps the personal one too.

    Raises:
        InvalidInput: the same key later would mean another call.
    """
    beside = call.session.beside(given.space)
    there: tuple[int, str | None] = (0, None)
    with suppress(NotFound):  # there is no such space
        if beside is not None:
            there = await call.backend.store(call.memories.write.last_call, PERSONAL)
    if beside is None or not there[0]:
        return [call]
    if given.idempotency_key is not None:
        raise InvalidInput.at("$.idempotency_key", "goes with space or id: your last call may be in either space")
    personal = replace(call, session=beside, space=PERSONAL, memories=beside.memories(dry_run=given.dry_run))
    here = await call.ask(call.memories.write.last_call)
    if which == Undo() and here[1] is not None and here[1] == there[1]:
        return [call, personal]
    return [personal] if there[0] >= here[0] else [call]


async def _taken_back(call: Call, which: Undo, request: RequestKey | None) -> Outcome:
    written = await call.ask(call.memories.write.undo, which, request=request)
    structured: Json = {"memories": [brief(one) for one in written.memories], "ended": list(written.ended)}
    if written.plan is not None:
        return _planned(written, written.plan, structured)
    back = [f"{one.id} is as before, at version {one.version}." for one in written.memories]
    gone = [f"{one} is deleted again." for one in written.ended]
    done = f"Took back {written.undone}." if written.undone else "Undone."
    return Outcome({**structured, **flags_of(written)}, f"{done} {' '.join([*back, *gone])}{told_of(written)}")


@tool("delete", "destructive", "idempotent")
async def forget(call: Call, given: Change) -> Outcome:
    """Delete a memory; undo brings it back. To erase: purge (group admin) or CLI."""
    written = await call.ask(
        call.memories.write.delete,
        call.name(given),
        if_match=given.if_version,
        request=call.once("forget", given.idempotency_key),
    )
    memory = written.memories[0]
    if written.plan is not None:
        return _planned(written, written.plan, {"id": memory.id, "deleted": False})
    again = " undo brings it back." if call.access.may("write") else ""
    return Outcome({"id": memory.id, "deleted": True}, f"Forgot {memory.id}.{again}")


@tool("write", "idempotent", "whole", "staged", group="admin")
async def import_memories(call: Call, given: ImportMemories) -> Outcome:
    """Import an export (memory://{space}/export), all or nothing; known ids are skipped."""
    if call.session.tasks and not given.dry_run and len(given.ndjson) > SMALL:
        await call.ask(call.memories.write.check_import)
        task = await call.ask(_import_task, call, given.ndjson)
        return Outcome(to_builtins(TaskReply.of(task)), f"Task {task.id} imports it.", task=task)
    incoming = await call.ask(call.memories.write.begin_import, dry_run=given.dry_run)
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
    done = "would be imported" if report.dry_run else "imported"
    return Outcome(found, f"{counted(report.created)} {done}, {sum(report.skipped.values())} skipped.")


def _import_task(space: str, call: Call, text: str) -> Task:
    """Make a task that imports lines, which are kept in the database until it has ended."""
    begun = call.backend.engine.tasks.begin(space, TASK, {"atomic": True}, call.session.caller())
    assert not isinstance(begun, Task)  # without a key no request is a repeated one
    try:
        kept = KeptLines(begun)
        kept.feed(text.encode())
        return kept.end()
    except BaseException:  # no half of a task stays; the error goes on
        begun.abandon()
        raise


def _take_all(incoming: Import, text: str) -> None:
    lines = Lines(incoming.take)
    lines.feed(text.encode())
    lines.end()


async def _noted(call: Call, given: UpdateMemory) -> Outcome:
    assert given.feedback is not None
    noted = await call.ask(call.memories.review.give_feedback, call.name(given), given.feedback)
    found = await call.ask(call.memories.read.get, noted.memory_id, no_touch=True)
    said = f"{noted.memory_id} was {given.feedback.replace('_', ' ')}."
    structured: Json = {"memory": brief(found.memory, full=True)}
    if given.dry_run:
        return Outcome({**structured, "dry_run": True, "changes": []}, f"Dry run, nothing was noted: {said}")
    return Outcome(structured, f"Noted: {said}")


def _beside(one: Likeness) -> str:
    """Return a sentence about a stored memory beside which a new one is stored."""
    if one.kind == "similar":
        return f" Similar: {one.id}."
    if one.kind == "duplicate":
        return f" It says the same as {one.id}."
    may = "may contradict" if one.kind == "possible_conflict" else "contradicts"
    return f" It {may} {'. '.join([one.id, *differences(one.differs)])}."


def _planned(written: Written, plan: Plan, structured: Json, beside: str = "") -> Outcome:
    """Return the outcome of a dry run. A new memory would have another id, so none is named."""
    made = {memory.id for memory in written.memories} if written.created else set[str]()
    changes = [_change(one.kind, None if one.memory_id in made else one.memory_id) for one in plan.items[:PLANNED]]
    told = f"The changes would be: {', '.join(' '.join(change.values()) for change in changes)}."
    found = {**structured, "dry_run": True, "changes": changes, **flags_of(written)}
    text = f"Dry run, nothing was stored. {told if changes else 'Nothing would change.'}{beside}{told_of(written)}"
    return Outcome(found, text)


def _change(kind: str, memory_id: str | None) -> dict[str, Any]:
    return {"change": kind, **({} if memory_id is None else {"id": memory_id})}

"""The tool that exchanges the embedding model of a space."""

from typing import Any

from msgspec import to_builtins

from muisti.core.model.errors import InvalidInput
from muisti.service.mcp.calls import Call, Outcome
from muisti.service.mcp.group_arguments import SetModel
from muisti.service.schemas.generations import GenerationReply, GenerationsReply
from muisti.service.schemas.tasks import TaskReply


async def set_model(call: Call, given: SetModel) -> Outcome:
    """List the models of a space, or build, exchange or drop one."""
    engine, caller, store = call.backend.engine, call.session.caller(), call.backend.store
    match given.step:
        case "list":
            return await _listed(call)
        case "build":
            task = await store(engine.generations.build, call.space, _model(given), caller)
            told = f"task {task.id} embeds {task.total:,} passages with {_model(given)}; list shows how far it is"
            return Outcome(to_builtins(TaskReply.of(task)), told)
        case "switch":
            one = await store(engine.generations.switch, call.space, caller, force=given.force)
            return Outcome(to_builtins(GenerationReply.of(one)), f"{one.model} answers now; rollback leads back")
        case "rollback":
            one = await store(engine.generations.roll_back, call.space, caller, force=given.force)
            return Outcome(to_builtins(GenerationReply.of(one)), f"{one.model} answers again")
        case "drop":
            count = await store(engine.generations.drop, call.space, _model(given), caller)
            return Outcome({"dropped": count}, f"{count:,} vectors of {_model(given)} are deleted")


async def _listed(call: Call) -> Outcome:
    engine = call.backend.engine
    found = await call.backend.store(engine.generations.list, call.space, call.session.caller())
    names = [encoder.name for encoder in engine.models]
    lines = [f"{one.model} ({one.identity[:12]}): {one.role}, {one.embedded}/{one.passages} passages" for one in found]
    structured: Any = to_builtins(GenerationsReply.of(found, names))
    return Outcome(structured, "\n".join([*lines, f"at hand: {', '.join(names)}"]))


def _model(given: SetModel) -> str:
    if given.model is None:
        raise InvalidInput.at("$.model", f"is missing: {given.step} needs the name of a model")
    return given.model

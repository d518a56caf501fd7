"""The models of a space: build a second one, compare it, switch to it, roll back, drop it."""

from litestar import Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.identity.caller import Caller
from muisti.service.auth.middleware import access_of
from muisti.service.http.accepted import accepted
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, request_key
from muisti.service.http.respond import placed
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.generations import (
    BuildBody,
    CompareBody,
    ComparedReply,
    DroppedReply,
    GenerationReply,
    GenerationsReply,
    SwitchBody,
)
from muisti.service.schemas.tasks import TaskReply


@get("/generations", operation_id="listGenerations", tags=["generations"], needs="read")
async def list_generations(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend]
) -> Response[GenerationsReply]:
    """List the models that have vectors in the space, and those that the server has.

    A key without the scope `admin` sees the names of models without the folder or the host that they are at.
    """
    engine = backend.engine
    found = await backend.store(engine.generations.list, space, _caller(request))
    places = access_of(request.scope).may("admin")
    reply = GenerationsReply.of(found, [encoder.name for encoder in engine.models], places=places)
    return await placed(Response(reply), backend, space)


@post(
    "/generations", status_code=202, operation_id="buildGeneration", tags=["generations"], needs="admin",
    problems=["conflict", "idempotency_key_reused"],
)  # fmt: skip
async def build_generation(
    request: Request,
    space: FromPath[str],
    data: JSONBody[BuildBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
) -> Response[TaskReply]:
    """Embed the space with a further model, its shadow, as a task.

    Searches use the model of the space meanwhile, and new text is embedded by both. A space has one shadow. For the
    model that the space has, the task embeds what is missing.
    """
    key = await request_key(request, space, idempotency_key)
    build = backend.engine.generations.build
    return await placed(accepted(await backend.store(build, space, data.model, _caller(request), key)), backend, space)


@post(
    "/generations/compare", status_code=200, operation_id="compareGenerations", tags=["generations"], needs="admin",
    problems=["conflict", "model_mismatch"],
)  # fmt: skip
async def compare_generations(
    request: Request, space: FromPath[str], data: JSONBody[CompareBody], backend: NamedDependency[Backend]
) -> Response[ComparedReply]:
    """Ask the model of the space and its shadow the same questions: the probes of the space, and those given."""
    found = await backend.store(backend.engine.generations.compare, space, data.judged(), _caller(request))
    return await placed(Response(ComparedReply.of(found)), backend, space)


@post(
    "/generations/switch", status_code=200, operation_id="switchGeneration", tags=["generations"], needs="admin",
    problems=["conflict", "shadow_incomplete", "recall_dropped", "model_mismatch"],
)  # fmt: skip
async def switch_generation(
    request: Request, space: FromPath[str], data: JSONBody[SwitchBody], backend: NamedDependency[Backend]
) -> Response[GenerationReply]:
    """Make the shadow the model of the space, in one step; the model before becomes the shadow.

    It is refused while vectors are missing, and when the probes of the space find less.
    """
    switch = backend.engine.generations.switch
    found = await backend.store(switch, space, _caller(request), force=data.force)
    return await placed(Response(GenerationReply.of(found)), backend, space)


@post(
    "/generations/rollback", status_code=200, operation_id="rollBackGeneration", tags=["generations"], needs="admin",
    problems=["conflict", "shadow_incomplete"],
)  # fmt: skip
async def roll_back_generation(
    request: Request, space: FromPath[str], data: JSONBody[SwitchBody], backend: NamedDependency[Backend]
) -> Response[GenerationReply]:
    """Make the model that the space had before the switch its model again. Nothing is embedded."""
    roll_back = backend.engine.generations.roll_back
    found = await backend.store(roll_back, space, _caller(request), force=data.force)
    return await placed(Response(GenerationReply.of(found)), backend, space)


@delete(
    "/generations/{generation:str}", status_code=200, operation_id="dropGeneration", tags=["generations"],
    needs="admin", problems=["conflict"],
)  # fmt: skip
async def drop_generation(
    request: Request, space: FromPath[str], generation: FromPath[str], backend: NamedDependency[Backend]
) -> Response[DroppedReply]:
    """Delete the vectors of a model in the space. The model of the space itself is refused."""
    generations, caller = backend.engine.generations, _caller(request)
    one = await backend.store(generations.get, space, generation, caller)
    dropped = await backend.store(generations.drop, space, one.identity, caller)
    return await placed(Response(DroppedReply(generation=one.identity, dropped=dropped)), backend, space)


def _caller(request: Request) -> Caller:
    return access_of(request.scope).caller()


ROUTES = (
    list_generations,
    build_generation,
    compare_generations,
    switch_generation,
    roll_back_generation,
    drop_generation,
)

"""The models of a space: build a second one, compare it, switch to it, roll back, drop it."""

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.service.http.request import Request
from muisti.service.http.respond import accepted, placed
from muisti.service.http.routing import Routes
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

routes = Routes("generations")


@routes.get("/generations", needs="read")
async def list_generations(request: Request) -> Response[GenerationsReply]:
    """List the models that have vectors in the space, and those that the server has.

    A key without the scope `admin` sees the names of models without the folder or the host that they are at.
    """
    engine = request.engine
    found = await request.ask(engine.generations.list, request.caller)
    places = request.access.may("admin")
    reply = GenerationsReply.of(found, [encoder.name for encoder in engine.models], places=places)
    return await placed(Response(reply), request)


@routes.post(
    "/generations",
    status_code=202,
    needs="admin",
    problems=["conflict", "idempotency_key_reused"],
    standard=("Idempotency-Key",),
)
async def build_generation(request: Request, data: JSONBody[BuildBody]) -> Response[TaskReply]:
    """Embed the space with a further model, its shadow, as a task.

    Searches use the model of the space meanwhile, and new text is embedded by both. A space has one shadow. For the
    model that the space has, the task embeds what is missing.
    """
    key = await request.key()
    build = request.engine.generations.build
    return await placed(accepted(await request.ask(build, data.model, request.caller, key)), request)


@routes.post("/generations/compare", status_code=200, needs="admin", problems=["conflict", "model_mismatch"])
async def compare_generations(request: Request, data: JSONBody[CompareBody]) -> Response[ComparedReply]:
    """Ask the model of the space and its shadow the same questions: the probes of the space, and those given."""
    found = await request.ask(request.engine.generations.compare, data.judged(), request.caller)
    return await placed(Response(ComparedReply.of(found)), request)


@routes.post(
    "/generations/switch",
    status_code=200,
    needs="admin",
    problems=["conflict", "shadow_incomplete", "recall_dropped", "model_mismatch"],
)
async def switch_generation(request: Request, data: JSONBody[SwitchBody]) -> Response[GenerationReply]:
    """Make the shadow the model of the space, in one step; the model before becomes the shadow.

    It is refused while vectors are missing, and when the probes of the space find less.
    """
    switch = request.engine.generations.switch
    found = await request.ask(switch, request.caller, force=data.force)
    return await placed(Response(GenerationReply.of(found)), request)


@routes.post("/generations/rollback", status_code=200, needs="admin", problems=["conflict", "shadow_incomplete"])
async def roll_back_generation(request: Request, data: JSONBody[SwitchBody]) -> Response[GenerationReply]:
    """Make the model that the space had before the switch its model again. Nothing is embedded."""
    roll_back = request.engine.generations.roll_back
    found = await request.ask(roll_back, request.caller, force=data.force)
    return await placed(Response(GenerationReply.of(found)), request)


@routes.delete("/generations/{generation:str}", status_code=200, needs="admin", problems=["conflict"])
async def drop_generation(request: Request, generation: FromPath[str]) -> Response[DroppedReply]:
    """Delete the vectors of a model in the space. The model of the space itself is refused."""
    generations, caller = request.engine.generations, request.caller
    one = await request.ask(generations.get, generation, caller)
    dropped = await request.ask(generations.drop, one.identity, caller)
    return await placed(Response(DroppedReply(generation=one.identity, dropped=dropped)), request)

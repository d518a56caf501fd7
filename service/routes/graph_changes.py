"""Changes of the knowledge graph: what people say of entities and relations, and reading memories for it."""

from functools import partial

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.service.http.parameters import DRY, KEYED
from muisti.service.http.request import Request
from muisti.service.http.respond import accepted, deleted, placed, tried, written
from muisti.service.http.routing import Routes
from muisti.service.schemas.graph import (
    BuildGraphBody,
    EntityBody,
    ExtensionReply,
    GraphDroppedReply,
    NamesBody,
    RelationBody,
    RelationPatch,
)
from muisti.service.schemas.replies import WrittenReply
from muisti.service.schemas.tasks import TaskReply

routes = Routes("graph")

_STATES = ["conflict", "sensitive_content", "place_taken"]
# What is said of the names of an entity: `201` for the first statement of it, `200` for a change of one.
_names = partial(routes.post, status_code=200, statuses=[201], needs="write", screens=True, problems=_STATES)


@routes.patch(
    "/graph/entities/{entity:str}", needs="write", statuses=[201], screens=True, problems=_STATES, standard=KEYED
)
async def describe_entity(
    request: Request, entity: FromPath[str], data: JSONBody[EntityBody]
) -> Response[WrittenReply]:
    """Say what an entity is: its kind, other names of it, and names that are not its own.

    It is stored as a memory of the kind `entity`, with its author and history; undo and restore work on it.
    """
    key = await request.key()
    say = request.memories.graph.put_entity
    return written(await request.ask(say, entity, data.change(), request=key))


@_names("/graph/entities/{entity:str}/merge", standard=KEYED)
async def merge_entities(request: Request, entity: FromPath[str], data: JSONBody[NamesBody]) -> Response[WrittenReply]:
    """Say that other names are those of an entity. Nothing is rewritten: undoing it separates them again."""
    key = await request.key()
    merge = request.memories.graph.merge
    return written(await request.ask(merge, entity, data.others, category=data.category, request=key))


@_names("/graph/entities/{entity:str}/keep-apart", standard=KEYED)
async def keep_entities_apart(
    request: Request, entity: FromPath[str], data: JSONBody[NamesBody]
) -> Response[WrittenReply]:
    """Say that other names are not those of an entity, whatever a rule finds."""
    key = await request.key()
    keep = request.memories.graph.keep_apart
    return written(await request.ask(keep, entity, data.others, category=data.category, request=key))


@routes.post("/graph/relations", needs="append", screens=True, problems=_STATES, standard=KEYED)
async def state_relation(request: Request, data: JSONBody[RelationBody]) -> Response[WrittenReply]:
    """State a relation. It is stored as a memory of the kind `relation`, with a sentence as its text."""
    key = await request.key()
    relate = request.memories.graph.relate
    return written(await request.ask(relate, data.new(), request=key))


@routes.patch("/graph/relations/{memory_id:str}", needs="write", screens=True, problems=_STATES, standard=KEYED)
async def correct_relation(
    request: Request, memory_id: FromPath[str], data: JSONBody[RelationPatch]
) -> Response[WrittenReply]:
    """Change a relation that somebody has stated, by the id of its memory."""
    key = await request.key()
    correct = request.memories.graph.correct
    return written(await request.ask(correct, memory_id, data.change(), request=key))


@routes.delete("/graph/statements/{memory_id:str}", needs="delete", standard=KEYED)
async def retract_statement(request: Request, memory_id: FromPath[str]) -> Response[None]:
    """Delete what somebody has stated of an entity or a relation, by the id of its memory; its history stays."""
    key = await request.key()
    retract = request.memories.graph.retract
    return deleted(await request.ask(retract, memory_id, request=key))


@routes.post("/graph/build", status_code=202, statuses=[200], needs="write", problems=["conflict"], standard=KEYED)
async def build_graph(
    request: Request, data: JSONBody[BuildGraphBody]
) -> Response[TaskReply] | Response[ExtensionReply]:
    """Read the versions that are not read yet, as a task. Needs a key that sees all of the space.

    Single writes are read by themselves; batches, imports and documents leave much to read.
    """
    graph = request.memories.graph
    if request.dry_run:
        reply = Response(ExtensionReply.of(await request.ask(graph.extend)), status_code=200)
        return await placed(tried(request, reply), request)
    key = await request.key()
    made = await request.ask(graph.build, again=data.again, request=key)
    return await placed(accepted(made), request)


@routes.delete("/graph", status_code=200, needs="admin", standard=DRY)
async def drop_graph(request: Request) -> Response[GraphDroppedReply]:
    """Delete what was read from memories; it can be read again. What people have stated stays."""
    dropped = await request.ask(request.memories.graph.drop)
    return await placed(tried(request, Response(GraphDroppedReply(entities=dropped))), request)

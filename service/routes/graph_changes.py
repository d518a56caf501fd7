"""Changes of the knowledge graph: what people say of entities and relations, and reading memories for it."""

from functools import partial

from litestar import Response, delete, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.service.auth.middleware import memories
from muisti.service.http.accepted import accepted
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, request_key
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import deleted, placed, tried, written
from muisti.service.runtime.workers import Backend
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

_STATES = ["conflict", "sensitive_content", "place_taken"]
# What is said of the names of an entity: `201` for the first statement of it, `200` for a change of one.
_names = partial(post, status_code=200, statuses=[201], tags=["graph"], needs="write", screens=True, problems=_STATES)


@patch(
    "/graph/entities/{entity:str}",
    operation_id="describeEntity",
    tags=["graph"],
    needs="write",
    statuses=[201],
    screens=True,
    problems=_STATES,
)
async def describe_entity(
    request: Request,
    space: FromPath[str],
    entity: FromPath[str],
    data: JSONBody[EntityBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Say what an entity is: its kind, other names of it, and names that are not its own.

    It is stored as a memory of the kind `entity`, with its author and history; undo and restore work on it.
    """
    key = await request_key(request, space, idempotency_key)
    say = memories(request, backend, dry_run=dry_run).graph.put_entity
    return written(await backend.store(say, space, entity, data.change(), request=key))


@_names("/graph/entities/{entity:str}/merge", operation_id="mergeEntities")
async def merge_entities(
    request: Request,
    space: FromPath[str],
    entity: FromPath[str],
    data: JSONBody[NamesBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Say that other names are those of an entity. Nothing is rewritten: undoing it separates them again."""
    key = await request_key(request, space, idempotency_key)
    merge = memories(request, backend, dry_run=dry_run).graph.merge
    return written(await backend.store(merge, space, entity, data.others, category=data.category, request=key))


@_names("/graph/entities/{entity:str}/keep-apart", operation_id="keepEntitiesApart")
async def keep_entities_apart(
    request: Request,
    space: FromPath[str],
    entity: FromPath[str],
    data: JSONBody[NamesBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Say that other names are not those of an entity, whatever a rule finds."""
    key = await request_key(request, space, idempotency_key)
    keep = memories(request, backend, dry_run=dry_run).graph.keep_apart
    return written(await backend.store(keep, space, entity, data.others, category=data.category, request=key))


@post(
    "/graph/relations",
    operation_id="stateRelation",
    tags=["graph"],
    needs="append",
    screens=True,
    problems=_STATES,
)
async def state_relation(
    request: Request,
    space: FromPath[str],
    data: JSONBody[RelationBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """State a relation. It is stored as a memory of the kind `relation`, with a sentence as its text."""
    key = await request_key(request, space, idempotency_key)
    relate = memories(request, backend, dry_run=dry_run).graph.relate
    return written(await backend.store(relate, space, data.new(), request=key))


@patch(
    "/graph/relations/{memory_id:str}",
    operation_id="correctRelation",
    tags=["graph"],
    needs="write",
    screens=True,
    problems=_STATES,
)
async def correct_relation(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    data: JSONBody[RelationPatch],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Change a relation that somebody has stated, by the id of its memory."""
    key = await request_key(request, space, idempotency_key)
    correct = memories(request, backend, dry_run=dry_run).graph.correct
    return written(await backend.store(correct, space, memory_id, data.change(), request=key))


@delete("/graph/statements/{memory_id:str}", operation_id="retractStatement", tags=["graph"], needs="delete")
async def retract_statement(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[None]:
    """Delete what somebody has stated of an entity or a relation, by the id of its memory; its history stays."""
    key = await request_key(request, space, idempotency_key)
    retract = memories(request, backend, dry_run=dry_run).graph.retract
    return deleted(await backend.store(retract, space, memory_id, request=key))


@post(
    "/graph/build",
    status_code=202,
    statuses=[200],
    operation_id="buildGraph",
    tags=["graph"],
    needs="write",
    problems=["conflict"],
)
async def build_graph(
    request: Request,
    space: FromPath[str],
    data: JSONBody[BuildGraphBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[TaskReply] | Response[ExtensionReply]:
    """Read the versions that are not read yet, as a task. Needs a key that sees all of the space.

    Single writes are read by themselves; batches, imports and documents leave much to read.
    """
    graph = memories(request, backend, dry_run=dry_run).graph
    if dry_run:
        reply = Response(ExtensionReply.of(await backend.store(graph.extend, space)), status_code=200)
        return await placed(tried(dry_run, reply), backend, space)
    key = await request_key(request, space, idempotency_key)
    made = await backend.store(graph.build, space, again=data.again, request=key)
    return await placed(accepted(made), backend, space)


@delete("/graph", status_code=200, operation_id="dropGraph", tags=["graph"], needs="admin")
async def drop_graph(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend], dry_run: DryRunParameter = False
) -> Response[GraphDroppedReply]:
    """Delete what was read from memories; it can be read again. What people have stated stays."""
    dropped = await backend.store(memories(request, backend, dry_run=dry_run).graph.drop, space)
    return await placed(tried(dry_run, Response(GraphDroppedReply(entities=dropped))), backend, space)


ROUTES = (
    describe_entity,
    merge_entities,
    keep_entities_apart,
    state_relation,
    correct_relation,
    retract_statement,
    build_graph,
    drop_graph,
)

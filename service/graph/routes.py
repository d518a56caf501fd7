"""The knowledge graph: questions, what people say of it, and its files and pictures."""

from functools import partial
from typing import Annotated, cast

from litestar import Response
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream

from muisti.core.graph.model import (
    Communities,
    Entities,
    GraphStatus,
    Neighbours,
    Path,
    Profile,
    Proposals,
    Relations,
)
from muisti.core.model.choices import (
    COMMUNITIES_MAX,
    DEPTH_MAX,
    ENTITIES_MAX,
    ENTITY_KINDS,
    ENTITY_SORTS,
    FACTS_MAX,
    NEIGHBOUR_SORTS,
    PATH_MAX,
    RELATION_KINDS,
    TIE_KINDS,
    EntityKind,
    EntitySort,
    NeighbourSort,
)
from muisti.core.model.errors import InvalidInput
from muisti.core.query.points import parse
from muisti.service.asgi.header_names import SEQ
from muisti.service.graph.formats import FORMATS, GRAPH_FORMATS, GraphFormat, exported
from muisti.service.graph.layout import NODES_MAX
from muisti.service.graph.schemas import (
    BuildGraphBody,
    EntityBody,
    ExtensionReply,
    GraphDroppedReply,
    NamesBody,
    RelationBody,
    RelationPatch,
    listed_kinds,
)
from muisti.service.graph.svg import WIDTH_MAX, WIDTH_MIN, Picture, svg
from muisti.service.http.parameters import DRY, KEYED, PAST, AsOfParameter, between, query
from muisti.service.http.request import Request, on_threads
from muisti.service.http.respond import accepted, answered, deleted, placed, tried, written
from muisti.service.http.routing import Routes
from muisti.service.schemas.replies import WrittenReply
from muisti.service.schemas.tasks import TaskReply

routes = Routes("graph")

NAMED = [*PAST, "conflict"]  # with a name in it, and the graph of a space may be off
_question = partial(routes.get, needs="read", problems=NAMED)

PrefixParameter = Annotated[str, query("Beginning of a name, in any case.")]
CommunitiesParameter = Annotated[int, between("Communities at most.", 1, COMMUNITIES_MAX)]
MemoryParameter = Annotated[str | None, query("Only those that this memory names, by its id.")]
EntityKindParameter = Annotated[str | None, query("Kind of entities.", enum=ENTITY_KINDS)]
EntitySortParameter = Annotated[str, query("`-mentions`: the most mentioned first.", enum=ENTITY_SORTS)]
NeighbourSortParameter = Annotated[
    str, query("Order of those as near: by `weight` times `association`, or by `weight`.", enum=NEIGHBOUR_SORTS)
]
EntitiesParameter = Annotated[int, between("Entities at most.", 1, ENTITIES_MAX)]
FactsParameter = Annotated[int, between("Facts at most.", 0, FACTS_MAX)]
MemoriesParameter = Annotated[int, between("Memories at most.", 0, ENTITIES_MAX)]
RelationsParameter = Annotated[int, between("Relations at most.", 1, FACTS_MAX)]
DepthParameter = Annotated[int, between("Ties that are followed.", 1, DEPTH_MAX)]
LongestParameter = Annotated[int, between("Ties of a path at most.", 1, PATH_MAX)]
TiesParameter = Annotated[
    str | None, query(f"Kinds of ties, with commas: {', '.join(TIE_KINDS)}, your own. All by default.")
]
KindsParameter = Annotated[
    str | None, query(f"Kinds, with commas: {', '.join(RELATION_KINDS)}, your own. All by default.")
]
SubjectParameter = Annotated[str | None, query("Name or id of the subject.")]
ObjectParameter = Annotated[str | None, query("Name or id of the object.")]
FromParameter = Annotated[str, query("Name or id of the entity where it begins.", name="from")]
ToParameter = Annotated[str, query("Name or id of the entity where it ends.", name="to")]


@routes.get("/graph", needs="read")
async def get_graph(request: Request) -> Response[GraphStatus]:
    """Read how much the graph of a space knows, and how many versions are not read yet."""
    return await answered(request, request.memories.graph.status)


@_question("/graph/entities")
async def list_entities(
    request: Request,
    prefix: PrefixParameter = "",
    kind: EntityKindParameter = None,
    memory: MemoryParameter = None,
    sort: EntitySortParameter = "-mentions",
    limit: EntitiesParameter = 50,
    as_of: AsOfParameter = None,
) -> Response[Entities]:
    """List the people, places and things that memories name, by the beginning of a name and by kind.

    A name of several spellings is one entity; `aliases` says which other names were merged with it, and why.
    """
    return await answered(
        request,
        request.memories.graph.entities,
        prefix=prefix,
        kind=cast(EntityKind | None, kind),
        memory=memory,
        sort=cast(EntitySort, sort),
        limit=limit,
        as_of=parse(as_of),
    )


@_question("/graph/entities/{entity:str}")
async def get_entity(
    request: Request,
    entity: FromPath[str],
    facts: FactsParameter = 100,
    memories_: Annotated[MemoriesParameter, QueryParameter(name="memories")] = 50,
    as_of: AsOfParameter = None,
) -> Response[Profile]:
    """Read an entity: its names, its facts with their evidence in the order of time, and who mentions it.

    A fact whose place was taken by a later one, such as the place of a home, has `valid_to` and `closed_by`.
    """
    return await answered(
        request, request.memories.graph.entity, entity, facts=facts, memories=memories_, as_of=parse(as_of)
    )


@_question("/graph/entities/{entity:str}/neighbours")
async def list_neighbours(
    request: Request,
    entity: FromPath[str],
    depth: DepthParameter = 1,
    kinds: TiesParameter = None,
    sort: NeighbourSortParameter = "-association",
    limit: EntitiesParameter = 50,
    as_of: AsOfParameter = None,
) -> Response[Neighbours]:
    """List the entities at most `depth` ties away: by relations, and by being mentioned together."""
    return await answered(
        request,
        request.memories.graph.neighbours,
        entity,
        depth=depth,
        kinds=listed_kinds(kinds),
        sort=cast(NeighbourSort, sort),
        limit=limit,
        as_of=parse(as_of),
    )


@_question("/graph/paths")
async def find_path(
    request: Request,
    first: FromParameter,
    second: ToParameter,
    kinds: TiesParameter = None,
    longest: LongestParameter = PATH_MAX,
    as_of: AsOfParameter = None,
) -> Response[Path]:
    """Find a shortest path between two entities, with memories that state each of its ties."""
    ask, wanted = request.memories.graph.path, listed_kinds(kinds)
    return await answered(request, ask, first, second, kinds=wanted, longest=longest, as_of=parse(as_of))


@_question("/graph/relations")
async def list_relations(
    request: Request,
    subject: SubjectParameter = None,
    kinds: KindsParameter = None,
    target: Annotated[ObjectParameter, QueryParameter(name="object")] = None,
    limit: RelationsParameter = 100,
    as_of: AsOfParameter = None,
) -> Response[Relations]:
    """List relations by subject, kind and object, with their evidence."""
    return await answered(
        request,
        request.memories.graph.relations,
        subject=subject,
        kinds=listed_kinds(kinds),
        object=target,
        limit=limit,
        as_of=parse(as_of),
    )


@_question("/graph/proposals")
async def list_proposals(
    request: Request, limit: EntitiesParameter = 50, as_of: AsOfParameter = None
) -> Response[Proposals]:
    """List pairs of names that look alike. Nothing is merged until somebody says so."""
    return await answered(request, request.memories.graph.proposals, limit=limit, as_of=parse(as_of))


@_question("/graph/communities")
async def list_communities(
    request: Request, limit: CommunitiesParameter = 20, as_of: AsOfParameter = None
) -> Response[Communities]:
    """List what belongs together: names that memories mention together more often than by chance.

    They are found by label propagation, the same in every call. Each has its most telling entities.
    """
    return await answered(request, request.memories.graph.communities, limit=limit, as_of=parse(as_of))


# Changes of the knowledge graph: what people say of entities and relations, and reading memories for it

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
    return written(await request.ask(request.memories.graph.relate, data.new(), request=await request.key()))


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
    return deleted(await request.ask(request.memories.graph.retract, memory_id, request=await request.key()))


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


# The knowledge graph for other programs, as a file in their formats, and for people, as a picture

SVG = "image/svg+xml"
_WORDS = 40  # nodes of a picture that are kept free for words

FormatParameter = Annotated[str, query("Format of the file.", name="format", enum=GRAPH_FORMATS)]
CentreParameter = Annotated[
    str | None, query("Name or id of the entity in the middle; else the most mentioned are drawn.")
]
PictureDepth = Annotated[int, between("Ties that are followed.", 1, DEPTH_MAX)]
PictureLimit = Annotated[int, between("Entities at most.", 1, NODES_MAX - _WORDS)]
PictureWidth = Annotated[
    int | None,
    query(
        "Width in pixels. Below 700 the legend is below. By default it grows with the number of entities.",
        minimum=WIDTH_MIN,
        maximum=WIDTH_MAX,
    ),
]


@routes.get("/graph/export", needs="read", media="application/json", problems=NAMED)
async def export_graph(request: Request, format_: FormatParameter = "json", as_of: AsOfParameter = None) -> Stream:
    """Write all entities and relations that the caller sees as a file: GraphML, Cytoscape, Cypher, JSON-LD, DOT, JSON.

    The file shows one point of history, whatever is written meanwhile. The same graph gives the same bytes.
    """
    if format_ not in FORMATS:
        raise InvalidInput.at("$.format", f"{format_[:40]!r} is unknown; there are {', '.join(GRAPH_FORMATS)}")
    kind = FORMATS[cast(GraphFormat, format_)]
    graph = await request.ask(request.memories.graph.export, as_of=parse(as_of))
    pages = exported(cast(GraphFormat, format_), graph.nodes(), graph.edges())
    name = f"{request.space}{kind.suffix}"
    return Stream(
        on_threads(request.backend, pages),
        media_type=kind.media_type,
        headers={SEQ: str(graph.seq), "Content-Disposition": f'attachment; filename="{name}"'},
    )


@routes.get("/graph/picture", needs="read", media=SVG, problems=NAMED)
async def draw_graph(
    request: Request,
    entity: CentreParameter = None,
    depth: PictureDepth = 1,
    limit: PictureLimit = 60,
    width: PictureWidth = None,
    as_of: AsOfParameter = None,
) -> Response[str]:
    """Draw the entities around one, or the most mentioned, as SVG with a legend."""
    if not 1 <= limit <= NODES_MAX - _WORDS:
        raise InvalidInput.at("$.limit", f"is {limit}; 1 to {NODES_MAX - _WORDS} are allowed")
    if width is not None and not WIDTH_MIN <= width <= WIDTH_MAX:
        raise InvalidInput.at("$.width", f"is {width}; {WIDTH_MIN} to {WIDTH_MAX:,} are allowed")
    part = await request.ask(request.memories.graph.part, entity, depth=depth, limit=limit, as_of=parse(as_of))
    middle = next((node.name for node in part.nodes if node.id == part.centre), None)
    title = f"Most mentioned in {request.space}" if middle is None else f"Around {middle}"
    picture = Picture(
        nodes=part.nodes,
        edges=part.edges,
        title=title,
        centre=part.centre,
        left_out=part.left_out,
        width=width,
    )
    drawn = await request.backend.compute(svg, picture)
    return Response(drawn, media_type=SVG, headers={SEQ: str(part.seq)})

"""Questions to the knowledge graph of a space: entities, facts, neighbours, paths, communities, alike names."""

from functools import partial
from typing import Annotated, cast

from litestar import Response
from litestar.params import FromPath, QueryParameter

from muisti.core.model.graph import (
    Communities,
    Entities,
    GraphStatus,
    Neighbours,
    Path,
    Profile,
    Proposals,
    Relations,
)
from muisti.core.model.graph_terms import (
    COMMUNITIES_MAX,
    DEPTH_MAX,
    ENTITIES_MAX,
    ENTITY_KINDS,
    ENTITY_SORTS,
    FACTS_MAX,
    NEIGHBOUR_SORTS,
    PATH_MAX,
    TIE_KINDS,
    EntityKind,
    EntitySort,
    NeighbourSort,
)
from muisti.core.model.relations import RELATION_KINDS
from muisti.core.query.points import parse
from muisti.service.http.parameters import PAST, AsOfParameter, between
from muisti.service.http.request import Request
from muisti.service.http.respond import read
from muisti.service.http.routing import Routes
from muisti.service.schemas.graph import relation_kinds, tie_kinds

routes = Routes("graph")

NAMED = [*PAST, "conflict"]  # with a name in it, and the graph of a space may be off
_question = partial(routes.get, needs="read", problems=NAMED)

PrefixParameter = Annotated[str, QueryParameter(description="Beginning of a name, in any case.")]
CommunitiesParameter = Annotated[int, between("Communities at most.", 1, COMMUNITIES_MAX)]
MemoryParameter = Annotated[str | None, QueryParameter(description="Only those that this memory names, by its id.")]
EntityKindParameter = Annotated[str | None, QueryParameter(description="Kind of entities.", enum=list(ENTITY_KINDS))]
EntitySortParameter = Annotated[
    str, QueryParameter(description="`-mentions`: the most mentioned first.", enum=list(ENTITY_SORTS))
]
NeighbourSortParameter = Annotated[
    str,
    QueryParameter(
        description="Order of those as near: by `weight` times `association`, or by `weight`.",
        enum=list(NEIGHBOUR_SORTS),
    ),
]
EntitiesParameter = Annotated[int, between("Entities at most.", 1, ENTITIES_MAX)]
FactsParameter = Annotated[int, between("Facts at most.", 0, FACTS_MAX)]
MemoriesParameter = Annotated[int, between("Memories at most.", 0, ENTITIES_MAX)]
RelationsParameter = Annotated[int, between("Relations at most.", 1, FACTS_MAX)]
DepthParameter = Annotated[int, between("Ties that are followed.", 1, DEPTH_MAX)]
LongestParameter = Annotated[int, between("Ties of a path at most.", 1, PATH_MAX)]
TiesParameter = Annotated[
    str | None, QueryParameter(description=f"Kinds of ties, with commas: {', '.join(TIE_KINDS)}. All by default.")
]
KindsParameter = Annotated[
    str | None, QueryParameter(description=f"Kinds, with commas: {', '.join(RELATION_KINDS)}. All by default.")
]
SubjectParameter = Annotated[str | None, QueryParameter(description="Name or id of the subject.")]
ObjectParameter = Annotated[str | None, QueryParameter(description="Name or id of the object.")]
FromParameter = Annotated[str, QueryParameter(name="from", description="Name or id of the entity where it begins.")]
ToParameter = Annotated[str, QueryParameter(name="to", description="Name or id of the entity where it ends.")]


@routes.get("/graph", needs="read")
async def get_graph(request: Request) -> Response[GraphStatus]:
    """Read how much the graph of a space knows, and how many versions are not read yet."""
    found = await request.ask(request.memories.graph.status)
    return read(found, found.seq)


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
    found = await request.ask(
        request.memories.graph.entities,
        prefix=prefix,
        kind=cast(EntityKind | None, kind),
        memory=memory,
        sort=cast(EntitySort, sort),
        limit=limit,
        as_of=parse(as_of),
    )
    return read(found, found.seq)


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
    ask = request.memories.graph.entity
    found = await request.ask(ask, entity, facts=facts, memories=memories_, as_of=parse(as_of))
    return read(found, found.seq)


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
    found = await request.ask(
        request.memories.graph.neighbours,
        entity,
        depth=depth,
        kinds=tie_kinds(kinds),
        sort=cast(NeighbourSort, sort),
        limit=limit,
        as_of=parse(as_of),
    )
    return read(found, found.seq)


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
    ask, wanted = request.memories.graph.path, tie_kinds(kinds)
    found = await request.ask(ask, first, second, kinds=wanted, longest=longest, as_of=parse(as_of))
    return read(found, found.seq)


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
    found = await request.ask(
        request.memories.graph.relations,
        subject=subject,
        kinds=relation_kinds(kinds),
        object=target,
        limit=limit,
        as_of=parse(as_of),
    )
    return read(found, found.seq)


@_question("/graph/proposals")
async def list_proposals(
    request: Request, limit: EntitiesParameter = 50, as_of: AsOfParameter = None
) -> Response[Proposals]:
    """List pairs of names that look alike. Nothing is merged until somebody says so."""
    found = await request.ask(request.memories.graph.proposals, limit=limit, as_of=parse(as_of))
    return read(found, found.seq)


@_question("/graph/communities")
async def list_communities(
    request: Request, limit: CommunitiesParameter = 20, as_of: AsOfParameter = None
) -> Response[Communities]:
    """List what belongs together: names that memories mention together more often than by chance.

    They are found by label propagation, the same in every call. Each has its most telling entities.
    """
    found = await request.ask(request.memories.graph.communities, limit=limit, as_of=parse(as_of))
    return read(found, found.seq)

"""Communities of the knowledge graph of a space."""

from typing import Annotated

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.core.model.graph_terms import COMMUNITIES_MAX
from muisti.core.query.points import parse
from muisti.service.auth.middleware import memories
from muisti.service.http.decode import Request
from muisti.service.http.parameters import AsOfParameter, between
from muisti.service.http.respond import read
from muisti.service.routes.graph import NAMED
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.communities import CommunitiesReply

CommunitiesParameter = Annotated[int, between("Communities at most.", 1, COMMUNITIES_MAX)]


@get("/graph/communities", operation_id="listCommunities", tags=["graph"], needs="read", problems=NAMED)
async def list_communities(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    limit: CommunitiesParameter = 20,
    as_of: AsOfParameter = None,
) -> Response[CommunitiesReply]:
    """List what belongs together: names that memories mention together more often than by chance.

    They are found by label propagation, the same in every call. Each has its most telling entities.
    """
    found = await backend.store(memories(request, backend).graph.communities, space, limit=limit, as_of=parse(as_of))
    return read(CommunitiesReply.of(found), found.seq)


ROUTES = (list_communities,)

"""Facets: counts of a space's memories, and its sizes."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.core.query.points import parse
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.parameters import PAST, AsOfParameter
from muisti.service.http.respond import read
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.replies import CountsReply, StatsReply


@get("/categories", operation_id="listCategories", tags=["facets"], needs="read", problems=PAST)
async def list_categories(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend], as_of: AsOfParameter = None
) -> Response[CountsReply]:
    """Count the active memories of each category."""
    counts = await backend.store(memories(request, backend).read.categories, space, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@get("/tags", operation_id="listTags", tags=["facets"], needs="read", problems=PAST)
async def list_tags(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend], as_of: AsOfParameter = None
) -> Response[CountsReply]:
    """Count the active memories of each tag."""
    counts = await backend.store(memories(request, backend).read.tags, space, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@get("/stats", operation_id="getStats", tags=["facets"], needs="read", problems=PAST)
async def get_stats(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend], as_of: AsOfParameter = None
) -> Response[StatsReply]:
    """Read the sizes and rates of a space."""
    stats = await backend.store(memories(request, backend).read.stats, space, as_of=parse(as_of))
    use = backend.engine.models.cache.use if access_of(request.scope).may("admin") else None
    return read(StatsReply.of(stats, use), stats.seq)


ROUTES = (list_categories, list_tags, get_stats)

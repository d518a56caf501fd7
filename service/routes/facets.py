"""Facets: counts of a space's memories, and its sizes."""

from litestar import Response

from muisti.core.query.points import parse
from muisti.service.http.parameters import PAST, AsOfParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import read
from muisti.service.http.routing import Routes
from muisti.service.schemas.replies import CountsReply, StatsReply

routes = Routes("facets")


@routes.get("/categories", needs="read", problems=PAST)
async def list_categories(request: Request, as_of: AsOfParameter = None) -> Response[CountsReply]:
    """Count the active memories of each category."""
    counts = await request.ask(request.memories.read.categories, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@routes.get("/tags", needs="read", problems=PAST)
async def list_tags(request: Request, as_of: AsOfParameter = None) -> Response[CountsReply]:
    """Count the active memories of each tag."""
    counts = await request.ask(request.memories.read.tags, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@routes.get("/stats", needs="read", problems=PAST)
async def get_stats(request: Request, as_of: AsOfParameter = None) -> Response[StatsReply]:
    """Read the sizes and rates of a space."""
    stats = await request.ask(request.memories.read.stats, as_of=parse(as_of))
    use = request.backend.engine.models.cache.use if request.access.may("admin") else None
    return read(StatsReply.of(stats, use), stats.seq)

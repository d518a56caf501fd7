"""Counts: what a space holds."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from service.respond import read
from service.schemas.replies import CountsReply, StatsReply
from service.workers import Backend


@get("/categories", operation_id="listCategories", tags=["facets"])
async def list_categories(space: FromPath[str], backend: NamedDependency[Backend]) -> Response[CountsReply]:
    """Count the active memories of each category."""
    counts = await backend.store(backend.engine.categories, space)
    return read(CountsReply.of(counts), counts.seq)


@get("/tags", operation_id="listTags", tags=["facets"])
async def list_tags(space: FromPath[str], backend: NamedDependency[Backend]) -> Response[CountsReply]:
    """Count the active memories of each tag."""
    counts = await backend.store(backend.engine.tags, space)
    return read(CountsReply.of(counts), counts.seq)


@get("/stats", operation_id="getStats", tags=["facets"])
async def get_stats(space: FromPath[str], backend: NamedDependency[Backend]) -> Response[StatsReply]:
    """Read the sizes and rates of a space."""
    stats = await backend.store(backend.engine.stats, space)
    return read(StatsReply.of(stats), stats.seq)


ROUTES = (list_categories, list_tags, get_stats)

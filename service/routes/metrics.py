"""The metrics and statistics of the server."""

from litestar import Request, Response, get

from muisti.service.auth.administration import check_everywhere
from muisti.service.auth.middleware import METRICS, access_of
from muisti.service.metrics.scrape import Scrape
from muisti.service.schemas.statistics import ServerStatsReply


@get(METRICS, operation_id="getMetrics", tags=["operations"], needs="admin", media="text/plain")
async def get_metrics(request: Request) -> Response[bytes]:
    """Read metrics, for Prometheus.

    The answer covers the whole server, as text, or as OpenMetrics when `Accept` names that. Needs a key of all spaces,
    or the one of the setting `MUISTI_METRICS_KEY`, which opens nothing else.
    """
    check_everywhere(access_of(request.scope), "metrics are read")
    scrape: Scrape = request.app.state.scrape
    body, media_type = await scrape.render(request.headers.get("accept", ""))
    return Response(body, media_type=media_type)


@get("/v1/server/stats", operation_id="getServerStats", tags=["operations"], needs="admin")
async def get_server_stats(request: Request) -> Response[ServerStatsReply]:
    """Read how long each operation takes.

    The answer covers all workers of the server since their start: for each operation the number of requests, the mean
    and percentiles. Needs a key of all spaces.
    """
    check_everywhere(access_of(request.scope), "statistics of the server are read")
    scrape: Scrape = request.app.state.scrape
    return Response(await scrape.summary())


ROUTES = (get_metrics, get_server_stats)

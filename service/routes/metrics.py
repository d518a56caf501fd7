"""The metrics of the server."""

from litestar import Request, Response, get

from muisti.service.auth.administration import check_everywhere
from muisti.service.auth.middleware import METRICS, access_of
from muisti.service.metrics.scrape import Scrape


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


ROUTES = (get_metrics,)

"""Health checks, metrics and statistics of the server."""

import asyncio

from litestar import Response
from msgspec import UNSET

from muisti.core.engine import Engine
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.generations import without_place
from muisti.core.model.spaces import Space
from muisti.core.model.tasks import Failing
from muisti.service.auth.administration import check_everywhere
from muisti.service.auth.middleware import METRICS, AuthMiddleware
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.metrics.scrape import Scrape
from muisti.service.schemas.health import AliveReply, EmbeddingsReply, FailingReply, ReadyReply, ServerStatsReply
from muisti.service.version import installed_version

routes = Routes("operations", "")

PATIENCE_SECONDS = 2.0


@routes.get("/healthz", needs="nothing")
async def get_health() -> AliveReply:
    """Say that the process answers."""
    return AliveReply()


@routes.get(
    "/readyz",
    needs="nothing",
    tells_more=True,
    problems=["busy", "store_unavailable", "store_replaced", "store_corrupt", "issuer_unavailable"],
)
async def get_readiness(request: Request) -> ReadyReply:
    """Say whether the service can do its work.

    503 when the database does not answer, or its file was deleted, moved or replaced while it was open; 500 when it is
    damaged. Callers with a key also get the version and details; while there are no keys, all callers do.
    """
    try:
        spaces, failing = await asyncio.wait_for(request.backend.vital(_seen, request.backend.engine), PATIENCE_SECONDS)
        gate: AuthMiddleware = request.app.state.gate
        access = await asyncio.wait_for(gate.recognise(list(request.scope["headers"]), "/readyz"), PATIENCE_SECONDS)
    except TimeoutError:
        raise StoreUnavailable(f"the database has not answered for {PATIENCE_SECONDS:g} s") from None
    if not access.known:
        return ReadyReply()
    obstacle = request.backend.engine.tasks.obstacle
    return ReadyReply(
        version=installed_version(),
        store=request.backend.engine.store,
        spaces=sum(access.grant.reaches(space.name) for space in spaces),
        loading=[name for name in request.backend.engine.indexes_loading if access.grant.reaches(name)],
        embeddings=_embeddings(request.backend.engine),
        index_bytes=request.backend.engine.index_bytes,
        indexes_evicted=request.backend.engine.indexes_evicted,
        tasks_blocked=UNSET if obstacle is None else obstacle.code,
        tasks_failing=[
            FailingReply(task=one.task, kind=one.kind, space=one.space, tries=one.tries)
            for one in failing
            if access.grant.reaches(one.space)
        ]
        or UNSET,
    )


def _embeddings(engine: Engine) -> EmbeddingsReply:
    seconds = engine.models.seconds
    return EmbeddingsReply(
        enabled=engine.model is not None,
        model=engine.model,
        second=without_place(seconds.default),
        unusable=[without_place(name) for name in sorted(seconds.problems)] or UNSET,
    )


def _seen(engine: Engine) -> tuple[list[Space], list[Failing]]:
    engine.check()
    return engine.spaces.list(), engine.tasks.failing()


@routes.get(METRICS, needs="admin", media="text/plain")
async def get_metrics(request: Request) -> Response[bytes]:
    """Read metrics, for Prometheus.

    The answer covers the whole server, as text, or as OpenMetrics when `Accept` names that. Needs a key of all spaces,
    or the one of the setting `MUISTI_METRICS_KEY`, which opens nothing else.
    """
    check_everywhere(request.access, "metrics are read")
    scrape: Scrape = request.app.state.scrape
    body, media_type = await scrape.render(request.headers.get("accept", ""))
    return Response(body, media_type=media_type)


@routes.get("/v1/server/stats", needs="admin")
async def get_server_stats(request: Request) -> Response[ServerStatsReply]:
    """Read how long each operation takes.

    The answer covers all workers of the server since their start: for each operation the number of requests, the mean
    and percentiles. Needs a key of all spaces.
    """
    check_everywhere(request.access, "statistics of the server are read")
    scrape: Scrape = request.app.state.scrape
    return Response(await scrape.summary())

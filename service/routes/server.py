"""Health, metrics and statistics of the server, documentation of the API, and metadata for tokens."""

from importlib import resources
from typing import Annotated, Any, cast

from litestar import Response
from litestar.params import FromPath
from msgspec import Meta, Struct

from muisti.core.model.errors import NotFound
from muisti.service.auth.access import check_everywhere
from muisti.service.auth.challenge import MCP_PATH, WELL_KNOWN, Resource
from muisti.service.auth.middleware import METRICS
from muisti.service.http.plain import readiness
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.metrics.scrape import Scrape
from muisti.service.schemas.errors import KINDS, REMEDIES, HttpError, problem_type
from muisti.service.schemas.health import AliveReply, ReadyReply, ServerStatsReply

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
    return await readiness(request.scope, cast(Any, request.app.state))


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


# Documentation of the API: for programs, for people, and of each kind of error

ASSETS = {"index.html": "text/html", "docs.css": "text/css", "docs.js": "text/javascript", "skill.md": "text/markdown"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FRESH = {"Cache-Control": "no-cache"}


class KindReply(Struct, frozen=True, kw_only=True):
    """The meaning of a kind of problem, and the next step of the caller.

    `retry_after` is in seconds, null when a retry is of no use.
    """

    type: str
    code: str
    status: int
    title: str
    meaning: str
    remedy: str
    retry_after: int | None

    @classmethod
    def of(cls, code: str) -> "KindReply":
        kind = KINDS[code]
        return cls(
            type=problem_type(code),
            code=code,
            status=kind.status,
            title=kind.title,
            meaning=kind.meaning,
            remedy=REMEDIES[code],
            retry_after=kind.retry_after,
        )


@routes.get("/openapi.json", needs="nothing", media="application/json")
async def get_openapi(request: Request) -> Response[bytes]:
    """Read this document."""
    return Response(request.app.state.openapi(), media_type="application/json", headers=FRESH)


@routes.get("/docs", needs="nothing", media="text/html")
async def get_docs() -> Response[bytes]:
    """Browse the API and try it."""
    return _asset("index.html")


@routes.get("/docs/{name:str}", needs="nothing", include_in_schema=False)
async def get_asset(name: FromPath[str]) -> Response[bytes]:
    """Read a file of the page."""
    if name not in ASSETS:
        raise NotFound("page", f"/docs/{name[:80]}")
    return _asset(name)


@routes.get("/problems/{code:str}", needs="nothing")
async def get_problem(code: FromPath[str]) -> KindReply:
    """Explain a kind of error: the `type` of every problem leads here."""
    if code not in KINDS:
        raise NotFound("problem", code[:80])
    return KindReply.of(code)


def _asset(name: str) -> Response[bytes]:
    content = resources.files("muisti.service").joinpath("static", name).read_bytes()
    headers = {**FRESH, "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
    return Response(content, media_type=ASSETS[name], headers=headers)


# Metadata of this server as a protected resource: who issues tokens for it (RFC 9728)


class ResourceReply(Struct, frozen=True, kw_only=True):
    """Metadata of this server as a protected resource (RFC 9728)."""

    resource: Annotated[str, Meta(description="What to ask a token for.")]
    authorization_servers: Annotated[list[str], Meta(description="Who issues tokens.")]
    scopes_supported: list[str]
    bearer_methods_supported: list[str]
    resource_name: str = "Muisti"


@routes.get(WELL_KNOWN, needs="nothing", problems=["no_route"])
async def get_resource_metadata(request: Request) -> Response[ResourceReply]:
    """Read where tokens for the HTTP API come from.

    Only a server that takes tokens has this.
    """
    return _metadata(request, "")


@routes.get(WELL_KNOWN + MCP_PATH, needs="nothing", problems=["no_route"])
async def get_mcp_metadata(request: Request) -> Response[ResourceReply]:
    """Read where tokens for MCP come from.

    Only a server that takes tokens has this.
    """
    return _metadata(request, MCP_PATH)


def _metadata(request: Request, path: str) -> Response[ResourceReply]:
    resource: Resource | None = request.app.state.resource
    if resource is None:
        raise HttpError("no_route", "this server takes keys, no tokens")
    reply = ResourceReply(
        resource=resource.address(path, request.scope["headers"]),
        authorization_servers=[resource.issuer],
        scopes_supported=resource.scopes,
        bearer_methods_supported=["header"],
    )
    return Response(reply, headers=FRESH)

"""Metadata of this server as a protected resource: who issues tokens for it (RFC 9728)."""

from typing import Annotated

from litestar import Response
from msgspec import Meta, Struct

from muisti.service.auth.challenge import MCP_PATH, WELL_KNOWN, Resource
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.schemas.errors import HttpError

routes = Routes("operations", "")

FRESH = {"Cache-Control": "no-cache"}


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

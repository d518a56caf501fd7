"""MCP on standard input and output, for clients of this machine."""

import anyio
from mcp.server.stdio import stdio_server

from core.grants import Grant
from core.values import LOCAL
from service import logs
from service.access import Access
from service.app import open_engine
from service.mcp.server import make_server
from service.mcp.session import Session
from service.settings import Settings
from service.sweeps import sweeps_of
from service.upkeep import Upkeep
from service.workers import Backend


def run(settings: Settings, grant: Grant) -> None:
    """Serve until standard input ends.

    Raises:
        MuistiError: the database cannot be used.
    """
    logs.configure(settings)  # on stderr: standard output is the protocol's
    with open_engine(settings) as engine:
        for space in grant.spaces:
            engine.spaces.ensure(space)
        backend = Backend(engine, settings)
        try:
            with Upkeep(engine, sweeps_of(settings), backend.meters):
                anyio.run(_serve, Session(backend, Access(LOCAL, grant)))
        finally:
            backend.close()


async def _serve(session: Session) -> None:
    server = make_server(lambda _: session)
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())

"""MCP on standard input and output, for clients of this machine."""

import logging

import anyio
from anyio import to_thread

from muisti.core.identity.grants import Grant
from muisti.core.model.values import LOCAL
from muisti.core.operations.compiled_kernels import compiled_kernels
from muisti.service.app.app import open_engine
from muisti.service.auth.access import Access
from muisti.service.background.task_threads import TaskThreads
from muisti.service.background.tasks import sweeps_of
from muisti.service.background.upkeep import Upkeep
from muisti.service.mcp.manager import make_server
from muisti.service.mcp.stdio import serve
from muisti.service.observability import logs
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from muisti.service.settings.tool_groups import groups_in
from muisti.service.terminal.base import Globals
from muisti.service.terminal.callers import grant_of
from muisti.service.terminal.configuration import category_of, in_force, mode_of, settings_for
from muisti.service.terminal.opening import refusals, space_choice
from muisti.service.tools.session import Session, citation_of

_LOG = logging.getLogger("muisti.mcp")


def run(options: Globals, mode: str | None, category: str | None, tools: str | None) -> None:
    """Serve the space of the options until standard input ends."""
    with refusals(options):
        spaces = (space_choice(options).space,)
        grant = grant_of(mode or mode_of(options), spaces, category or category_of(options))
        _run(settings_for(options, in_force(options, {"mcp_tools": tools}), create=True), grant)


def _run(settings: Settings, grant: Grant) -> None:
    """Serve until standard input ends.

    Raises:
        MuistiError: the database cannot be used.
    """
    logs.configure(settings)  # on stderr, because standard output carries the protocol
    if compiled_kernels().pending:  # compiling everything would take longer than clients wait
        _LOG.warning("kernels", extra={"detail": "numba compiles each when it is first used; run muisti doctor once"})
    with open_engine(settings) as engine:
        for space in grant.spaces:
            engine.spaces.ensure(space)
        backend = Backend(engine, settings)
        session = Session(backend, Access(LOCAL, grant), groups_in(settings.mcp_tools), citation=citation_of(settings))
        with Upkeep(engine, sweeps_of(settings), backend.meters), TaskThreads(engine, settings):
            anyio.run(_serve, session)


async def _serve(session: Session) -> None:
    try:
        await serve(make_server(lambda _: session), session.backend.uploads.body)
    finally:  # calls that still run report to the event loop
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(session.backend.close)

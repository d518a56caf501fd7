"""MCP on standard input and output, for clients of this machine."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from muisti.core.identity.grants import Grant
from muisti.core.model.errors import MuistiError
from muisti.core.model.spaces import DEFAULT
from muisti.core.model.values import LOCAL
from muisti.core.operations.compiled_kernels import compiled_kernels
from muisti.service.agents.answering import Agents
from muisti.service.agents.listening import listen
from muisti.service.app.app import open_engine
from muisti.service.auth.access import Access
from muisti.service.background.fleet import Fleet
from muisti.service.background.tasks import sweeps_of
from muisti.service.mcp.manager import make_server
from muisti.service.mcp.stdio import serve
from muisti.service.observability import logs
from muisti.service.runtime.databases import location_of
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from muisti.service.settings.tool_groups import groups_in
from muisti.service.terminal.base import Globals
from muisti.service.terminal.callers import grant_of
from muisti.service.terminal.configuration import category_of, in_force, mode_of, settings_for
from muisti.service.terminal.opening import refusals, space_choice
from muisti.service.terminal.project import choose
from muisti.service.tools.session import PERSONAL, Session, citation_of

_LOG = logging.getLogger("muisti.mcp")


ASK = frozenset({"tools/call", "resources/read", "resources/list", "prompts/get", "completion/complete"})
SECONDS = 5.0  # for the client's answer about its folders


def run(options: Globals, folder: str | None, mode: str | None, category: str | None, tools: str | None) -> None:
    """Serve the space of the options until standard input ends.

    With a `folder` the space is that of its project. A client that did not fill it in is asked for its folders.
    """
    with refusals(options):
        asks = folder is not None and not options.space and not Path(folder).is_dir()
        if folder is not None and not asks:
            spaces: tuple[str, ...] = (choose(options.space, os.environ, Path(folder)).space,)
        else:
            spaces = (DEFAULT,) if asks else (space_choice(options).space,)
        grant = grant_of(mode or mode_of(options), spaces, category or category_of(options))
        project = None if folder is None else spaces[0]
        _run(settings_for(options, in_force(options, {"mcp_tools": tools}), create=True), grant, project, asks=asks)


def _run(settings: Settings, grant: Grant, project: str | None, *, asks: bool) -> None:
    """Serve until standard input ends. Beside the space of a `project` the personal one is open.

    Raises:
        MuistiError: the database cannot be used.
    """
    logs.configure(settings)  # on stderr, because standard output carries the protocol
    if compiled_kernels().pending:  # compiling everything would take longer than clients wait
        _LOG.warning("kernels", extra={"detail": "numba compiles each when it is first used; run muisti doctor once"})
    with open_engine(settings) as engine:
        backend = Backend(engine, settings)
        for space in grant.spaces if project is None else (*grant.spaces, PERSONAL):
            backend.engines.ensure(space)
        personal = Access(LOCAL, replace(grant, spaces=(PERSONAL,)))
        session = Session(
            backend,
            Access(LOCAL, grant),
            groups_in(settings.mcp_tools),
            citation=citation_of(settings),
            project=project,
            personal=personal,
        )
        fleet = Fleet(backend, sweeps_of(settings), settings)
        fleet.start()
        try:
            anyio.run(_serve, _Client(session, asks=asks), location_of(settings).file)
        finally:
            fleet.close()
            backend.engines.close()


async def _serve(client: "_Client", database: Path | None) -> None:
    backend = client.session.backend
    server = make_server(lambda _: client.session)
    server.middleware.append(client)
    try:
        async with anyio.create_task_group() as tasks:
            if database is not None:
                tasks.start_soon(listen, Agents(backend), database)
            await serve(server, backend.uploads.body)
            tasks.cancel_scope.cancel()
    finally:  # calls that still run report to the event loop
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(backend.close)


class _Client:
    """The client of this process. With `asks` its first request that needs a space waits for its folders."""

    def __init__(self, session: Session, *, asks: bool) -> None:
        self.session, self._asks, self._asking = session, asks, anyio.Lock()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if self._asks and ctx.method in ASK:
            async with self._asking:
                if self._asks:
                    await self._settle(ctx)
                    self._asks = False
        return await call_next(ctx)

    async def _settle(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Work in the space of the client's first folder; a client that names none keeps the usual space."""
        folder = await _folder_of(ctx)
        if folder is None:
            return
        with suppress(MuistiError):
            space = choose(None, os.environ, folder).space
            await self.session.backend.store(self.session.backend.engines.ensure, space)
            grant = replace(self.session.access.grant, spaces=(space,))
            self.session = replace(self.session, access=Access(LOCAL, grant), project=space)


async def _folder_of(ctx: ServerRequestContext[Any, Any]) -> Path | None:
    """Return the first folder that a client names as a root; None when it does not tell."""
    known = ctx.session.client_capabilities
    if known is None or known.roots is None:
        return None
    with anyio.move_on_after(SECONDS), suppress(MCPError):
        found = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        folders = (unquote(urlsplit(str(root.uri)).path) for root in found.roots if str(root.uri).startswith("file:"))
        return next((Path(one) for one in folders if Path(one).is_dir()), None)
    return None

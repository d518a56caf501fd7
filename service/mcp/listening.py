"""Change notifications of protocol version 2026-07-28: a request whose answer is a stream of later changes.

Streams poll. Every second a stream reads the points of history of all spaces, and reads its resources again when their
space has moved on. So changes of all processes are found, and no state is kept for clients that do not listen.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    event_to_notification,
)

from muisti.core.model.errors import MuistiError, NotFound
from muisti.core.model.values import Seq
from muisti.service.mcp import resources
from muisti.service.mcp.session import Session
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError

STREAMS = 256  # at the same time, in this process
RESOURCES = 100  # of one stream
SECONDS = 600.0  # after which a stream ends normally, and its client subscribes again
EVERY = 1.0  # seconds between polls

Context = ServerRequestContext[Any, Any]
Standing = Mapping[str, Seq]  # of each space


class Listening:
    """Answers `subscriptions/listen`. `session_of` gives the session of a request."""

    def __init__(self, session_of: Callable[[Context], Session]) -> None:
        self._session_of = session_of
        self._spaces = _Spaces()
        self._streams = 0

    async def __call__(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        asked = params.notifications
        uris = list(dict.fromkeys(asked.resource_subscriptions or ()))
        if len(uris) > RESOURCES:
            raise MCPError(types.INVALID_PARAMS, f"{len(uris)} resources are too many; a stream takes {RESOURCES}")
        if self._streams == STREAMS:
            raise MCPError(types.INTERNAL_ERROR, f"{STREAMS} streams are open; try again later", {"code": "busy"})
        self._streams += 1
        try:
            await self._stream(ctx, bool(asked.resources_list_changed), uris)
        except (MuistiError, HttpError) as error:
            raise MCPError(types.INTERNAL_ERROR, str(error), {"code": error.code}) from error
        finally:
            self._streams -= 1
        return types.SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: ctx.request_id})

    async def _stream(self, ctx: Context, lists: bool, uris: Sequence[str]) -> None:
        session = self._session_of(ctx)
        lists = lists and session.access.may("read")
        watch = _Watch(session, lists)
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        honoured = types.SubscriptionFilter(
            resources_list_changed=lists or None,
            resource_subscriptions=await watch.begin(await self._spaces.standing(session.backend), uris) or None,
        )
        params = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
        await ctx.session.send_notification(
            types.SubscriptionsAcknowledgedNotification(params=params), related_request_id=ctx.request_id
        )
        with anyio.move_on_after(SECONDS):
            while not session.backend.stopping:
                await anyio.sleep(EVERY)
                for event in await watch.changes(await self._spaces.standing(session.backend)):
                    await ctx.session.send_notification(
                        event_to_notification(event, meta), related_request_id=ctx.request_id
                    )


class _Spaces:
    """The points of history of all spaces, read once for all streams together."""

    def __init__(self) -> None:
        self._looking = anyio.Lock()
        self._standing: Standing = {}
        self._stale_at = 0.0

    async def standing(self, backend: Backend) -> Standing:
        clock = asyncio.get_running_loop().time
        async with self._looking:
            if clock() >= self._stale_at:
                self._standing = {one.name: one.at for one in await backend.store(backend.engine.spaces.list)}
                self._stale_at = clock() + EVERY / 2
            return self._standing


class _Watch:
    """The resources of one stream, as its caller last saw them."""

    def __init__(self, session: Session, lists: bool) -> None:
        self._session, self._lists = session, lists
        self._spaces: Standing = {}
        self._seen: dict[str, int | None] = {}  # by URI, the hash of what it read; None: nothing any more

    async def begin(self, spaces: Standing, uris: Sequence[str]) -> list[str]:
        """Return those of the resources that the caller can read now; the stream reports changes of these."""
        self._spaces = spaces
        found = {uri: await self._read(uri) for uri in uris}
        self._seen = {uri: now for uri, now in found.items() if now is not None}
        return list(self._seen)

    async def changes(self, spaces: Standing) -> list[ServerEvent]:
        before, self._spaces = self._spaces, spaces
        moved = {name for name in before.keys() | spaces.keys() if before.get(name) != spaces.get(name)}
        if not moved:
            return []
        events: list[ServerEvent] = []
        if self._lists and any(self._session.access.grant.reaches(name) for name in before.keys() ^ spaces.keys()):
            events.append(ResourcesListChanged())
        for uri, seen in self._seen.items():
            if resources.space_of(uri) in moved and (now := await self._read(uri)) != seen:
                self._seen[uri] = now
                events.append(ResourceUpdated(uri))
        return events

    async def _read(self, uri: str) -> int | None:
        try:
            return hash((await resources.read(self._session, uri)).text)
        except (NotFound, HttpError):  # HttpError: the key does not reach it
            return None

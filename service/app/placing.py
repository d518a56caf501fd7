"""The stage that sends a request again whose space has moved to another database meanwhile."""

import asyncio
from collections.abc import MutableMapping
from typing import Any, cast

from muisti.core.model.errors import MuistiError, SpaceMoving
from muisti.service.asgi.messages import send_problem
from muisti.service.auth.access import STATE, Access
from muisti.service.http.decode import SLASH
from muisti.service.http.plain import State
from muisti.service.runtime.placing import ABOUT_PLACE, TRIES, again
from muisti.service.schemas.asgi import ASGIApp, Message, Receive, Scope, Send
from muisti.service.schemas.errors import NO_SPACE, PROBLEM, WORKS_IN

PAUSE_SECONDS = 0.05  # before a request to a space that is just moving is sent again
KEPT = 1 << 20  # bytes of a body that can be sent again


class Placing:
    """Passes requests on, and looks at refusals that may be about the place of a space."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        before, body = dict(scope), _Body(receive)
        for left in reversed(range(TRIES)):
            answer = _Held(scope, send)
            await self._app(scope, body, answer)
            if answer.start is None:
                return
            known = cast(MutableMapping[str, Any], scope)
            space = known.get(WORKS_IN) or known.get("path_params", {}).get("space")
            code = known.get(PROBLEM)
            if not left or not isinstance(space, str) or not isinstance(code, str) or not body.whole:
                break
            access: Access = known[STATE]
            if not access.grant.reaches(space.replace(SLASH, "/")):  # whether it exists must not show, not even in time
                break
            backend = self._state.backend
            try:
                retry = await backend.vital(again, backend.engines, space.replace(SLASH, "/"), code)
            except SpaceMoving as error:  # for a moment, as a rule
                await asyncio.sleep(PAUSE_SECONDS)
                if not (retry := left > 1):
                    await send_problem(scope, send, error)
                    return
            except MuistiError as error:
                await send_problem(scope, send, error)
                return
            if not retry:
                break
            known.clear()
            known.update(before)
            body.again()
        await answer.release()


def about_place(scope: dict[str, Any]) -> bool:
    """Tell whether a refusal may be about the place of a space, and not about the request."""
    code = scope.get(PROBLEM)
    return code in ABOUT_PLACE and (code != "not_found" or NO_SPACE in scope)


class _Body:
    """The body of a request, which can be received again while it is small."""

    __slots__ = ("_at", "_kept", "_receive", "_size", "whole")

    def __init__(self, receive: Receive) -> None:
        self._receive, self._kept, self._at, self._size = receive, list[Any](), 0, 0
        self.whole = True

    async def __call__(self) -> Any:
        if self._at < len(self._kept):
            self._at += 1
            return self._kept[self._at - 1]
        message = await self._receive()
        if self.whole and message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self.whole = self._size <= KEPT
            self._kept.append(message)
            self._at += 1
        return message

    def again(self) -> None:
        self._at = 0


class _Held:
    """Sends an answer on, except a refusal that may be about the place of a space, which it holds."""

    __slots__ = ("_messages", "_scope", "_send", "start")

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send, self._messages = scope, send, list[Message]()
        self.start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if self.start is None and not (
            message["type"] == "http.response.start"
            and message["status"] >= 400
            and about_place(cast(dict[str, Any], self._scope))
        ):
            await self._send(message)
            return
        if self.start is None:
            self.start = message
        self._messages.append(message)

    async def release(self) -> None:
        for message in self._messages:
            await self._send(message)

"""Questions to a person before a tool does what cannot be undone: results of the type `input_required`.

The state that goes with a question is sealed by a key of the database, so any of its processes reads the answer. It
names the caller, the tool, its arguments and the point in the history of the space, and ends after ten minutes.
"""

import hashlib
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from muisti.service.auth import signing
from muisti.service.mcp.tasks import SessionOf
from muisti.service.mcp.tools import tool_of
from muisti.service.tools.session import Confirmed, Question, Session

Context = ServerRequestContext[Any, Any]

NAME, PURPOSE = "confirm", b"muisti mcp questions"
SECONDS = 600.0  # in which an answer counts
SCHEMA = {
    "type": "object",
    "properties": {NAME: {"type": "boolean", "title": "Do it", "default": False}},
    "required": [NAME],
}


def can_ask(ctx: Context) -> bool:
    """Tell whether the client of a request can show a form to a person."""
    able = ctx.session.client_capabilities
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or able is None or able.elicitation is None:
        return False
    return able.elicitation.form is not None or able.elicitation.url is None  # {} means a form


def asked(question: Question) -> types.InputRequiredResult:
    """Return the result that asks a person."""
    params = types.ElicitRequestFormParams(message=question.text, requested_schema=SCHEMA)
    return types.InputRequiredResult(
        input_requests={NAME: types.ElicitRequest(params=params)}, request_state=question.about
    )


def confirmed(params: types.CallToolRequestParams) -> Confirmed:
    """Return what a person has answered; the state of the request is one that was sealed here."""
    given = (params.input_responses or {}).get(NAME)
    if given is None:  # not answered: asked again
        return Confirmed()
    try:
        answer = types.ElicitResult.model_validate(given, from_attributes=True)
    except ValidationError:
        return Confirmed()
    accepted = answer.action == "accept" and (answer.content or {}).get(NAME) is True
    return Confirmed(params.request_state, accepted)


class Sealing:
    """A middleware that seals the state of questions and refuses states that are forged, old or of another call."""

    def __init__(self, session_of: SessionOf) -> None:
        self._session_of = session_of
        self._boundary: RequestStateBoundary | None = None

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or not can_ask(ctx):
            return await call_next(ctx)
        session = self._session_of(ctx)
        tool = tool_of(session.access, str((ctx.params or {}).get("name")))
        if tool is None or "staged" not in tool.traits:
            return await call_next(ctx)
        self._boundary = self._boundary or await self._made(session)
        return await self._boundary(ctx, call_next)

    async def _made(self, session: Session) -> RequestStateBoundary:
        backend = session.backend
        secret = await backend.store(signing.secret, backend.main, backend.signing_key_file)
        key = hashlib.blake2b(PURPOSE, key=secret, digest_size=32).digest()
        security = RequestStateSecurity(keys=[key], ttl=SECONDS, bind_principal=self._principal)
        return RequestStateBoundary(security, default_audience="muisti")

    def _principal(self, ctx: Context) -> str:
        access = self._session_of(ctx).access
        return f"{access.key_id} {access.actor}"

"""Types of ASGI as Litestar spells them. Only checkers load it here: it takes a third of a start with its routes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
else:
    ASGIApp = HTTPScope = Message = Receive = Scope = Send = Any

__all__ = ["ASGIApp", "HTTPScope", "Message", "Receive", "Scope", "Send"]

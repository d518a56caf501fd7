"""A call of a tool, and its outcome."""

from hashlib import blake2b
from typing import Any

import msgspec

from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Name, RequestKey
from muisti.core.views.memories import Memories
from muisti.service.auth.access import Access
from muisti.service.mcp.arguments import OneMemory
from muisti.service.mcp.session import Session
from muisti.service.runtime.workers import Backend

Json = dict[str, Any]
KEY_MAX = 255  # characters


class Call(msgspec.Struct, frozen=True):
    """A tool that is called: by whom, in which space, on which memories, with which arguments.

    `space` is empty for a tool that belongs to none.
    """

    session: Session
    space: str
    memories: Memories
    raw: bytes

    @property
    def backend(self) -> Backend:
        return self.session.backend

    @property
    def access(self) -> Access:
        return self.session.access

    def name(self, given: OneMemory) -> Name:
        """Return the name of the memory that is meant.

        Raises:
            InvalidInput: none is named.
        """
        return given.name(self.access.grant.category)

    def once(self, tool: str, key: str | None, part: int | None = None) -> RequestKey | None:
        """Return the key that makes a repeated call the same call: in MCP a retry has another id.

        `part` is the number of one of several writes of the call, from 0.
        """
        if key is None:
            return None
        if not 1 <= len(key) <= KEY_MAX or not key.isascii() or not key.isprintable():
            raise InvalidInput.at("$.idempotency_key", f"must have 1 to {KEY_MAX} visible ASCII characters")
        scope = f"mcp {self.space} {self.access.actor}" + (f" {part}" if part else "")
        return RequestKey(scope, key, blake2b(tool.encode() + b"\0" + self.raw, digest_size=32).digest())


class Outcome(msgspec.Struct, frozen=True):
    """The answer of a tool: for programs and for models."""

    structured: Json
    text: str
    is_error: bool = False

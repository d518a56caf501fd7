"""A client of Muisti: `connect` returns a memory with typed verbs, and `Muisti` has a method for each operation.

`connect` and `Muisti` are for threads, `connect_async` and `AsyncMuisti` for asyncio. `calls` only writes requests;
`send` of a `Muisti` sends one and returns a `Reply`, which has the body as it came.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._errors import (
    Busy,
    Conflict,
    Forbidden,
    Invalid,
    MuistiError,
    NotFound,
    Refused,
    StaleVersion,
    TooLong,
    Unauthorized,
    Unavailable,
    Unreachable,
    refused,
)
from ._wire import Call, Reply

if TYPE_CHECKING:
    from . import calls
    from ._async_client import AsyncMuisti
    from ._async_connecting import connect_async
    from ._async_protocol import AsyncMemory
    from ._async_space import AsyncSpace
    from ._sync_client import Muisti
    from ._sync_connecting import connect
    from ._sync_protocol import Memory
    from ._sync_space import Space

__all__ = [
    "AsyncMemory",
    "AsyncMuisti",
    "AsyncSpace",
    "Busy",
    "Call",
    "Conflict",
    "Forbidden",
    "Invalid",
    "Memory",
    "Muisti",
    "MuistiError",
    "NotFound",
    "Refused",
    "Reply",
    "Space",
    "StaleVersion",
    "TooLong",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "calls",
    "connect",
    "connect_async",
    "refused",
]

# Imported when they are first used: they load httpx or msgspec, which takes a tenth of a second. `calls` takes 30 ms.
LATE = {
    "AsyncMemory": "._async_protocol",
    "AsyncMuisti": "._async_client",
    "AsyncSpace": "._async_space",
    "Memory": "._sync_protocol",
    "Muisti": "._sync_client",
    "Space": "._sync_space",
    "connect": "._sync_connecting",
    "connect_async": "._async_connecting",
}


def __getattr__(name: str) -> Any:
    if name == "calls":
        return import_module(".calls", __name__)
    if name not in LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(LATE[name], __name__), name)

"""A client of Muisti's HTTP API: `Muisti` and `AsyncMuisti`, with a method for each operation.

`calls` only writes requests. `send` of a client sends one and returns a `Reply`, which has the body as it came.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import calls
from ._wire import Call, MuistiError, Reply, Unreachable

if TYPE_CHECKING:
    from ._async_client import AsyncMuisti
    from ._sync_client import Muisti

__all__ = ["AsyncMuisti", "Call", "Muisti", "MuistiError", "Reply", "Unreachable", "calls"]


def __getattr__(name: str) -> Any:
    """Import a client when it is first used: it loads httpx, which takes a tenth of a second."""
    modules = {"AsyncMuisti": "._async_client", "Muisti": "._sync_client"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(modules[name], __name__), name)

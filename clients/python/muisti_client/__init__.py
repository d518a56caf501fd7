"""A client of Muisti's HTTP API: `Muisti` and `AsyncMuisti`, with a method for each operation."""

from muisti_client._async_calls import AsyncMuisti
from muisti_client._sync_calls import Muisti
from muisti_client._wire import MuistiError, Unreachable

__all__ = ["AsyncMuisti", "Muisti", "MuistiError", "Unreachable"]

"""Interface of a way to the service: a network, or the application in this process.

`_sync_sending` is made from this module by generate.py.
"""

from collections.abc import AsyncGenerator
from typing import Protocol

from ._wire import Call, Reply


class AsyncSender(Protocol):
    """A way to the service."""

    @property
    def closed(self) -> bool: ...

    async def start(self) -> object:
        """Open what must be open before the first request; a second call does nothing."""
        ...

    async def send(self, request: Call) -> Reply:
        """Return the answer. Raises `MuistiError`."""
        ...

    def pieces(self, request: Call) -> AsyncGenerator[bytes, None]:
        """Yield a long answer in pieces as it arrives. Raises `MuistiError`."""
        ...

    async def aclose(self) -> None: ...

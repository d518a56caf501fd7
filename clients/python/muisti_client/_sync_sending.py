"""Interface of a way to the service: a network, or the application in this process.

Made from `_async_sending` by generate.py.
"""

from collections.abc import Generator
from typing import Protocol

from ._wire import Call, Reply


class Sender(Protocol):
    """A way to the service."""

    @property
    def closed(self) -> bool: ...

    def start(self) -> object:
        """Open what must be open before the first request; a second call does nothing."""
        ...

    def send(self, request: Call) -> Reply:
        """Return the answer. Raises `MuistiError`."""
        ...

    def pieces(self, request: Call) -> Generator[bytes, None, None]:
        """Yield a long answer in pieces as it arrives. Raises `MuistiError`."""
        ...

    def close(self) -> None: ...

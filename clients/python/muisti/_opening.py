"""Handles on a database in this process."""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from muisti.client import AsyncSpace, Space
from muisti.service.app.embedded import Embedded, EmbeddedThread


def opened(path: str | PathLike[str], space: str, settings: Mapping[str, Any]) -> Space:
    """Open a database on a thread of its own, and return a handle on a space."""
    return Space(EmbeddedThread(fspath(path), space, settings), space)


def opened_async(path: str | PathLike[str], space: str, settings: Mapping[str, Any]) -> AsyncSpace:
    """Return a handle that opens the database when it is first used."""
    return AsyncSpace(Embedded(fspath(path), space, settings), space)

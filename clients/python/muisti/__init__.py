"""Memory for agents, as a library: open a file or connect to a server, and use the same verbs on both.

    import muisti

    with muisti.open("notes.db") as memory:
        memory.remember("Deploys go out on Fridays.", tags=["release"])
        print(memory.search("when do we deploy?").hits[0].memory.content)

`connect` returns the same for a server; `open_async` and `connect_async` return handles whose methods are awaited.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if find_spec("fcntl") is None:  # the locks of files that several processes use
    raise ImportError("Muisti runs on Linux and macOS. On Windows, use WSL, or the package muisti-client and a server.")

from muisti import client
from muisti.client import (
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
)
from muisti.core.support.lazy import Lazy

if TYPE_CHECKING:
    from os import PathLike

    from muisti import _opening
    from muisti.client import AsyncMemory, AsyncSpace, Memory, Space, connect, connect_async
else:  # half a second: the application
    _opening = Lazy("muisti._opening")

__all__ = [
    "AsyncMemory",
    "AsyncSpace",
    "Busy",
    "Conflict",
    "Forbidden",
    "Invalid",
    "Memory",
    "MuistiError",
    "NotFound",
    "Refused",
    "Space",
    "StaleVersion",
    "TooLong",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "connect",
    "connect_async",
    "open",
    "open_async",
]


def open(path: "str | PathLike[str]", *, space: str = "default", **settings: Any) -> "Space":
    """Open a database file in this process, and return a handle on one of its spaces; both are created if missing.

    `":memory:"` is an empty database that ends with the handle. `settings` are those of docs/reference/settings.md by
    name, such as `secrets="redact"`; the environment is not read. Several threads may use one handle, and several
    processes one file.

    Raises:
        MuistiError: the database cannot be used.
        ValueError: there is no such setting, or it cannot have the value.
    """
    return _opening.opened(path, space, settings)


def open_async(path: "str | PathLike[str]", *, space: str = "default", **settings: Any) -> "AsyncSpace":
    """Return a handle like that of `open`, whose methods are awaited.

    The database is opened by `async with`, or by the first request.
    """
    return _opening.opened_async(path, space, settings)


def __getattr__(name: str) -> Any:
    if name not in client.LATE or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(client, name)

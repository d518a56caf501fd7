"""Interface of a memory. `_sync_protocol` is made from this module by generate.py."""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

from ._async_handles import AsyncHandles

if TYPE_CHECKING:
    from . import results
    from ._filters import Filters
    from ._wire import Call, Reply
    from .options import ContextOptions, RememberOptions, SearchOptions, SupersedeOptions, UpdateOptions


class AsyncMemory(AsyncHandles, Protocol):
    """One space of memories, on a file in this process or on a server.

    Memories are named by their id, by `category/key`, or by the arguments `category` and `key`. Every method raises
    `MuistiError`, or a subclass that says more.
    """

    @property
    def name(self) -> str:
        """The name of the space."""
        ...

    def space(self, name: str) -> Self:
        """Return a handle on another space of the same connection; closing either closes both."""
        ...

    async def remember(self, content: str, **options: Unpack[RememberOptions]) -> results.Stored:
        """Store a memory. When this returns, it is on disk and every search finds it.

        A missing space is made, if the key allows that.

        Raises:
            Conflict: a current memory says the same or the contrary, and `on_conflict` is not `keep`.
            Invalid: a field cannot be accepted.
        """
        ...

    async def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        on_conflict: str | None = None,
        atomic: bool = False,
        idempotency_key: str | None = None,
    ) -> builtins.list[results.Outcome]:
        """Store several memories: texts, or mappings with the fields of a memory.

        Each is stored or refused on its own, and its outcome has `memory` or `problem`. With `atomic` all are stored,
        or none; the error then names every bad field.
        """
        ...

    async def recall(self, query: str, **options: Unpack[SearchOptions]) -> builtins.list[results.MemoryItem]:
        """Return memories that answer a question, best first, 5 without `limit`; none when there is no evidence."""
        ...

    async def search(self, query: str = "", **options: Unpack[SearchOptions]) -> results.Found:
        """Search by meaning and words. Each hit has its memory and its score; `evidence` grades them all."""
        ...

    async def context(self, query: str, **options: Unpack[ContextOptions]) -> results.Context:
        """Return a text for a prompt, of at most `token_budget` tokens, with citations."""
        ...

    async def get(
        self,
        name: str | None = None,
        *,
        category: str | None = None,
        key: str | None = None,
        as_of: str | None = None,
        no_touch: bool | None = None,
    ) -> results.MemoryItem:
        """Return one memory. Raises `NotFound`."""
        ...

    def list(
        self, *, limit: int | None = None, sort: str | None = None, as_of: str | None = None, **filters: Unpack[Filters]
    ) -> AsyncGenerator[results.MemoryItem, None]:
        """Yield memories, newest first, page by page as they are read; `limit` bounds their number."""
        ...

    async def update(
        self,
        name: str | None = None,
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[UpdateOptions],
    ) -> results.Written:
        """Change fields of a memory, which makes a new version. Absent fields stay, None clears.

        Without `name`, the arguments `category` and `key` say which memory; to change those, name it by its id.

        Raises:
            StaleVersion: the memory is not of that `version` any more.
        """
        ...

    async def supersede(
        self,
        name: str,
        content: str,
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[SupersedeOptions],
    ) -> results.Written:
        """Store a new memory in place of an old one, which is no longer found but stays in the history."""
        ...

    async def forget(
        self,
        name: str | None = None,
        *,
        category: str | None = None,
        key: str | None = None,
        purge: bool = False,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> results.Erasure | None:
        """Delete a memory; `undo` brings it back. With `purge` nothing stays, and a report is returned."""
        ...

    async def history(
        self, name: str | None = None, *, category: str | None = None, key: str | None = None
    ) -> builtins.list[results.Version]:
        """Return the versions of a memory, newest first, with what each changed. Deleted memories have theirs."""
        ...

    async def undo(
        self,
        *,
        last: int | None = None,
        author: str | None = None,
        request: str | None = None,
        idempotency_key: str | None = None,
    ) -> results.Undone:
        """Undo the last changes: of the caller, of memories of an `author`, or of one `request`.

        Raises:
            Conflict: later changes depend on them.
        """
        ...

    def changes(
        self,
        *,
        since: str | None = None,
        follow: bool = False,
        limit: int | None = None,
        change: Sequence[str] = (),
        show: str | None = None,
        **filters: Unpack[Filters],
    ) -> AsyncGenerator[results.Change, None]:
        """Yield the changes of the space after a point, oldest first; each has its own `point`.

        With `follow` the iterator waits for more, and reconnects when it is cut off; without `since` it begins with
        what happens after the first step. Close it, or leave the loop, to stop.
        """
        ...

    async def send(self, request: Call) -> Reply:
        """Send any other request of the API, which a function of `muisti.client.calls` writes."""
        ...

    async def aclose(self) -> None:
        """Close the connection, or the file. A second call does nothing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *error: object) -> None: ...

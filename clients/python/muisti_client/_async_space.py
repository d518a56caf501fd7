"""The verbs on one space, over any sender. `_sync_space` is made from this module by generate.py."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

from msgspec import structs

from . import calls, names, results
from ._async_group import add
from ._async_protocol import AsyncMemory
from ._errors import NotFound, Unreachable, refused
from ._events import EventReader
from ._filters import plain, split
from ._missing import empty_context, is_missing, nothing_found
from ._named import named
from ._result import Rows, read
from ._wire import ATTEMPTS, Call, Reply, events_of, pause

if TYPE_CHECKING:
    from ._async_sending import AsyncSender
    from ._filters import Filters
    from .options import ContextOptions, RememberOptions, SearchOptions, SupersedeOptions, UpdateOptions

PAGE = 100  # memories in a page of a list, at most
RECALLED = 5  # memories, unless a `limit` is given
CHANGES = 1_000  # changes in a page, at most
ENDS = {"unauthorized": 401, "not_found": 404, "epoch_gone": 410, "past_retention": 410}  # of a stream, as a status


@named
class AsyncSpace(AsyncMemory):
    """Handle on one space. `muisti.open_async` and `muisti.connect_async` make it."""

    def __init__(self, sender: AsyncSender, name: str) -> None:
        self._sender, self._name = sender, name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    @property
    def name(self) -> str:
        return self._name

    def space(self, name: str) -> Self:
        return type(self)(self._sender, name)

    async def send(self, request: Call) -> Reply:
        return await self._sender.send(request)

    async def aclose(self) -> None:
        await self._sender.aclose()

    async def __aenter__(self) -> Self:
        await self._sender.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def remember(self, content: str, **options: Unpack[RememberOptions]) -> results.Stored:
        body = {"content": content, **plain(options)}
        once = body.pop("idempotency_key", None)
        reply = await add(self, calls.add_memory(self._name, body, idempotency_key=once))
        return read(reply.body, results.Stored)

    async def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        on_conflict: str | None = None,
        atomic: bool = False,
        idempotency_key: str | None = None,
    ) -> builtins.list[results.Outcome]:
        drafts = [{"content": item} if isinstance(item, str) else plain(item) for item in items]
        body = {"memories": drafts, "atomic": atomic}
        if on_conflict is not None:
            body["on_conflict"] = on_conflict
        request = calls.add_memories(self._name, body, idempotency_key=idempotency_key)
        reply = await add(self, replace(request, once=atomic))  # only an atomic batch takes an idempotency key
        if not atomic:
            return Rows(read(reply.body, results.Outcomes).items)
        stored = read(reply.body, results.Batch).items
        return Rows(results.Outcome(index=n, status="created", memory=one) for n, one in enumerate(stored))

    async def recall(self, query: str, **options: Unpack[SearchOptions]) -> builtins.list[results.MemoryItem]:
        options.setdefault("min_evidence", "weak")
        options.setdefault("limit", RECALLED)
        found = await self.search(query, **options)
        return Rows(hit.memory for hit in found.hits)

    async def search(self, query: str = "", **options: Unpack[SearchOptions]) -> results.Found:
        body, condition = split(options)
        if condition is not None:
            body["filter"] = condition
        try:
            reply = await self._sender.send(calls.search(self._name, {"query": query, **body}))
        except NotFound as error:
            if not is_missing(error):
                raise
            return nothing_found(error)
        return read(reply.body, results.Found)

    async def context(self, query: str, **options: Unpack[ContextOptions]) -> results.Context:
        conversation = options.pop("conversation", None)  # of the request, where it is no filter
        body, condition = split(options)
        if conversation is not None:
            body["conversation"] = conversation
        if condition is not None:
            body["filter"] = condition
        try:
            reply = await self._sender.send(calls.get_context(self._name, {"query": query, **body}))
        except NotFound as error:
            if not is_missing(error):
                raise
            return empty_context(error, body)
        return read(reply.body, results.Context)

    async def get(
        self,
        name: str | None = None,
        *,
        category: str | None = None,
        key: str | None = None,
        as_of: str | None = None,
        no_touch: bool | None = None,
    ) -> results.MemoryItem:
        which = names.named(name, category, key)
        reply = await self._sender.send(names.get(self._name, which, as_of=as_of, no_touch=no_touch))
        return read(reply.body, results.MemoryItem)

    async def list(
        self, *, limit: int | None = None, sort: str | None = None, as_of: str | None = None, **filters: Unpack[Filters]
    ) -> AsyncGenerator[results.MemoryItem, None]:
        condition = _as_parameter(filters)
        left, cursor = limit, None
        while left is None or left > 0:
            size = PAGE if left is None else min(left, PAGE)
            asked = calls.list_memories(self._name, limit=size, sort=sort, cursor=cursor, as_of=as_of, filter=condition)
            try:
                page = read((await self._sender.send(asked)).body, results.Page)
            except NotFound as error:
                if not is_missing(error):
                    raise
                return
            for item in page.items:
                yield item
            left = None if left is None else left - len(page.items)
            if (cursor := page.next_cursor) is None:
                return

    async def update(
        self,
        name: str | None = None,
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[UpdateOptions],
    ) -> results.Written:
        address = (None, None) if name is not None else (fields.pop("category", None), fields.pop("key", None))
        which = names.named(name, *address)
        tag = await self._tag(which, version)
        request = names.update(self._name, which, plain(fields), if_match=tag, idempotency_key=idempotency_key)
        return read((await self._sender.send(request)).body, results.Written)

    async def supersede(
        self,
        name: str,
        content: str,
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[SupersedeOptions],
    ) -> results.Written:
        which = names.named(name)
        tag = await self._tag(which, version)
        body = {"content": content, **plain(fields)}
        request = names.supersede(self._name, which, body, if_match=tag, idempotency_key=idempotency_key)
        return read((await self._sender.send(request)).body, results.Written)

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
        which = names.named(name, category, key)
        tag = await self._tag(which, version)
        request = names.delete(self._name, which, purge=purge or None, if_match=tag, idempotency_key=idempotency_key)
        reply = await self._sender.send(replace(request, once=not purge))  # repeating a purge is harmless
        return read(reply.body, results.Erasure) if purge else None

    async def history(
        self, name: str | None = None, *, category: str | None = None, key: str | None = None
    ) -> builtins.list[results.Version]:
        which, found = names.named(name, category, key), Rows[results.Version]()
        asked = names.history(self._name, which)
        while True:
            reply = await self._sender.send(asked)
            page = read(reply.body, results.History)
            found += page.items
            if page.next_cursor is None:
                return found
            asked = names.history(self._name, which, cursor=page.next_cursor)

    async def undo(
        self,
        *,
        last: int | None = None,
        author: str | None = None,
        request: str | None = None,
        idempotency_key: str | None = None,
    ) -> results.Undone:
        asked = {"last": last, "author": author, "request": request}
        body = {name: value for name, value in asked.items() if value is not None}
        reply = await self._sender.send(calls.undo(self._name, body, idempotency_key=idempotency_key))
        return read(reply.body, results.Undone)

    async def changes(
        self,
        *,
        since: str | None = None,
        follow: bool = False,
        limit: int | None = None,
        change: Sequence[str] = (),
        show: str | None = None,
        **filters: Unpack[Filters],
    ) -> AsyncGenerator[results.Change, None]:
        asked = {"change": ",".join(change) or None, "show": show, "filter": _as_parameter(filters)}
        left = limit
        async with aclosing((self._followed if follow else self._past)(since, asked)) as found:
            if left == 0:
                return
            async for one in found:
                yield one
                left = None if left is None else left - 1
                if left == 0:
                    return

    async def _past(self, since: str | None, asked: Mapping[str, Any]) -> AsyncGenerator[results.Change, None]:
        """Yield the changes up to now."""
        while True:
            try:
                reply = await self._sender.send(calls.list_changes(self._name, since=since, limit=CHANGES, **asked))
            except NotFound as error:
                if not is_missing(error):
                    raise
                return
            page = read(reply.body, results.Changes)
            for one in page.items:
                yield _at_point(one, page.seq)
            if page.next_cursor is None:
                return
            since = page.next_cursor

    async def _followed(self, since: str | None, asked: Mapping[str, Any]) -> AsyncGenerator[results.Change, None]:
        """Yield changes as they happen. Reconnect with the id of the last event, which loses nothing."""
        if since is None:
            since = str((await self._sender.send(calls.get_space(self._name))).data["seq"])
        failed = 0
        while not self._sender.closed:
            request, reader = events_of(calls.list_changes(self._name, since=since, **asked)), EventReader()
            try:
                async with aclosing(self._sender.pieces(request)) as pieces:
                    async for event in self._events(pieces, reader):
                        since, failed = event.get("id", since), 0
                        if "id" in event and "data" in event:
                            yield _at_point(read(event["data"].encode(), results.Change), event["id"])
            except Unreachable:
                failed += 1
                if failed >= ATTEMPTS:
                    raise
            if not self._sender.closed:
                await asyncio.sleep(pause(failed or 1, None))

    async def _events(
        self, pieces: AsyncGenerator[bytes, None], reader: EventReader
    ) -> AsyncGenerator[dict[str, str], None]:
        """Yield the events of one answer. Raises the error with which the server ended it, unless it only stops."""
        async for piece in pieces:
            for event in reader.feed(piece):
                if event.get("event") == "end":
                    problem = json.loads(event["data"])
                    if problem["code"] == "stopping":
                        return
                    raise refused(ENDS.get(problem["code"], 503), problem)
                yield event

    async def _tag(self, which: names.Name, version: int | None) -> str | None:
        """Return the ETag of a version. For an address the id is requested first, because ETags contain ids."""
        if version is None:
            return None
        if isinstance(which, str):
            return f'"{which}.{version}"'
        reply = await self._sender.send(names.history(self._name, which))
        return f'"{reply.data["items"][0]["memory"]["id"]}.{version}"'


def _as_parameter(filters: Mapping[str, Any]) -> str | None:
    """Return filters as the parameter of lists and changes: one filter, as JSON."""
    unknown, condition = split(filters)
    if unknown:
        raise TypeError(f"there is no filter {', '.join(unknown)}")
    return None if condition is None else json.dumps(condition)


def _at_point(change: results.Change, at: str) -> results.Change:
    """Return the change with its point in the history: the epoch of `at`, and the number of the change."""
    return structs.replace(change, point=f"{at.partition(':')[0]}:{change.seq}")

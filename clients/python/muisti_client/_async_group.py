"""Base of the handles on the parts of a space. `_sync_group` is made from this module by generate.py."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from . import calls
from ._errors import Forbidden, NotFound, Refused
from ._filters import plain
from ._missing import is_missing
from ._named import UNSET
from ._result import Result, read_any

if TYPE_CHECKING:
    from ._wire import Call, Reply

R = TypeVar("R", bound=Result)
BINARY = "application/octet-stream"


class AsyncSending(Protocol):
    """A memory, as far as a group of it needs one."""

    @property
    def name(self) -> str: ...

    async def send(self, request: Call) -> Reply: ...


class AsyncGroup:
    """Verbs on one part of a space."""

    def __init__(self, memory: AsyncSending) -> None:
        self._memory = memory

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._memory.name!r}>"

    @property
    def _space(self) -> str:
        return self._memory.name

    async def _ask(self, request: Call, *kinds: type[R]) -> Any:
        """Send a request, and return the answer as the first of these types that fits; None for an empty one."""
        return read_any(await self._memory.send(request), kinds)

    async def _add(self, request: Call, *kinds: type[R]) -> Any:
        """Send a request that may store the first text of a space."""
        return read_any(await add(self._memory, request), kinds)

    async def _pages(
        self, asked: Callable[[int, str | None], Call], kind: type[Any], limit: int | None, size: int
    ) -> AsyncGenerator[Any, None]:
        """Yield the items of all pages, `limit` at most; of a missing space there are none."""
        left, cursor = limit, None
        while left is None or left > 0:
            try:
                reply = await self._memory.send(asked(size if left is None else min(left, size), cursor))
            except NotFound as error:
                if not is_missing(error):
                    raise
                return
            page = read_any(reply, [kind])
            for item in page.items:
                yield item
            left = None if left is None else left - len(page.items)
            if (cursor := page.next_cursor) is None:
                return


async def add(memory: AsyncSending, request: Call) -> Reply:
    """Send an addition. If the space is missing, create it and send the request again."""
    try:
        return await memory.send(request)
    except NotFound as error:
        if not is_missing(error):
            raise
        try:
            await memory.send(calls.create_space({"name": memory.name}))
        except Forbidden:
            raise error from None
        except Refused as other:
            if other.code != "already_exists":  # another client may have created it meanwhile
                raise
    return await memory.send(request)


def body(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that were given, as JSON has them."""
    return {name: plain(value) for name, value in fields.items() if value is not UNSET}


def with_bytes(request: Call, names: Sequence[str]) -> Call:
    """Return a request whose content is a text unchanged, and one of bytes with the file as its body.

    Raises:
        TypeError: a field goes with texts only.
    """
    fields = dict(request.body)
    content = fields.pop("content", None)
    if not isinstance(content, bytes):
        return request
    if unfit := sorted(fields.keys() - {*names}):
        raise TypeError(f"content of bytes goes without {', '.join(unfit)}; give it as a text")
    params = {**request.params, **{name: _text(value) for name, value in fields.items()}}
    headers = {**request.headers, "Content-Type": BINARY}
    return replace(request, params=params, headers=headers, body=None, content=content)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)

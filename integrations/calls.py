"""Calls of a memory handle, written once for handles that answer at once and for those that are awaited.

An operation is a generator: it yields what a verb of the handle returned, and is sent the answer.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, TypeVar

from muisti import AsyncMemory, Memory, MuistiError

Handle = Memory | AsyncMemory
Answer = TypeVar("Answer")
Operation = Generator[Any, Any, Answer]


def is_async(memory: Handle) -> bool:
    """Return whether the verbs of a handle are awaited."""
    return inspect.iscoroutinefunction(memory.remember)


def need_sync(memory: Handle, for_what: str) -> None:
    """Refuse a handle whose verbs are awaited.

    Raises: TypeError.
    """
    if is_async(memory):
        raise TypeError(f"{for_what} needs a synchronous handle: that of muisti.open() or muisti.connect()")


def run(operation: Operation[Answer]) -> Answer:
    """Run an operation on a synchronous handle."""
    try:
        asked = next(operation)
        while True:
            try:
                answer = list(asked) if isinstance(asked, Iterator) else asked
            except MuistiError as error:  # of a page that is read here
                asked = operation.throw(error)
            else:
                asked = operation.send(answer)
    except StopIteration as done:
        return done.value


async def run_async(operation: Operation[Answer]) -> Answer:
    """Run an operation on an asynchronous handle."""
    try:
        asked = next(operation)
        while True:
            try:
                answer = await _read(asked)
            except MuistiError as error:
                asked = operation.throw(error)
            else:
                asked = operation.send(answer)
    except StopIteration as done:
        return done.value


async def run_anywhere(memory: Handle, operation: Callable[[], Operation[Answer]]) -> Answer:
    """Run an operation from a coroutine: on a thread when the handle is synchronous."""
    if is_async(memory):
        return await run_async(operation())
    return await asyncio.to_thread(lambda: run(operation()))


async def _read(asked: Any) -> Any:
    if isinstance(asked, AsyncIterator):
        return [one async for one in asked]
    return await asked if inspect.isawaitable(asked) else asked

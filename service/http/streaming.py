"""Bodies of answers that are made part by part."""

from collections.abc import AsyncIterator, Iterator

from muisti.service.runtime.workers import Backend


async def on_threads(backend: Backend, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts, each made on a thread that waits for the database."""
    while (part := await backend.store(next, parts, b"")) != b"":
        yield part

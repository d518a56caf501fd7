"""Working test implementations, and builders that fill in what a test is not about."""

from collections.abc import Sequence
from typing import Any

from muisti.core.store.database import Database, Ended, Rows, Scrubbed, Statement
from muisti.core.store.free_space import Traces
from muisti.core.support.meters import StoreMeters

API = "/v1/spaces/default"


class Breakable:
    """A database that works until `failure` is set, and then raises it."""

    failure: Exception | None = None

    def __init__(self, inner: Database) -> None:
        self._inner = inner

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def local(self) -> bool:
        return self._inner.local

    @property
    def meters(self) -> StoreMeters:
        return self._inner.meters

    @property
    def primary(self) -> Database:
        return self

    def check(self) -> None:
        self._inner.check()

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        if self.failure is not None:
            raise self.failure
        return self._inner.read(statements)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        if self.failure is not None:
            raise self.failure
        return self._inner.write(statements)

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        if self.failure is not None:
            raise self.failure
        return self._inner.rehearse(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        if self.failure is not None:
            raise self.failure
        return self._inner.queue(statements, ended)

    def expect(self, writes: int) -> None:
        self._inner.expect(writes)

    def hurry(self) -> None:
        self._inner.hurry()

    def scrub(self, traces: Traces) -> Scrubbed:
        if self.failure is not None:
            raise self.failure
        return self._inner.scrub(traces)

    def close(self) -> None:
        self._inner.close()


def draft(content: str = "We deploy on Fridays; ticket QX-991", **fields: Any) -> dict[str, Any]:
    """The body of a memory; say only what the test is about."""
    return {"content": content, **fields}


def lines(*bodies: bytes) -> bytes:
    """Newline-delimited JSON."""
    return b"\n".join(bodies) + b"\n"

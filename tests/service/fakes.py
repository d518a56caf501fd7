"""Working test implementations, and builders that fill in what a test is not about."""

from collections.abc import Sequence
from typing import Any

import httpx

from muisti.core.store.database import Around, Database, Ended, Rows, Scrubbed, Statement
from muisti.core.store.free_space import Traces

API = "/v1/spaces/default"


class Breakable(Around):
    """A database that works until `failure` is set, and then raises it."""

    failure: Exception | None = None

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._working().read(statements)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._working().write(statements)

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._working().rehearse(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        return self._working().queue(statements, ended)

    def scrub(self, traces: Traces) -> Scrubbed:
        return self._working().scrub(traces)

    def _working(self) -> Database:
        if self.failure is not None:
            raise self.failure
        return self._inner


def draft(content: str = "We deploy on Fridays; ticket QX-991", **fields: Any) -> dict[str, Any]:
    """The body of a memory; say only what the test is about."""
    return {"content": content, **fields}


def made(client: httpx.Client, text: str, **fields: object) -> str:
    """Store a memory, and return its id."""
    return client.post(f"{API}/memories", json=draft(text, on_conflict="keep", **fields)).json()["id"]


def lines(*bodies: bytes) -> bytes:
    """Newline-delimited JSON."""
    return b"\n".join(bodies) + b"\n"

"""Stand-ins that behave, and builders that fill in what a test is not about."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.store.database import Rows, Statement
from core.store.file import FileDatabase

API = "/v1/spaces/default"


class Breakable(FileDatabase):
    """A database that works until `failure` is set, and then raises it."""

    failure: Exception | None = None

    def __init__(self, path: Path) -> None:
        super().__init__(path)

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        if self.failure is not None:
            raise self.failure
        return super().read(statements)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        if self.failure is not None:
            raise self.failure
        return super().write(statements)


def draft(content: str = "We deploy on Fridays; ticket QX-991", **fields: Any) -> dict[str, Any]:
    """The body of a memory; say only what the test is about."""
    return {"content": content, **fields}


def lines(*bodies: bytes) -> bytes:
    """Newline-delimited JSON."""
    return b"\n".join(bodies) + b"\n"

"""Memories as files: items of folders, and what was done to files."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from muisti.core.model.values import Memory

FileOperation = Literal["created", "modified", "deleted"]
ROOT = "."  # category of the files that are in no folder


def is_file(memory: Memory) -> bool:
    """Return whether a memory is a file: it has a path, and nothing else changes it."""
    return memory.kind == "memory" and memory.document is None


class Item(Struct, frozen=True):
    """A file of a folder, or a folder in it, whose `memory` is None.

    `path` is as the store has it; its first `reach` characters are of the category.
    """

    path: str
    reach: int
    memory: Memory | None


class FileVersion(Struct, frozen=True, kw_only=True):
    """A change of a file, and the version that it made or ended; None where that was redacted."""

    seq: int
    operation: FileOperation
    memory_id: str
    version: int
    at: datetime
    actor: str | None
    redacted_at: datetime | None
    redacted_by: str | None
    memory: Memory | None

"""Memories as files: items of folders, what was done to files, and questions about both."""

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


# Questions about memories as files: a page of a folder, and changes of files


class Folder(Struct, frozen=True, kw_only=True):
    """A page of the files whose path begins with `prefix`: all, or with `deep` false those in that folder.

    `prefix` and `after`, the last item of the page before, are paths as the store has them.
    """

    prefix: str = ""
    deep: bool = True
    after: str = ""
    limit: int = 20


class Changed(Struct, frozen=True, kw_only=True):
    """A page of changes of files that meet all given conditions, newest first; `before` is the seq of the last one."""

    memory_id: str | None = None
    version: int | None = None
    operation: FileOperation | None = None
    actor: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    before: int | None = None
    limit: int = 20

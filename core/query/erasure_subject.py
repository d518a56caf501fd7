"""Memories that a purge erases: those with a version that meets conditions."""

from msgspec import Struct

from muisti.core.query.filters import Filter


class Subject(Struct, frozen=True, kw_only=True):
    """A description of memories to erase: those with a version that meets all given conditions."""

    memory: bytes | None = None
    author: str | None = None
    source: str | None = None
    filter: Filter | None = None
    older_than_us: int | None = None  # created before
    among: tuple[bytes, ...] | None = None  # one of these memories

"""Subjects of erasing: which memories are to go."""

from msgspec import Struct

from muisti.core.query.filters import Filter


class Subject(Struct, frozen=True, kw_only=True):
    """What is to be erased: the memories any of whose versions meets all that is given."""

    memory: bytes | None = None
    author: str | None = None
    source: str | None = None
    filter: Filter | None = None
    older_than_us: int | None = None  # created before

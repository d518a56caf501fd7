"""Backups: what a copy of a database says of itself."""

from msgspec import Struct

from muisti.core.model.values import Seq


class Stamp(Struct, frozen=True, kw_only=True):
    """Of a copy: when it was made (microseconds), how large it is, and where each space stood."""

    made_at: int
    size: int
    spaces: dict[str, Seq]

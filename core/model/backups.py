"""Backups: the description that a copy of a database carries."""

from msgspec import Struct

from muisti.core.model.values import Seq


class Stamp(Struct, frozen=True, kw_only=True):
    """A description of a copy: when it was made (microseconds), its size, and the last change of each space."""

    made_at: int
    size: int
    spaces: dict[str, Seq]

"""Communities of the knowledge graph: entities that memories mention together more often than by chance."""

from msgspec import Struct

from muisti.core.model.graph import End
from muisti.core.model.values import Seq

TELLING_MAX = 10  # entities that tell what a community is about


class Community(Struct, frozen=True, kw_only=True):
    """Entities that belong together: how many names there are, and those with the most ties inside, best first.

    `memories` counts the memories that mention two of its names or more.
    """

    entities: tuple[End, ...]
    size: int
    memories: int


class Communities(Struct, frozen=True, kw_only=True):
    """Communities of three names and more, those with the most memories first. `total` counts all of them.

    With `too_large` there are none, because the space has more mentions than are looked at.
    """

    items: tuple[Community, ...]
    total: int
    too_large: bool
    pending: int
    seq: Seq

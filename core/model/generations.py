"""The models of a space, how two of them compare, and the error of one that is incomplete. No I/O."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Literal, NamedTuple

from msgspec import Struct, field

from muisti.core.model.errors import Conflict

Role = Literal["current", "shadow", "second", "left"]

QUERIES_MAX = 1_000  # of one comparison
K_MAX = 100


class Card(NamedTuple):
    """Names of a model, as a database keeps them. `identity` is its hash."""

    identity: str
    name: str
    dimensions: int


class ShadowIncomplete(Conflict):
    """The shadow of a space has not embedded every passage; `missing` counts those that it lacks."""

    code = "shadow_incomplete"

    def __init__(self, space: str, identity: str, missing: int) -> None:
        self.missing = missing
        super().__init__(
            f"model {identity[:12]} has not embedded {missing:,} passages of space {space!r}: build it again to embed "
            "them, or use force to rank them by keyword"
        )


class Generation(Struct, frozen=True, kw_only=True):
    """A model that has embedded memories of a space. `identity` is its hash.

    - `role`: `current` answers searches, and `shadow` embeds new text beside it. `second` has vectors that searches use
      beside those of `current`. `left` has vectors that nothing uses.
    - `embedded` counts the passages of current memories that have its vector, of `passages` in all.
    - `available`: the process has the model.
    - `served`: it is the shadow that a roll-back leads to.
    """

    identity: str
    model: str
    dimensions: int
    created_at: datetime
    role: Role
    passages: int
    embedded: int
    available: bool
    served: bool = False

    @property
    def missing(self) -> int:
        return self.passages - self.embedded


class Judged(Struct, frozen=True, kw_only=True):
    """Questions for a comparison of two models.

    `qrels` has for a question the grades of memories by id; each grade is above 0. `queries` have no known answer.
    """

    k: int = 10
    queries: tuple[str, ...] = ()
    qrels: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])


class Measured(Struct, frozen=True, kw_only=True):
    """Answers of one model. `recall` is that of the probes, `ndcg` that of judged questions; None without any.

    `ms` is the median of the milliseconds that a search took.
    """

    identity: str
    recall: float | None
    ndcg: float | None
    ms: float


class Comparison(Struct, frozen=True, kw_only=True):
    """The model of a space and its shadow, asked the same questions.

    `overlap` is the mean share of the first k memories that both find; None without a question. `missing` passages have
    no vector of the shadow, so they rank by keyword only.
    """

    k: int
    questions: int
    probes: int
    judged: int
    overlap: float | None
    current: Measured
    shadow: Measured
    missing: int


class CacheUse(Struct, frozen=True):
    """Use of a cache: `entries` of `nbytes` in all, and the texts that were found in it and that were not."""

    entries: int
    nbytes: int
    hits: int
    misses: int

    @property
    def rate(self) -> float | None:
        """Share of the texts that were found; None before the first text."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else None


def without_place(name: str) -> str:
    """Return the name of a model without the folder that it is in, or the host that serves it.

    >>> without_place("onnx:/srv/models/words"), without_place("words@models.example:8080")
    ('onnx:words', 'words')
    >>> without_place("muisti-static-256"), without_place("acme/words")
    ('muisti-static-256', 'acme/words')
    """
    kind, mark, place = name.rpartition("onnx:")
    place = place.rpartition("@")[0] or place
    return (
        kind + mark + (PurePath(place).name if place.startswith((".", "~")) or PurePath(place).is_absolute() else place)
    )

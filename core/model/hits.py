"""Values of searches: recency, hits, explanations and answers. Frozen and without I/O, as all of `core.model`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from muisti.core.model.terms import HALF_LIFE_DAYS, Fusion, Mode
from muisti.core.model.terms import Match as Match
from muisti.core.model.values import Memory, Passage, Seq

Evidence = Literal["strong", "weak", "none", "uncalibrated"]
Decay = Literal["exponential", "linear", "half_life"]


class Recency(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of decay by age. The factor of a score is `1 - weight * (1 - decay)`, in [1 - weight, 1].

    The function `half_life` uses `half_life_days`; `exponential` and `linear` use `rate` (per day). The first
    `grace_days` do not count.
    """

    weight: float = 0.3
    function: Decay = "half_life"
    half_life_days: float = HALF_LIFE_DAYS
    rate: float = 0.0864
    grace_days: float = 0.0

    def stated(self) -> Mapping[str, float | str]:
        """Return the fields that count, named as in a request.

        >>> Recency(function="linear", rate=0.1).stated()
        {'weight': 0.3, 'function': 'linear', 'lambda': 0.1, 'grace_days': 0.0}
        """
        speed = {"half_life_days": self.half_life_days} if self.function == "half_life" else {"lambda": self.rate}
        return {"weight": self.weight, "function": self.function, **speed, "grace_days": self.grace_days}


class NamedTime(Struct, frozen=True, kw_only=True):
    """A time that a query names in `words`, and the `factor` for a memory; `start` or `stop` is None if open there."""

    words: str
    start: datetime | None
    stop: datetime | None
    factor: float


class Explanation(Struct, frozen=True, kw_only=True):
    """Every factor of a hit's score.

        score = fused * time * recency * importance * trust * feedback, at most 1

    `lexical` is in [0, 1], and 1 only where the memory's text is that of the query. `cosine` is in [-1, 1]. Either is
    None when that ranking took no part. `terms` add up to `bm25`. `fused` is computed from both by `fusion` and
    `alpha`, and with absolute fusion by `blend` (core/search/blend.py).

    `time` is the time that the query names, None when it names none. `refreshed_days` are subtracted from the age.
    `decay` is the recency in effect, of the request or by default; it is unset where age costs nothing.
    """

    fusion: Fusion | None
    alpha: float | None
    lexical: float | None
    bm25: float | None
    cosine: float | None
    blend: Mapping[str, float] | None
    fused: float
    time: NamedTime | None
    recency: float
    decay: Mapping[str, float | str] | msgspec.UnsetType = msgspec.UNSET
    importance: float
    trust: float
    feedback: float
    age_days: float | None
    refreshed_days: float
    terms: Mapping[str, float]


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that answers a query, with its best passage. `ranks` has its place in each ranking, from 1."""

    memory: Memory
    score: float
    ranks: Mapping[str, int]
    passage: Passage
    highlight: str | None = None
    explain: Explanation | None = None


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds that the stages of a search took."""

    embed: float = 0.0
    filter: float = 0.0
    rank: float = 0.0
    fetch: float = 0.0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Hits, best first. `total` counts the memories that could have been hits. `strategy` is the mode that ran.

    `evidence` says whether the space has anything about the query, judged by the `strength` of what was found.
    `degraded` says in words what could not be done as requested; it is empty when nothing is wrong. `recency` is the
    one in effect.
    """

    hits: tuple[Hit, ...]
    total: int
    evidence: Evidence
    strength: float
    strategy: Mode
    degraded: tuple[str, ...]
    seq: Seq
    timings: Timings
    recency: Recency | None = None

"""Probes: questions whose answer is known, and the results of asking them."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field

from muisti.core.model.values import Seq

K = 10


class Expectation(Struct, frozen=True, kw_only=True):
    """A probe as a caller states it: the first `k` hits of `query` should include a memory, named by id or address."""

    query: str
    memory_id: str | None = None
    category: str | None = None
    key: str | None = None
    k: int = K


class Probe(Struct, frozen=True, kw_only=True):
    id: str
    expects: Expectation
    made_at: datetime
    actor: str


class Run(Struct, frozen=True, kw_only=True):
    """Results of the probes of a space. `ranks` counts from 1, by the id of the probe; None is beyond the first 100.

    `recall` is the share of the probes that found the expected memory among their first k hits; 1 without probes.
    """

    at: datetime
    seq: Seq
    generation: str | None
    recall: float
    ranks: Mapping[str, int | None] = field(default_factory=dict[str, int | None])

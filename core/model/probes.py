"""Probes: questions whose answer is known, and what asking them gave."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field

from muisti.core.model.values import Seq

K = 10


class Expectation(Struct, frozen=True, kw_only=True):
    """A probe as a caller states it: the `query` should find the memory, or what is at the address, among `k`."""

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
    """What the probes gave. `ranks` counts from 1, by the id of the probe; None: not among the first 100.

    `recall` is the share of the probes that found theirs among the first k; 1 without probes.
    """

    at: datetime
    seq: Seq
    generation: str | None
    recall: float
    ranks: Mapping[str, int | None] = field(default_factory=dict[str, int | None])

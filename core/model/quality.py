"""Figures on the quality of a space: what lint finds, probes, and receipts of searches."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct, field

from muisti.core.model.choices import Check
from muisti.core.model.hits import Evidence, Mode
from muisti.core.model.values import Draft, Seq

# Receipts: searches and contexts that are kept with their answers, and the memories that have moved since

Why = Literal["new", "changed", "deleted", "superseded", "expired", "erased", "status", "model", "others"]


def asks_for_context(parameters: bytes) -> bool:
    """Return whether the request of a receipt asks for a context.

    >>> asks_for_context(b'{"query":"tea","token_budget":200}'), asks_for_context(b'{"query":"token_budget"}')
    (True, False)
    """
    return b'"token_budget":' in parameters and "token_budget" in msgspec.json.decode(parameters)


class Told(Struct, frozen=True, kw_only=True):
    """The parts of an answer besides its memories: `ranks` has the places of each hit in the rankings."""

    total: int
    evidence: Evidence
    strategy: Mode
    degraded: tuple[str, ...]
    ranks: tuple[Mapping[str, int], ...]


class ReceiptHit(Struct, frozen=True, kw_only=True):
    """A hit of a kept answer, with the version that the memory had then. `rank` counts from 1."""

    rank: int
    memory_id: str
    version: int
    score: float
    ranks: Mapping[str, int]


class Receipt(Struct, frozen=True, kw_only=True):
    """A search or a context with its answer. `parameters` is the request as received, `at` the point that it saw.

    `category` is the only one that the caller could see, None when the caller could see all.
    """

    id: str
    space: str
    at: Seq
    made_at: datetime
    actor: str
    category: str | None
    generation: str | None
    reference_time: datetime
    parameters: bytes
    told: Told
    hits: tuple[ReceiptHit, ...]

    @property
    def is_context(self) -> bool:
        """Return whether a context was asked for; only such a request has a budget of tokens."""
        return asks_for_context(self.parameters)


class ListedReceipt(Struct, frozen=True, kw_only=True):
    """A receipt in a list: what was asked by whom, and what was found, without the memories. `hits` counts these."""

    id: str
    at: Seq
    made_at: datetime
    actor: str
    kind: Literal["search", "context"]
    query: str
    evidence: Evidence
    strategy: Mode
    total: int
    hits: int


class ReceiptPage(Struct, frozen=True, kw_only=True):
    """Receipts of a space, newest first, and the cursor of the next page; None on the last."""

    items: tuple[ListedReceipt, ...]
    next_cursor: str | None
    seq: Seq


class Moved(Struct, frozen=True, kw_only=True):
    """A memory whose place changed between two answers, and why; a place of None is beyond the end of the answer."""

    memory_id: str
    before: int | None
    after: int | None
    why: Why
    superseded_by: str | None = None


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


AT_ONCE = 200  # memories of a page, which take about as many milliseconds
AT_ONCE_MAX = 1_000
Step = Literal["update", "delete", "purge", "restore", "supersede", "add"]


class Limits(Struct, frozen=True):
    """Thresholds of findings: `tokens` of a memory, and days without a retrieval or a change."""

    tokens: int = 2_048
    never_recalled_days: float = 30.0
    stale_days: float = 365.0


class Fix(Struct, frozen=True):
    """A change that would mend something: fields for `update`, a draft for `supersede`, drafts for `add`."""

    step: Step
    memory_id: str
    changes: Mapping[str, object] = field(default_factory=dict[str, object])
    drafts: Sequence[Draft] = ()


class Finding(Struct, frozen=True):
    """A fault of a memory: `detail` says in words what is wrong, `others` are the ids of other memories involved.

    `fix` has the changes that would mend it, in the order in which to make them.
    """

    check: Check
    memory_id: str
    version: int
    detail: str
    about: str
    fix: tuple[Fix, ...]
    others: tuple[str, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """A page of findings; `checked`, `found` and `score` cover all memories up to its end.

    `score` is 100 minus the mean cost of each memory's worst finding, by `WEIGHTS` in core/operations/quality/lint.py.
    `skipped` says in words which checks were not made.
    """

    items: tuple[Finding, ...]
    checked: int
    found: Mapping[Check, int]
    score: float
    skipped: tuple[str, ...]
    next_cursor: str | None
    seq: Seq

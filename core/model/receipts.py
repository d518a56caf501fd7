"""Receipts: searches and contexts that are kept with their answers, and the memories that have moved since."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from muisti.core.model.hits import Evidence, Mode
from muisti.core.model.values import Seq

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
    is_context: bool
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

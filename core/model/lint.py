"""Lint: findings about the memories of a space, and changes that would mend them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from muisti.core.model.terms import Check
from muisti.core.model.values import Draft, Seq

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

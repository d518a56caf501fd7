"""Lint: findings about the memories of a space, and changes that would mend them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from muisti.core.model.terms import Check
from muisti.core.model.values import Draft, Seq

AT_ONCE = 200  # memories, and about as many milliseconds
AT_ONCE_MAX = 1_000
Step = Literal["update", "delete", "purge", "restore", "supersede", "add"]


class Limits(Struct, frozen=True):
    """From when on something is wrong: `tokens` of a memory, and days without a retrieval."""

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
    """What is wrong with a memory, in words, with the ids of the `others` that it is about. `fix` is in order."""

    check: Check
    memory_id: str
    version: int
    detail: str
    about: str
    fix: tuple[Fix, ...]
    others: tuple[str, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """A page of findings; `checked`, `found` and `score` are of all memories up to its end.

    `score` is 100 less the share that the findings take (`WEIGHTS`). `skipped` says in words what was not looked for.
    """

    items: tuple[Finding, ...]
    checked: int
    found: Mapping[Check, int]
    score: float
    skipped: tuple[str, ...]
    next_cursor: str | None
    seq: Seq

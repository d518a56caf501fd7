"""Writes on their way: who asks for one, and the batch that it has become."""

from collections.abc import Sequence
from time import perf_counter

import msgspec

from muisti.core.conflicts.check import NOT_CHECKED, Checked
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import RequestKey
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.refusals import Part


class Call(msgspec.Struct, frozen=True):
    """When a write is asked for, by whom, and the key that makes its repetition harmless. `now` in microseconds.

    `dry_run`: it is tried, told and taken back, all in one; it has no key.
    """

    now: int
    request: RequestKey | None = None
    caller: Caller = OWNER
    dry_run: bool = False


class Begun(msgspec.Struct, frozen=True):
    """A write that is prepared: its batch, of which `head` statements come before those of the parts.

    `numbers` is how many changes its parts make. `tally` is the place in it of the statements that count what changed
    of a whole space. `at` is in seconds of `perf_counter`.
    """

    space: SpaceRow
    head: int
    batch: Sequence[Statement]
    parts: Sequence[Part]
    call: Call
    created: bool
    checked: Checked = NOT_CHECKED
    ended: tuple[str, ...] = ()
    tally: int | None = None
    numbers: int = 0
    flags: tuple[Flag, ...] = ()
    at: float = msgspec.field(default_factory=perf_counter)

"""Dialogues: the turns of each session in order, and the speaker of each memory.

A memory whose metadata has a `session` belongs to a dialogue. Its place there is its `turn`, a number; without one it
comes last. The first row of each memory is linked with the first rows of the memories before and after it. Links stay
when memories end: readers step over rows that are not visible to them. Spaces without dialogues have no columns.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.index.columns import Buffer
from muisti.core.kernels import Ints
from muisti.core.text.speakers import Speakers

NONE = -1
OUTSIDE = -2  # of any dialogue
LAST = float("inf")

Scalar = str | int | float | None


class _Session(msgspec.Struct):
    """The turns of a session in order, and the row of each; of equal turns the later row comes second."""

    turns: "array[float]" = msgspec.field(default_factory=lambda: array("d"))
    rows: "array[int]" = msgspec.field(default_factory=lambda: array("i"))


class Dialogues:
    """Columns that follow the rows of an index: `before`, `after`, `speaker`. Appended to by one thread."""

    def __init__(self) -> None:
        self._size = 0
        self._sessions: dict[Scalar, _Session] = {}
        self._speakers: dict[str, int] = {}
        self._known = Speakers(())
        self._before, self._after, self._speaker = Buffer(np.int32), Buffer(np.int32), Buffer(np.int32)

    @property
    def nbytes(self) -> int:
        columns = (self._before, self._after, self._speaker)
        return sum(column.nbytes for column in columns) + sum(12 * len(s.rows) for s in self._sessions.values())

    @property
    def linked(self) -> bool:
        """Return whether any row belongs to a dialogue."""
        return bool(self._sessions)

    @property
    def speakers(self) -> Speakers:
        """The speakers, by folded name; the place of a name is the speaker's code."""
        known = self._known
        if len(known.names) != len(self._speakers):
            known = self._known = Speakers(list(self._speakers))
        return known

    def before(self) -> Ints:
        """Return, for the first row of each memory of a dialogue, the first row of the memory before; `NONE` if none.

        All other rows have `OUTSIDE`. Links may lead to rows that are newer than a reader's snapshot.
        """
        return self._before.view()

    def after(self) -> Ints:
        """Return, for the first row of each memory of a dialogue, the first row of the memory after; `NONE` if none.

        All other rows have `OUTSIDE`. Links may lead to rows that are newer than a reader's snapshot.
        """
        return self._after.view()

    def speaker(self) -> Ints:
        """Return the code of each row's speaker, `NONE` for no speaker."""
        return self._speaker.view()

    def append(
        self,
        numbers: Ints | Sequence[int],
        sessions: Sequence[Scalar],
        turns: Sequence[Scalar],
        speakers: Sequence[str | None],
    ) -> None:
        """Append new rows: the passage's number, the session, the turn and the speaker of each.

        `sessions` and `turns` are empty when no row has a session, `speakers` when no row has a speaker.
        """
        first = self._size
        self._size += len(numbers)
        if self._speakers or speakers:
            codes = [
                NONE if name is None else self._speakers.setdefault(name, len(self._speakers)) for name in speakers
            ]
            self._speaker.append(np.full(first - len(self._speaker), NONE, np.int32))
            self._speaker.append(np.array(codes or [NONE] * len(numbers), np.int32))
        spoken = [
            (first + place, session, turns[place])
            for place, session in enumerate(sessions)
            if session is not None and numbers[place] == 0
        ]
        if self._sessions or spoken:
            self._widen()
            for row, session, turn in spoken:
                turn = turn if isinstance(turn, int | float) else LAST
                self._link(row, self._sessions.setdefault(session, _Session()), turn)

    def only(self, alive: npt.NDArray[np.bool_]) -> "Dialogues":
        """Return a copy with the `alive` rows alone, renumbered from 0."""
        kept = Dialogues()
        kept._size = int(np.count_nonzero(alive))
        if len(self._speaker):
            codes = self.speaker()[alive]
            used, names = np.unique(codes[codes != NONE]), list(self._speakers)
            kept._speakers = {names[code]: place for place, code in enumerate(used.tolist())}
            places = np.full(len(names) + 1, NONE, np.int32)  # the last is that of `NONE`
            places[used] = np.arange(len(used))
            kept._speaker.append(places[codes])
        if not self._sessions:
            return kept
        moved = (np.cumsum(alive) - 1).tolist()
        kept._widen()
        for key, session in self._sessions.items():
            living = [(moved[row], turn) for row, turn in zip(session.rows, session.turns, strict=True) if alive[row]]
            for row, turn in living:
                kept._link(row, kept._sessions.setdefault(key, _Session()), turn)
        return kept

    def state(self) -> tuple[list[tuple[Scalar, bytes, bytes]], list[str]]:
        """Return what is not in columns: key, turns and rows of each session, and the names of the speakers."""
        sessions = [(key, one.turns.tobytes(), one.rows.tobytes()) for key, one in self._sessions.items()]
        return sessions, list(self._speakers)

    def restore(self, size: int, sessions: Sequence[tuple[Scalar, bytes, bytes]], speakers: Sequence[str]) -> None:
        """Take a `state` for columns of so many rows, which are in place."""
        self._size = size
        self._sessions = {key: _Session(array("d", turns), array("i", rows)) for key, turns, rows in sessions}
        self._speakers = {name: code for code, name in enumerate(speakers)}

    def _widen(self) -> None:
        """Extend the links to all rows; new ones are outside of any dialogue."""
        missing = self._size - len(self._before)
        self._before.append(np.full(missing, OUTSIDE, np.int32))
        self._after.append(np.full(missing, OUTSIDE, np.int32))

    def _link(self, row: int, session: _Session, turn: float) -> None:
        """Insert a row behind the last whose turn is not later.

        The row's own links are set before any link to it, because readers may follow links at the same time.
        """
        place = bisect_right(session.turns, turn)
        before = session.rows[place - 1] if place else NONE
        after = session.rows[place] if place < len(session.rows) else NONE
        self._before.view()[row] = before
        self._after.view()[row] = after
        if before != NONE:
            self._after.view()[before] = row
        if after != NONE:
            self._before.view()[after] = row
        session.turns.insert(place, turn)
        session.rows.insert(place, row)

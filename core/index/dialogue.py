"""Who said what after what: the turns of each session in order, and the speaker of each memory.

A memory whose metadata has a `session` belongs to a dialogue: it stands there by its `turn`, a number, or, without
one, at the end. Each is linked with the one before and after it, by the first row of each. Rows are
linked for good: a reader steps over those that are not visible to it. Spaces without dialogue have no columns.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.index.buffers import Buffer
from muisti.core.kernels import Ints
from muisti.core.text.speakers import Speakers

NONE = -1
OUTSIDE = -2  # of any dialogue
LAST = float("inf")

Scalar = str | int | float | None


class _Session(msgspec.Struct):
    """Turns in order, and the row of each; of equal turns the later row is behind."""

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
        """Whether any row belongs to a dialogue."""
        return bool(self._sessions)

    @property
    def speakers(self) -> Speakers:
        """Who speaks, by folded name: the place is the speaker's code."""
        known = self._known
        if len(known.names) != len(self._speakers):
            known = self._known = Speakers(list(self._speakers))
        return known

    def before(self) -> Ints:
        """The first row of the memory before, for the first row of each memory of a dialogue; `NONE` where none is.

        `OUTSIDE` for all other rows. Links may lead to rows that a reader does not know yet.
        """
        return self._before.view()

    def after(self) -> Ints:
        """The same for the memory after."""
        return self._after.view()

    def speaker(self) -> Ints:
        """The code of each row's speaker, `NONE` for no speaker."""
        return self._speaker.view()

    def append(
        self,
        numbers: Ints | Sequence[int],
        sessions: Sequence[Scalar],
        turns: Sequence[Scalar],
        speakers: Sequence[str | None],
    ) -> None:
        """Take over new rows: the passage's number, the session, the turn and the speaker of each.

        The others are empty when no row has one.
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
        """A copy with the living rows, numbered anew from 0."""
        kept = Dialogues()
        kept._size = int(np.count_nonzero(alive))
        kept._speakers = dict(self._speakers)
        if len(self._speaker):
            kept._speaker.append(self.speaker()[alive])
        if not self._sessions:
            return kept
        moved = (np.cumsum(alive) - 1).tolist()
        kept._widen()
        for key, session in self._sessions.items():
            living = [(moved[row], turn) for row, turn in zip(session.rows, session.turns, strict=True) if alive[row]]
            for row, turn in living:
                kept._link(row, kept._sessions.setdefault(key, _Session()), turn)
        return kept

    def _widen(self) -> None:
        """Bring the links to all rows."""
        missing = self._size - len(self._before)
        self._before.append(np.full(missing, OUTSIDE, np.int32))
        self._after.append(np.full(missing, OUTSIDE, np.int32))

    def _link(self, row: int, session: _Session, turn: float) -> None:
        """Put a row behind the last that is not later. Its own links come first: readers may walk meanwhile."""
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

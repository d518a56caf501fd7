"""Vectors that the store got after their passages, read into the columns of an index."""

from collections.abc import Callable

import numpy as np

from muisti.core.embedding.vectors import rows_of
from muisti.core.index import packing
from muisti.core.index.rows import Rows
from muisti.core.index.vector_columns import VectorColumns
from muisti.core.kernels import Longs
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import generations
from muisti.core.store.sql.spaces import Marks, SpaceRow

FILLED = 2_000  # versions whose vectors are read together


class Arriving:
    """Reads the vectors of one model. `filled` is the change up to which all rows have what the store has.

    `given` counts the vectors that were read.
    """

    def __init__(self, database: Database, generation: int) -> None:
        """Begin with nothing read; `generation` is the row id of the model."""
        self.generation = generation
        self.filled = self.given = 0
        self._database = database

    def fill(self, rows: Rows, columns: VectorColumns, upto: int) -> int:
        """Give rows without a vector the one that the store has; return how many got one.

        `upto` is the change up to which all passages have vectors, as the store says.
        """
        if upto <= self.filled:
            return 0
        bare = rows.bare(columns, self.filled, upto)
        versions = np.unique(rows.version.view()[bare])
        given = 0
        for start in range(0, len(versions), FILLED):
            asked = versions[start : start + FILLED].tolist()
            (found,) = self._database.read([generations.arrived(asked, self.generation)])
            given += self._give(rows, columns, bare, found)
        self.filled = upto
        self.given += given
        return given

    def _give(self, rows: Rows, columns: VectorColumns, bare: Longs, found: list[Row]) -> int:
        places = {
            (version, number): row
            for row, version, number in zip(
                bare.tolist(), rows.version.view()[bare].tolist(), rows.number.view()[bare].tolist(), strict=True
            )
        }
        given = [(places[key], row[2]) for row in found if (key := (row[0], row[1])) in places]
        if given:
            at, vectors = zip(*given, strict=True)
            columns.put(np.array(at, np.int64), rows_of(vectors, columns.dimensions))
        return len(given)


class ArrivingVectors:
    """The vectors of a space's model and of its second one, as far as they come after their passages."""

    def __init__(self, database: Database, generation: int | None) -> None:
        """Begin without a second model; `generation` is None where nothing is embedded."""
        self._database = database
        self._own = None if generation is None else Arriving(database, generation)
        self._second: Arriving | None = None

    @property
    def second(self) -> int | None:
        """Row id of the second model, None without one."""
        return None if self._second is None else self._second.generation

    @property
    def loose(self) -> int:
        """Number of vectors by the second model that came from no segment."""
        return 0 if self._second is None else self._second.given

    def lacks(self, marks: Marks, space: SpaceRow) -> bool:
        """Return whether the store has more vectors, or another second model, than the index of the space."""
        if self._own is None:
            return False
        second = self._second is not None and marks.second_embedded > self._second.filled
        return second or marks.embedded > self._own.filled or marks.second != space.second

    def fill(self, rows: Rows, marks: Marks) -> int:
        """Give rows without a vector the ones that the store has; return how many were given."""
        given = 0 if self._own is None else self._own.fill(rows, rows.vectors, marks.embedded)
        if self._second is not None and rows.second is not None and marks.second == self._second.generation:
            given += self._second.fill(rows, rows.second, marks.second_embedded)
        return given

    def exchange(self, space: SpaceRow, rows: Rows) -> None:
        """Make the columns of the second model of the space, with its packed vectors, or remove them.

        Readers may take snapshots meanwhile, so the columns get their place when they are as long as the others.
        """
        self._second = rows.second = None
        if self._own is not None and space.second is not None:
            columns = VectorColumns(space.second_dimensions, space.space.second)
            columns.reserve(rows.room)
            columns.append_blank(len(rows))
            packing.load_second(self._database, space, rows, columns)
            self._second, rows.second = Arriving(self._database, space.second), columns

    def look_again(self) -> None:
        """Let the next `fill` look at all rows for vectors of the space's model."""
        if self._own is not None:
            self._own.filled = 0

    def pack(self, space: SpaceRow, stopped: Callable[[], bool]) -> None:
        """Pack the vectors of the second model that are in no segment."""
        if self._second is not None:
            packing.pack_second(self._database, space, stopped)
            self._second.given = 0

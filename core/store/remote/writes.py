"""Ids of writes, stored with the rows that they wrote, which show after a lost reply whether a write was committed.

The write inserts a row with its id. A client that lost the reply inserts the same row to void the write; the primary
key lets one of them win. Beside it, the table keeps the values that the batch selected for the reply.
"""

import secrets
from collections.abc import Sequence

import msgspec

from muisti.core.store.database import BadStatement, Rows, Statement
from muisti.core.store.remote.hrana import Step

KEEP_SECONDS = 3_600  # far longer than any client waits for an answer
SWEEP_EVERY = 256  # writes, on average
SWEPT_MAX = 5_000  # rows in one sweep: more than `SWEEP_EVERY` writes leave, and few enough not to delay a write

FATE = -1  # place of the row that says whether the write is committed; values are at their statement's place
COMMITTED, VOID = 1, 0

TABLE = "muisti_writes"
MAKE = (
    Statement(
        "CREATE TABLE IF NOT EXISTS muisti_writes (id BLOB NOT NULL, place INTEGER NOT NULL, answer ANY, "
        "at INTEGER NOT NULL, PRIMARY KEY (id, place)) STRICT, WITHOUT ROWID"
    ),
    Statement("CREATE INDEX IF NOT EXISTS muisti_writes_by_time ON muisti_writes (at)"),
    Statement("INSERT OR IGNORE INTO muisti_writes VALUES (x'', 0, 0, 9223372036854775807)"),
)
# The row with an empty id counts all writes; its time is never reached.
COUNT = Statement("SELECT answer FROM muisti_writes WHERE id = x'' AND place = 0")
_COUNT_ON = Statement("UPDATE muisti_writes SET answer = answer + 1 WHERE id = x'' AND place = 0 RETURNING answer")
COUNTED = 1  # the step of a write, inside its transaction, that gives the count
_SWEEP = Statement(
    "DELETE FROM muisti_writes WHERE (id, place) IN "
    "(SELECT id, place FROM muisti_writes WHERE at < unixepoch() - ? LIMIT ?)",
    (KEEP_SECONDS, SWEPT_MAX),
)
_NOTE = "INSERT INTO muisti_writes VALUES (?, ?, ?, unixepoch())"


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of a write: committed with these values, by place; or void, for ever."""

    committed: bool
    values: dict[int, Rows]

    def rows(self, statements: int) -> list[Rows]:
        """Return the rows that the lost reply had."""
        return [self.values.get(place, []) for place in range(statements)]


def new_id() -> bytes:
    return secrets.token_bytes(16)


def steps(write: bytes, statements: Sequence[Statement]) -> tuple[list[Step], list[int]]:
    """Return the steps of a write inside its transaction, and the position of each statement among them.

    Raises:
        BadStatement: a statement gives rows that could not be read again.
    """
    made = [Step(Statement(_NOTE, (write, FATE, COMMITTED))), Step(_COUNT_ON, rows=True)]
    places: list[int] = []
    for place, statement in enumerate(statements):
        places.append(len(made))
        if "RETURNING" in statement.sql:
            raise BadStatement("RETURNING could not be answered again; select in a statement of its own")
        selects = statement.sql.startswith("SELECT")
        made.append(Step(statement, rows=selects))
        if selects:
            note = _NOTE.replace("?, ?, ?", f"?, ?, ({statement.sql})")
            made.append(Step(Statement(note, (write, place, *statement.args))))
    if secrets.randbelow(SWEEP_EVERY) == 0:
        made.append(Step(_SWEEP))
    return made, places


def settle(write: bytes) -> list[Statement]:
    """Return statements that void a write unless it is committed; the last two select its rows and the count of writes.

    They may be repeated.
    """
    return [
        Statement(_NOTE.replace("INSERT", "INSERT OR IGNORE"), (write, FATE, VOID)),
        Statement("SELECT place, answer FROM muisti_writes WHERE id = ? ORDER BY place", (write,)),
        COUNT,
    ]


def outcome(rows: Rows) -> Outcome:
    """Read the rows that the second statement of `settle` selected."""
    (_, fate), *values = rows
    return Outcome(fate == COMMITTED, {int(str(place)): [(answer,)] for place, answer in values})

"""The ids of writes, recorded with what they wrote, so that the fate of a write whose reply was lost can be learnt.

The row of a write is inserted by the write itself, and by whoever settles its fate: the key of the table lets one of
them win. Beside it stand the values that the batch selected, as they went out with the reply.
"""

import secrets
from collections.abc import Sequence

import msgspec

from muisti.core.store.database import BadStatement, Rows, Statement
from muisti.core.store.remote.hrana import Step

KEEP_SECONDS = 3_600  # far longer than anybody waits for an answer
SWEEP_EVERY = 256  # writes, on average
SWEPT_MAX = 5_000  # rows at once, far more than as many writes leave: what piled up must not hold a write up

FATE = -1  # the place of the row that tells the fate; values stand at their statement's place
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
# The row without an id counts all writes; its time never comes.
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
    """The fate of a write: committed with these values, by place; or void, now and for ever."""

    committed: bool
    values: dict[int, Rows]

    def rows(self, statements: int) -> list[Rows]:
        """What the lost reply held."""
        return [self.values.get(place, []) for place in range(statements)]


def new_id() -> bytes:
    return secrets.token_bytes(16)


def steps(write: bytes, statements: Sequence[Statement]) -> tuple[list[Step], list[int]]:
    """The steps of a write inside its transaction, and at which of them each statement stands.

    Raises:
        BadStatement: a statement gives rows that could not be asked for again.
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
    """Statements that make a write void unless it is committed already; then its rows, and the count of all writes.

    They may be repeated at will.
    """
    return [
        Statement(_NOTE.replace("INSERT", "INSERT OR IGNORE"), (write, FATE, VOID)),
        Statement("SELECT place, answer FROM muisti_writes WHERE id = ? ORDER BY place", (write,)),
        COUNT,
    ]


def outcome(rows: Rows) -> Outcome:
    """What `settle` has found."""
    (_, fate), *values = rows
    return Outcome(fate == COMMITTED, {int(str(place)): [(answer,)] for place, answer in values})

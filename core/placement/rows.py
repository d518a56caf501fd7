"""The rows that move with a space, by table: which are a space's, how they are named, and which numbers they have.

Rows get new numbers in another database. What is derived and made when it is needed, or packed from rows, stays behind.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from muisti.core.store.database import Scalar, Statement, slots
from muisti.core.store.sql import tables
from muisti.core.store.sql.table import Table, words

VERSIONS = "versions"
PARTS = ("tags", "metadata", "passages", "embeddings")  # of versions, each after those that it refers to
PART = "parts"  # the name in a trail of what is a part of a version

# Tables of spaces whose rows stay behind, with the reason.
STAYING = {
    **{one.name: "it is made again when it is needed" for one in tables.TABLES if one.rebuilt == "when_needed"},
    "segments": "it is packed anew from the rows",
    "code_spaces": "it is progress of what is made again",
    "graph_spaces": "it is progress of what is made again",
    "erased": "no index in the other database has the rows",
    "forks": "spaces that a fork links do not move",
    "twins": "spaces that a fork links do not move",
    "leaving": "it is about the move",
}


class Carried(NamedTuple):
    """A table whose rows move.

    `key` is its primary key, `owner` the SQL of the space of a row `{0}`, and `among` the condition on a space's rows.
    `numbers` names the tables whose row numbers the columns have, the row's own among them.
    """

    table: Table
    key: tuple[str, ...]
    owner: str
    among: str
    numbers: dict[str, str]
    at_once: int = 500  # rows that are read together

    @property
    def numbered(self) -> bool:
        return self.numbers.get(self.key[0]) == self.table.name

    def selected(self, where: str, args: Sequence[Scalar], more: str = "") -> Statement:
        """Select rows, their columns as in the declaration of the table."""
        columns = ", ".join(f"t.{name}" for name in self.table.columns)
        return Statement(f"SELECT {columns} FROM {self.table.name} t WHERE {where}{more}", tuple(args))

    def after(self, space: int, last: Sequence[Scalar]) -> Statement:
        """Select the next rows of a space, in the order of their keys; `last` is the key of the last one."""
        key = ", ".join(f"t.{name}" for name in self.key)
        beyond = f" AND ({key}) > {slots(last)}" if last else ""
        return self.selected(f"{self.among}{beyond}", (space, *last), f" ORDER BY {key} LIMIT {self.at_once}")

    def keyed(self, keys: Sequence[Sequence[Scalar]]) -> Statement:
        """Select the rows of some keys."""
        each = f"({' AND '.join(f't.{name} IS ?' for name in self.key)})"
        return self.selected(" OR ".join([each] * len(keys)), [value for key in keys for value in key])

    def key_of(self, row: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return tuple(row[self.table.columns.index(name)] for name in self.key)

    def put(self, rows: Sequence[Sequence[Scalar]]) -> Statement:
        """Insert rows, or replace what others with their keys say."""
        columns, key = self.table.columns, ", ".join(self.key)
        others = [name for name in columns if name not in self.key]
        change = ", ".join(f"{name} = excluded.{name}" for name in others)
        does = f"DO UPDATE SET {change}" if others else "DO NOTHING"
        row = slots(columns)
        return Statement(
            f"INSERT INTO {self.table.name} ({', '.join(columns)}) VALUES {', '.join([row] * len(rows))} "
            f"ON CONFLICT ({key}) {does}",
            tuple(value for row in rows for value in row),
        )

    def drop(self, key: Sequence[Scalar]) -> Statement:
        where = " AND ".join(f"{name} IS ?" for name in self.key)
        return Statement(f"DELETE FROM {self.table.name} WHERE {where}", tuple(key))

    def triggers(self) -> list[Statement]:
        """Make the triggers that refuse writes to a fenced space, and note what changes in one that is followed."""
        made: list[Statement] = []
        for verb, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            name = PART if self.table.name in PARTS else self.table.name
            key = f"{row}.version_id" if name == PART else ", ".join(_noted(f"{row}.{column}") for column in self.key)
            of = f"FROM leaving l WHERE l.space_id = {self.owner.format(row)}"
            made.append(
                Statement(
                    f"CREATE TRIGGER IF NOT EXISTS {_trigger(self.table.name, verb)} AFTER {verb} ON {self.table.name} "
                    "WHEN EXISTS (SELECT 1 FROM leaving) BEGIN "
                    f"SELECT RAISE(ABORT, 'refused: moved') {of} AND l.fenced = 1; "
                    f"INSERT INTO trail (epoch, name, row) SELECT l.epoch, '{name}', json_array({key}) {of}; END"
                )
            )
        return made

    def no_triggers(self) -> list[Statement]:
        return [
            Statement(f"DROP TRIGGER IF EXISTS {_trigger(self.table.name, verb)}")
            for verb in ("INSERT", "UPDATE", "DELETE")
        ]


def _trigger(table: str, verb: str) -> str:
    return f"leaving_{table}_{verb.lower()}"


def _noted(value: str) -> str:
    """Return the SQL of a value of a key as `noted` reads it: a number, or a text that begins with its type."""
    return f"CASE typeof({value}) WHEN 'blob' THEN 'x' || hex({value}) WHEN 'text' THEN 's' || {value} ELSE {value} END"


def noted(text: str) -> tuple[Scalar, ...]:
    """Return the key in a row of a trail.

    >>> noted('[17, "x0AFF", "sname"]')
    (17, b'\\n\\xff', 'name')
    """
    return tuple(
        (bytes.fromhex(one[1:]) if one[0] == "x" else one[1:]) if isinstance(one, str) else one
        for one in cast(list[Scalar], json.loads(text))
    )


# Triggers that refuse changes of the rows of spaces themselves, except of what a move changes.
ON_SPACES = (
    Statement(
        "CREATE TRIGGER IF NOT EXISTS leaving_spaces_update BEFORE UPDATE ON spaces WHEN NEW.placed = OLD.placed AND "
        "EXISTS (SELECT 1 FROM leaving WHERE space_id = OLD.id AND fenced = 1) BEGIN "
        "SELECT RAISE(ABORT, 'refused: moved'); END"
    ),
    Statement(
        "CREATE TRIGGER IF NOT EXISTS leaving_spaces_delete BEFORE DELETE ON spaces WHEN "
        "EXISTS (SELECT 1 FROM leaving WHERE space_id = OLD.id AND fenced = 1) BEGIN "
        "SELECT RAISE(ABORT, 'refused: moved'); END"
    ),
)
OFF_SPACES = (
    Statement("DROP TRIGGER IF EXISTS leaving_spaces_update"),
    Statement("DROP TRIGGER IF EXISTS leaving_spaces_delete"),
)

_OWN = "{0}.space_id"
_AMONG = "t.space_id = ?"


def _of_version(name: str, key: str, **numbers: str) -> Carried:
    owner = "(SELECT space_id FROM versions WHERE id = {0}.version_id)"
    among = "t.version_id IN (SELECT id FROM versions WHERE space_id = ?)"
    return Carried(tables.named(name), words(key), owner, among, {"version_id": VERSIONS, **numbers})


def _of_space(name: str, key: str, **numbers: str) -> Carried:
    return Carried(tables.named(name), words(key), _OWN, _AMONG, {"space_id": "spaces", **numbers})


def _of_parent(
    name: str, key: str, column: str, parent: str, number: str, at_once: int = 500, **numbers: str
) -> Carried:
    owner = f"(SELECT space_id FROM {parent} WHERE {number} = {{0}}.{column})"
    among = f"t.{column} IN (SELECT {number} FROM {parent} WHERE space_id = ?)"
    return Carried(tables.named(name), words(key), owner, among, numbers, at_once)


_EPOCH = "substr({0}.seq, 1, instr({0}.seq, ':') - 1)"

# Each table comes after those that it refers to.
CARRIED = (
    _of_space("imports", "id", id="imports"),
    _of_space(VERSIONS, "id", id=VERSIONS),
    _of_version("tags", "version_id tag"),
    _of_version("metadata", "version_id path position"),
    _of_version("passages", "version_id number"),
    _of_version("embeddings", "version_id number generation_id", generation_id="generations"),
    _of_space("changes", "space_id seq", import_id="imports"),
    _of_space("checkpoints", "space_id name"),
    _of_space("retrievals", "space_id memory_id"),
    _of_space("feedback", "space_id memory_id actor"),
    _of_space("receipts", "id"),
    _of_parent("receipt_hits", "receipt_id rank", "receipt_id", "receipts", "id"),
    _of_space("probes", "id"),
    _of_space("probe_runs", "id", id="probe_runs"),
    _of_space("conflicts", "id", id="conflicts", existing_row=VERSIONS, new_row=VERSIONS),
    _of_space("working", "conversation_id key"),
    _of_space("webhooks", "id"),
    _of_parent("dead_letters", "id", "webhook_id", "webhooks", "id", id="dead_letters"),
    _of_space("tasks", "number", number="tasks"),
    _of_parent("task_items", "task number", "task", "tasks", "number", task="tasks"),
    _of_parent("blobs", "task name part", "task", "tasks", "number", at_once=4, task="tasks"),
    Carried(
        tables.named("requests"),
        words("scope key"),
        f"(SELECT id FROM spaces WHERE epoch = {_EPOCH})",
        f"{_EPOCH.format('t')} = (SELECT epoch FROM spaces WHERE id = ?)",
        {},
    ),
    Carried(
        tables.named("quotas"),
        words("space"),
        "(SELECT id FROM spaces WHERE name = {0}.space)",
        "t.space = (SELECT name FROM spaces WHERE id = ?)",
        {},
    ),
)
BY_NAME = {one.table.name: one for one in CARRIED}

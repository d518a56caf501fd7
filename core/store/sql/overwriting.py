"""The SQL that writes other bytes over what is about to be deleted, where a server leaves deleted bytes as they stood.

SQLite writes a row that keeps its size in place, on its overflow pages too. So what is deleted behind this, in the same
transaction, leaves nothing behind but the copies that its trees made when they were balanced before.
"""

from collections.abc import Sequence

from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.table import Table, Wipe

_BLANK_TEXT = "CAST(zeroblob(octet_length({0})) AS TEXT)"
_BLANK_BYTES = "zeroblob(length({0}))"
# Short texts that are no longer unique are left as they are.
_NOISE = "substr(hex(randomblob(octet_length({0}))), 1, octet_length({0}))"


def over(table: Table, where: str, args: Sequence[Scalar]) -> list[Statement]:
    """Write over the rows of a table that meet `where`. An answer of a request is known to be gone by its zeros."""
    return [
        Statement(
            f"UPDATE OR IGNORE {table.name} SET {_values(wipe)} WHERE {f'{wipe.where} AND ' if wipe.where else ''}"
            f"({where})",
            tuple(args),
        )
        for wipe in table.wipes
    ]


def _values(wipe: Wipe) -> str:
    ways = ((_BLANK_TEXT, wipe.text), (_BLANK_BYTES, wipe.data), (_NOISE, wipe.noise))
    return ", ".join(_all(value, *columns) for value, columns in ways if columns)


def _all(value: str, *columns: str) -> str:
    """Null stays null: anything else would change the size of the row."""
    return ", ".join(f"{name} = iif({name} IS NULL, NULL, {value.format(name)})" for name in columns)

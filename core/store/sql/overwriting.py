"""The SQL that overwrites rows before they are deleted, for servers that leave deleted bytes in the file.

SQLite writes a row that keeps its size in place, on its overflow pages too. So a deletion in the same transaction
leaves only the copies that SQLite made when it balanced B-trees before.
"""

from collections.abc import Sequence

from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.table import Table, Wipe

_BLANK_TEXT = "CAST(zeroblob(octet_length({0})) AS TEXT)"
_BLANK_OBJECT = "'{{' || printf('%*s', octet_length({0}) - 2, '') || '}}'"  # columns that SQLite computes read it
_BLANK_BYTES = "zeroblob(length({0}))"
# Short texts that would collide in a unique index are left as they are.
_NOISE = "substr(hex(randomblob(octet_length({0}))), 1, octet_length({0}))"


def over(table: Table, where: str, args: Sequence[Scalar]) -> list[Statement]:
    """Overwrite the rows of a table that meet `where`. Zeros in an answer mark it as overwritten."""
    return [
        Statement(
            f"UPDATE OR IGNORE {table.name} SET {_values(wipe)} WHERE {f'{wipe.where} AND ' if wipe.where else ''}"
            f"({where})",
            tuple(args),
        )
        for wipe in table.wipes
    ]


def _values(wipe: Wipe) -> str:
    ways = ((_BLANK_TEXT, wipe.text), (_BLANK_OBJECT, wipe.objects), (_BLANK_BYTES, wipe.data), (_NOISE, wipe.noise))
    return ", ".join(_all(value, *columns) for value, columns in ways if columns)


def _all(value: str, *columns: str) -> str:
    """Assign a value to each column, and keep null: anything else would change the size of the row."""
    return ", ".join(f"{name} = iif({name} IS NULL, NULL, {value.format(name)})" for name in columns)

"""Types for declaring tables: references, and how rows are erased, copied, moved, salvaged and rebuilt."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from muisti.core.store.database import Scalar, Statement

Erasing = Literal[
    "deleted",  # by the ids of its memories, in a statement that all such tables share
    "cascades",  # by SQLite, with the row that it refers to
    "trigger",  # by a trigger of the schema, with the last version of its memory
    "stated",  # by statements of its own
    "stays",  # `why` gives the reason
]
Copying = Literal[
    "with_version",  # each row is copied with its version
    "stated",  # by statements of its own
    "never",
]
Salvaging = Literal[
    "taken",
    "with_memory",  # taken, and deleted when no version of its memory could be read
    "left",
]
Rebuilding = Literal[
    "from_version",  # from the content of its version, by `inserting.dependent_rows`
    "from_index",  # from the rows of its space, when the index is packed next
    "when_needed",  # from the content of its version, when it is asked for and missing
]


class Reference(Struct, frozen=True):
    """A foreign key: columns of a table, and the table that they refer to."""

    columns: tuple[str, ...]
    table: str
    cascades: bool = True


class Wipe(Struct, frozen=True, kw_only=True):
    """Columns that one statement overwrites in rows that a server is about to delete.

    `noise` is for columns of a key: they must stay unique, and blanks would not. `objects` are of JSON, and stay so.
    """

    text: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    where: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """A table of the schema. Backups and copies of a database take every table whole."""

    name: str
    columns: tuple[str, ...]  # in the order of the schema; those that SQLite computes are left out
    references: tuple[Reference, ...] = ()  # none given: that to its version, else to its space

    # Columns with row ids of versions that a row is about, and with ids of memories.
    versions: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()

    # How rows are erased with a memory. Erasing a space deletes all rows that refer to it by references that cascade.
    erasing: Erasing = "stays"
    why: str = ""  # reason why rows stay
    wipes: tuple[Wipe, ...] = ()

    # Origin of each column of text or bytes that erasure does not wipe.
    plain: tuple[str, ...] = ()  # ids, and our own terms
    stated: tuple[str, ...] = ()  # what somebody states, or another server answers, about something else than a memory
    followed: tuple[str, ...] = ()  # may come from a memory; statements of its own keep it clean, `why` says how

    sought: tuple[str, ...] = ()  # columns whose values must not stay in the free space of a file

    repeated: bool = False  # a new version with the same text copies these rows from the version before
    forking: Copying = "never"
    moving: Copying = "never"  # from the staging space of an import
    exported: bool = False  # read by `exports`; a version in a file has its tags and metadata in it
    rewound: bool = False  # has statements in `backup.REWIND`, for a backup restored as of an earlier change
    salvaging: Salvaging = "taken"
    rebuilt: Rebuilding | Literal[""] = ""  # empty for a table that is not derived

    def __post_init__(self) -> None:
        if not self.references and (self.version or self.space):
            force_setattr(self, "references", (OF_VERSION if self.version else OF_SPACE,))

    @property
    def space(self) -> str:
        """The column with the row id of the space that a row belongs to; empty for none."""
        return "space_id" if "space_id" in self.columns else ""

    @property
    def version(self) -> str:
        """The column with the row id of the version that a row is part of; empty for none."""
        return "version_id" if "version_id" in self.columns and "version_id" not in self.versions else ""


def words(text: str) -> tuple[str, ...]:
    """Split a list of names that are separated by blanks."""
    return tuple(text.split())


OF_SPACE = Reference(("space_id",), "spaces")
OF_VERSION = Reference(("version_id",), "versions")
ABOUT_THE_SPACE = "it is about the space, and says nothing of a memory"


# The SQL that overwrites rows before they are deleted, for servers that leave deleted bytes in the file.
#
# SQLite writes a row that keeps its size in place, on its overflow pages too. So a deletion in the same transaction
# leaves only the copies that SQLite made when it balanced B-trees before.

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

"""Declarations of tables: what a table hangs on, how it is erased, copied, moved, salvaged and rebuilt."""

from typing import Literal

from msgspec import Struct

Erasing = Literal[
    "deleted",  # by the ids of its memories, in a statement that all such tables share
    "cascades",  # by SQLite, with the row that it refers to
    "trigger",  # by a trigger of the schema, with the last version of its memory
    "stated",  # by statements of its own
    "stays",  # `why` gives the reason
]
Copying = Literal[
    "with_version",  # each row goes where its version goes
    "stated",  # by statements of its own
    "never",
]
Salvaging = Literal[
    "taken",
    "with_memory",  # taken, and deleted when no version of its memory could be read
    "left",
]
Rebuilding = Literal[
    "from_version",  # from what its version says, by `inserting.hang_on`
    "from_index",  # from the rows of its space, when the index is packed next
]


class Reference(Struct, frozen=True):
    """A foreign key: columns of a table, and the table that they lead to."""

    columns: tuple[str, ...]
    table: str
    cascades: bool = True


class Wipe(Struct, frozen=True, kw_only=True):
    """Columns that one statement writes over, in rows about to be deleted from a server.

    `noise` is for columns that are part of a key: they must stay unique, which short texts may not.
    """

    text: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    where: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """A table of the schema. Backups and copies of a database carry every table whole."""

    name: str
    columns: tuple[str, ...]  # in the order of the schema; those that SQLite computes are left out
    references: tuple[Reference, ...] = ()

    # Columns with row ids of spaces and versions, and with ids of memories.
    space: str = ""  # the space that a row belongs to
    version: str = ""  # the version that a row is part of
    versions: tuple[str, ...] = ()  # versions that a row is about
    memories: tuple[str, ...] = ()

    # How rows go with a memory. With a space, all go that lead to it by references that cascade.
    erasing: Erasing
    why: str = ""  # they stay
    wipes: tuple[Wipe, ...] = ()
    plain: tuple[str, ...] = ()  # columns of text or bytes that need no wipe: ids, and our own terms
    sought: tuple[str, ...] = ()  # columns whose values must not stay in the free space of a file

    repeated: bool = False  # a version whose text is that of the one before takes over the rows of that
    forking: Copying = "never"
    moving: Copying = "never"  # from the staging space of an import
    exported: bool = False  # read by `exports`; a version in a file has its tags and metadata in it
    rewound: bool = False  # has statements in `backup.REWIND`, for a backup restored as of an earlier change
    salvaging: Salvaging = "taken"
    rebuilt: Rebuilding | Literal[""] = ""  # empty when it is derived from nothing

"""The fields of a memory, each declared once: how it is stored, found, compared, sealed, exported and shown.

Columns of SQL, checksums, filters, diffs and exports are derived from `FIELDS`. A new field needs an entry here, an
attribute of `Memory` (and of `Draft`, when callers state it), and a migration that adds its columns.
tests/core/model/test_fields.py checks that these agree.
"""

from collections.abc import Iterable
from typing import Any, Literal, get_args

from msgspec import Struct

from muisti.core.model.choices import CONTENT_MAX, SourceClass, Status, Type
from muisti.core.model.values import DOCUMENT_MAX, IMPORTANCE, KEY_MAX, NAME_MAX, REASON_MAX, Kind

# The form of a column: a time is microseconds, an id sixteen bytes, a rank the place in `IMPORTANCE`. Lists and objects
# are JSON.
Form = Literal["text", "number", "rank", "time", "id", "list", "object"]

# The kind of a filter, which determines its operators and how its operands are read (core/query/filter_fields.py).
Filter = Literal[
    "any_case", "text", "choice", "rank", "time", "id", "number", "percent", "tags", "names", "ids", "paths"
]

# The way in which a diff shows a change: both values, the stretch of words that differs, or each path of an object.
Diff = Literal["value", "words", "paths"]


class MemoryField(Struct, frozen=True, kw_only=True):
    """A field of a memory. The defaults are for a field that callers state and every reader may see.

    `place` orders the columns of a row; checksums depend on it, so a new field takes the next number. It is None for
    a field that is stored with the space.
    """

    name: str
    place: int | None
    form: Form = "text"
    column: str = ""  # in `versions`; empty: the name of the field
    folded: bool = False  # a second column has the case-folded value, which filters compare
    hashed: bool = False  # a second column has the hash of the value
    choices: tuple[str, ...] = ()  # allowed values; empty: any
    most: int | None = None  # characters of a free text at most
    usual: Any = None  # default value
    filter: Filter | None = None  # None: filters cannot name it
    member: str = ""  # of the objects in a list, the member that filters compare
    diff: Diff | None = "value"  # None: diffs leave it out
    stated: bool = True  # callers state it, in a `Draft`; otherwise the service derives it
    sent: bool = True  # requests about single memories carry it; otherwise those about conversations do
    worded: bool = False  # a caller who changes it becomes a source of the memory, which may lower its source class
    repeated: bool = True  # a version that repeats an older one copies it from there
    sealed: bool = True  # the checksum of a version covers it
    exported: bool = True
    shown: bool = True  # MCP returns it to models that ask for the whole memory
    brief: bool = False  # MCP also returns it in short answers

    @property
    def in_row(self) -> str:
        """Return the name of its column in `versions`."""
        return self.column or self.name

    @property
    def beside(self) -> str | None:
        """Return the name of the column that is derived from it, if there is one."""
        return f"{self.name}_folded" if self.folded else f"{self.name}_hash" if self.hashed else None

    @property
    def personal(self) -> bool:
        """Return whether its text may say something of somebody, so that erasure overwrites it: no choice, no ids."""
        return self.form in ("text", "list", "object") and not self.choices and self.filter != "ids"

    @property
    def compared(self) -> str:
        """Return the name of the column that a filter compares."""
        return f"{self.name}_folded" if self.folded else self.in_row


# All fields, in the order in which diffs show them.
FIELDS = (
    MemoryField(
        name="id", place=0, form="id", column="memory_id", diff=None, stated=False, repeated=False, sealed=False,
        brief=True,
    ),
    MemoryField(
        name="space", place=None, diff=None, stated=False, repeated=False, sealed=False, exported=False, shown=False,
    ),
    MemoryField(
        name="version", place=1, form="number", diff=None, stated=False, repeated=False, sealed=False, brief=True,
    ),
    MemoryField(name="content", place=5, hashed=True, most=CONTENT_MAX, diff="words", worded=True, brief=True),
    MemoryField(name="category", place=3, folded=True, most=NAME_MAX, filter="any_case", worded=True, brief=True),
    MemoryField(name="key", place=4, most=KEY_MAX, filter="text", worded=True, brief=True),
    MemoryField(name="kind", place=2, choices=get_args(Kind), usual="memory", filter="choice"),
    MemoryField(
        name="type", place=6, choices=get_args(Type), usual="fact", filter="choice", worded=True, brief=True
    ),
    MemoryField(name="status", place=7, choices=get_args(Status), usual="active", filter="choice", brief=True),
    MemoryField(
        name="importance", place=8, form="rank", choices=IMPORTANCE, usual="medium", filter="rank", brief=True
    ),
    MemoryField(name="author", place=9, folded=True, most=NAME_MAX, filter="any_case", worded=True, brief=True),
    MemoryField(name="reason", place=10, most=REASON_MAX, worded=True),
    MemoryField(name="source", place=11, most=NAME_MAX, filter="text", worded=True),
    MemoryField(name="tags", place=12, form="list", usual=(), filter="tags", worded=True, brief=True),
    MemoryField(name="created_at", place=15, form="time", filter="time", diff=None, stated=False, repeated=False),
    # A checksum adds `updated_at` to the hash of the sealed fields (core/store/sql/version_rows.py).
    MemoryField(
        name="updated_at", place=16, form="time", filter="time", diff=None, stated=False, repeated=False, sealed=False,
        brief=True,
    ),
    MemoryField(name="event_at", place=14, form="time", filter="time", worded=True, brief=True),
    MemoryField(name="valid_from", place=25, form="time", filter="time", worded=True, brief=True),
    MemoryField(name="valid_to", place=26, form="time", filter="time", worded=True, brief=True),
    MemoryField(name="expires_at", place=17, form="time", filter="time", brief=True),
    # Links change when a space is forked, so no checksum covers them.
    MemoryField(name="parent_id", place=20, form="id", filter="id", sealed=False),
    MemoryField(name="supersedes", place=18, form="id", stated=False, sealed=False),
    MemoryField(name="superseded_by", place=19, form="id", stated=False, sealed=False),
    MemoryField(
        name="source_class", place=22, choices=get_args(SourceClass), usual="unknown", filter="choice", brief=True
    ),
    MemoryField(name="derived_from", place=23, form="list", usual=(), filter="ids"),
    MemoryField(name="trust", place=24, form="number", filter="percent", stated=False, brief=True),
    MemoryField(
        name="metadata", place=13, form="object", usual={}, filter="paths", diff="paths", worded=True, brief=True
    ),
    MemoryField(name="tokens", place=21, form="number", diff=None, stated=False, shown=False),
    MemoryField(name="session", place=27, most=NAME_MAX, filter="text", sent=False, brief=True),
    MemoryField(name="conversation", place=28, most=NAME_MAX, filter="text", sent=False, brief=True),
    MemoryField(name="topic", place=29, most=NAME_MAX, filter="text", sent=False, brief=True),
    MemoryField(name="turn", place=30, form="number", filter="number", sent=False, brief=True),
    MemoryField(name="document", place=32, most=DOCUMENT_MAX, filter="text", sent=False, brief=True),
    MemoryField(name="position", place=33, form="number", filter="number", sent=False),
    MemoryField(name="structure", place=31, form="object", usual={}, sent=False, brief=True),
    MemoryField(
        name="anchors", place=34, form="list", usual=(), filter="names", member="path", worded=True, brief=True
    ),
)  # fmt: skip

# Parts of `structure` that filters compare as fields: the `column` is an expression on the row. Callers do not state
# them, and `structure` stores, seals and exports them.
PARTS = (
    MemoryField(name="language", place=None, column="structure ->> '$.language'", filter="any_case", stated=False),
    MemoryField(
        name="defines", place=None, form="list", column="structure -> '$.defines'", usual=(), filter="names",
        stated=False,
    ),
)  # fmt: skip
FILTERED = (*FIELDS, *PARTS)


def stored(fields: Iterable[MemoryField]) -> tuple[MemoryField, ...]:
    """Return the fields that have columns in `versions`, in the order of these."""
    placed = [(field.place, field) for field in fields if field.place is not None]
    return tuple(field for _, field in sorted(placed, key=lambda one: one[0]))


def columns(fields: Iterable[MemoryField]) -> tuple[str, ...]:
    """Return the columns of fields, each followed by the one that is derived from it."""
    return tuple(name for field in stored(fields) for name in (field.in_row, field.beside) if name is not None)


STATED = tuple(field.name for field in FIELDS if field.stated)
SENT = tuple(field.name for field in FIELDS if field.stated and field.sent)
TIMES = tuple(field.name for field in FIELDS if field.form == "time")
STATED_TIMES = tuple(field.name for field in FIELDS if field.form == "time" and field.stated)
LINKS = tuple(field.name for field in FIELDS if field.form == "id" and field.repeated)  # to other memories
TEXTS = {field.name: field.most for field in FIELDS if field.most is not None}
FOLDED = tuple(field.name for field in FIELDS if field.folded)

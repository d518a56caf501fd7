"""Each table of the schema, declared once: its references, and how it is erased, copied, moved, salvaged and rebuilt.

The modules that erase, fork, import, repair and salvage read this. A new table is a migration and one declaration:
here for the server and for parts of versions, else in `space_tables`.
"""

from collections.abc import Mapping, Sequence

from muisti.core.model.fields import FIELDS, MemoryField, columns, stored
from muisti.core.store.sql import space_tables
from muisti.core.store.sql.table import ABOUT_THE_SPACE, OF_SPACE, OF_VERSION, Reference, Table, Wipe, words

# Tables of a server and its spaces

_OF_THE_SERVER = "it is about the server, and says nothing of a memory"

# Each table comes after those that it refers to.
_SERVER = (
    Table(
        name="schema_migrations",
        columns=words("number name applied_at"),
        why=_OF_THE_SERVER,
        plain=words("name"),
        salvaging="left",
    ),
    Table(
        name="sqlite_sequence",
        columns=words("name seq"),
        why=_OF_THE_SERVER,
        plain=words("name seq"),
        salvaging="left",
    ),
    Table(
        name="generations",
        columns=words("id hash model dimensions created_at probes seen_at"),
        why=_OF_THE_SERVER,
        plain=words("hash probes"),
        stated=words("model"),
        exported=True,
    ),
    Table(
        name="keys",
        columns=words(
            "id hash name scopes spaces category parent_id created_at expires_at revoked_at last_used_at source_class"
        ),
        references=(Reference(("parent_id",), "keys", cascades=False),),
        why=_OF_THE_SERVER,
        plain=words("id hash scopes parent_id source_class"),
        stated=words("name spaces category"),
    ),
    Table(
        name="signing_keys",
        columns=words("id public private created_at"),
        why=_OF_THE_SERVER,
        plain=words("id public private"),
    ),
    Table(
        name="quotas",
        columns=words("space memories bytes"),
        why=ABOUT_THE_SPACE,
        stated=words("space"),
    ),
    Table(
        name="audit",
        columns=words("id at actor action space target"),
        why="it must name who erased which memory, by its id",
        plain=words("action target"),
        stated=words("actor space"),
    ),
    Table(
        name="sweeps",
        columns=words("name owner until next_at"),
        why=_OF_THE_SERVER,
        plain=words("owner"),
        stated=words("name"),
        salvaging="left",
    ),
    Table(
        name="turns",
        columns=words("number memory_id version living source"),
        memories=("memory_id",),
        why="it is empty between transactions",
        plain=words("memory_id"),
        salvaging="left",
    ),
    Table(
        name="requests",
        columns=words("scope key body_hash answer seq expires_at"),
        erasing="stated",
        wipes=(Wipe(data=("body_hash", "answer")),),
        plain=words("scope key seq"),
        rewound=True,
        salvaging="left",  # an answer may speak of what is lost
    ),
    Table(
        name="spaces",
        columns=words(
            "id name epoch seq created_at committed_at settings generation_id memories bytes kept_from policy feedback "
            "shadow_generation_id shadow_served embedded second_generation_id second_embedded objects placed"
        ),
        references=(
            Reference(("generation_id",), "generations", cascades=False),
            Reference(("shadow_generation_id",), "generations", cascades=False),
            Reference(("second_generation_id",), "generations", cascades=False),
        ),
        why=ABOUT_THE_SPACE,
        plain=words("epoch settings policy"),
        stated=words("name"),
        forking="stated",
        moving="stated",
        rewound=True,
    ),
    Table(
        name="databases",
        columns=words("id name url namespace replica_url token_file most_bytes draining added_at"),
        why=_OF_THE_SERVER,
        stated=words("name url namespace replica_url token_file"),
    ),
    Table(name="placement", columns=words("id epoch buckets"), why=_OF_THE_SERVER, plain=words("buckets")),
    Table(
        name="placed_spaces",
        columns=words("space database_id why"),
        why=ABOUT_THE_SPACE,
        plain=words("why"),
        stated=words("space"),
    ),
    Table(
        name="moves",
        columns=words(
            "id unit source_id target_id why step owner lease_until asked_at ended_at actor copied fences fenced_us "
            "error"
        ),
        why=ABOUT_THE_SPACE,
        plain=words("why step owner error"),
        stated=words("unit actor"),
    ),
    Table(
        name="holdings",
        columns=words("unit epoch state until"),
        why=ABOUT_THE_SPACE,
        plain=words("state"),
        stated=words("unit"),
    ),
    Table(
        name="carried",
        columns=words("epoch name old new"),
        why="it has numbers only, until a move ends",
        plain=words("name"),
        salvaging="left",
    ),
    Table(
        name="arrivals",
        columns=words("epoch name position"),
        why="it says how far a move is",
        plain=words("name position"),
        salvaging="left",
    ),
    Table(
        name="leaving",
        columns=words("space_id epoch fenced"),
        why="it says that a space is followed while it moves",
        salvaging="left",
    ),
    Table(
        name="trail",
        columns=words("number epoch name row"),
        why="it has ids, and keys of requests, until a move ends",
        plain=words("name row"),
        salvaging="left",
    ),
)


# The first columns of `versions`, in the order of the schema. A later field adds its own at the end.
_FIRST = words(
    "id space_id memory_id version born died kind category category_folded key content content_hash type status "
    "importance author author_folded reason source tags metadata event_at created_at updated_at expires_at supersedes "
    "superseded_by parent_id tokens source_class derived_from trust checksum valid_from valid_to"
)
_ADDRESS = words("category category_folded key")  # unique among the current versions of a space
_PLACE = words("session conversation topic document")  # unique likewise, with the turn
_PARSED = ("structure",)  # a computed column reads its JSON


def versions(fields: Sequence[MemoryField]) -> Table:
    """Declare the table of versions, whose columns are those of the fields of a memory.

    Erasure overwrites the columns of personal fields, and looks for their values in what is left of a file.
    """
    personal = [field for field in stored(fields) if field.personal]
    hashes = tuple(field.beside for field in personal if field.hashed and field.beside)
    sought = columns(personal)
    return Table(
        name="versions",
        columns=(*_FIRST, *(name for name in columns(fields) if name not in _FIRST)),
        memories=("memory_id",),
        erasing="deleted",
        wipes=(
            Wipe(
                text=tuple(name for name in sought if name not in {*hashes, *_ADDRESS, *_PLACE, *_PARSED}),
                objects=_PARSED,
                data=hashes,
            ),
            Wipe(noise=_ADDRESS, where="category IS NOT NULL"),
            Wipe(noise=_PLACE, where="coalesce(session, conversation, document) IS NOT NULL"),
        ),
        plain=tuple(
            field.in_row for field in stored(fields) if field.form in ("text", "list", "id") and not field.personal
        ),
        sought=sought,
        forking="stated",
        moving="stated",
        exported=True,
        rewound=True,
    )


# Each table comes after those that it refers to.
TABLES = (
    *_SERVER,
    versions(FIELDS),
    Table(
        name="tags",
        columns=words("version_id tag spelling"),
        erasing="cascades",
        wipes=(Wipe(noise=("tag", "spelling")),),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="from_version",
    ),
    Table(
        name="metadata",
        columns=words("version_id path position type value"),
        erasing="cascades",
        wipes=(Wipe(noise=("path",)), Wipe(text=("value",), where="type = 'text'")),
        plain=words("type"),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="from_version",
    ),
    Table(
        name="passages",
        columns=words("version_id number start stop analyzer terms"),
        erasing="cascades",
        wipes=(Wipe(data=("terms",)),),
        plain=words("analyzer"),
        sought=("terms",),
        repeated=True,
        forking="with_version",
        moving="with_version",
        exported=True,
        salvaging="left",
        rebuilt="from_version",
    ),
    Table(
        name="embeddings",
        columns=words("version_id number generation_id vector"),
        references=(
            Reference(("version_id", "number"), "passages"),
            Reference(("generation_id",), "generations", cascades=False),
        ),
        erasing="cascades",
        wipes=(Wipe(data=("vector",)),),
        sought=("vector",),
        repeated=True,
        forking="with_version",
        moving="with_version",
        exported=True,
        salvaging="left",
        rebuilt="from_version",
    ),
    Table(
        name="pieces",
        columns=words("version_id encoding data"),
        erasing="cascades",
        wipes=(Wipe(data=("data",)),),
        plain=words("encoding"),
        sought=("data",),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="when_needed",
    ),
    Table(
        name="code_files",
        columns=words("version_id language record"),
        erasing="cascades",
        wipes=(Wipe(data=("record",)),),
        plain=words("language"),
        sought=("record",),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="when_needed",
    ),
    *(
        Table(
            name=f"code_{name}",
            columns=words(f"version_id {columns}"),
            references=(OF_VERSION, OF_SPACE) if "space_id" in columns else (OF_VERSION,),
            memories=memories,
            erasing="cascades",
            wipes=wipes,
            plain=words(plain),
            salvaging="left",
            rebuilt="when_needed",
        )
        for name, columns, memories, wipes, plain in (
            ("resolved", "space_id interface unresolved", (), (), "interface"),
            (
                "symbols",
                "number space_id name folded qualified kind parent start stop signature doc",
                (),
                (Wipe(text=words("name folded qualified signature doc")),),
                "kind",
            ),
            (
                "edges",
                "number scope kind target_id target lines certainty",
                (),
                (Wipe(text=("target",)),),
                "kind target_id lines certainty",
            ),
            ("keys", "key", (), (Wipe(noise=("key",)),), ""),
        )
    ),
    Table(
        name="code_spaces",
        columns=words("space_id revision"),
        why=ABOUT_THE_SPACE,
        salvaging="left",
    ),
    Table(
        name="graph_spaces",
        columns=words("space_id through recogniser revision"),
        why=ABOUT_THE_SPACE,
        plain=words("recogniser"),
        rewound=True,
        salvaging="left",
    ),
    Table(
        name="entities",
        columns=words("id space_id code norm folded first_word last_word initials"),
        erasing="stated",
        wipes=(Wipe(text=words("folded first_word last_word initials")), Wipe(noise=words("code norm"))),
        sought=("norm",),
        salvaging="left",
        rebuilt="when_needed",
    ),
    *(
        Table(
            name=name,
            columns=words(f"version_id {columns}"),
            references=(OF_VERSION, *(Reference((column,), "entities") for column in words(ends))),
            erasing="cascades",
            plain=words(plain),
            salvaging="left",
            rebuilt="when_needed",
        )
        for name, columns, ends, plain in (
            ("mentions", "start stop entity_id kind confidence source", "entity_id", "kind source"),
            (
                "relations",
                "number subject_id kind object_id literal_start literal_stop polarity confidence start stop source",
                "subject_id object_id",
                "kind source",
            ),
            ("aliases", "entity_id alias_id apart", "entity_id alias_id", ""),
            ("graph_fallbacks", "reader", "", "reader"),
        )
    ),
    *space_tables.TABLES,
)

_BY_NAME: Mapping[str, Table] = {table.name: table for table in TABLES}


def named(name: str) -> Table:
    return _BY_NAME[name]


def parts(tables: Sequence[Table] = TABLES) -> list[Table]:
    """Return the tables whose rows are part of a version, each after those that it refers to."""
    return [table for table in tables if table.version]


def of_versions(table: Table) -> tuple[str, ...]:
    """Return the columns of a table that hold row ids of versions."""
    return (table.version, *table.versions) if table.version else table.versions


def rebuilt_from_version() -> list[Table]:
    """Return the tables that are derived from the content of a version, each after those that it refers to."""
    return [table for table in TABLES if table.rebuilt == "from_version"]


def repeated() -> list[Table]:
    """Return the tables whose rows a version copies from the one before, each after those that it refers to."""
    return [table for table in TABLES if table.repeated]


def copy_rows(table: Table, version: str) -> str:
    """Begin a statement that copies rows `h` of a part of versions to the version with the row id `version`.

    >>> copy_rows(named("tags"), "n.id")
    'INSERT INTO tags (version_id, tag, spelling) SELECT n.id, h.tag, h.spelling'
    """
    values = (version if name == table.version else f"h.{name}" for name in table.columns)
    return f"INSERT INTO {table.name} ({', '.join(table.columns)}) SELECT {', '.join(values)}"

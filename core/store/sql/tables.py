"""Each table of the schema, declared once: its references, and how it is erased, copied, moved, salvaged and rebuilt.

The modules that erase, fork, import, repair and salvage read this. A new table is a migration and one declaration here.
"""

from collections.abc import Mapping, Sequence

from muisti.core.model.fields import FIELDS, MemoryField, columns, stored
from muisti.core.store.sql.table import Reference, Table, Wipe


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SPACE = Reference(("space_id",), "spaces")
_VERSION = Reference(("version_id",), "versions")
_ABOUT_THE_SPACE = "it is about the space, and says nothing of a memory"
_OF_THE_SERVER = "it is about the server, and says nothing of a memory"

# Columns of `versions` as migrations have added them. A later field adds its own at the end.
_FIRST = _words(
    "id space_id memory_id version born died kind category category_folded key content content_hash type status "
    "importance author author_folded reason source tags metadata event_at created_at updated_at expires_at supersedes "
    "superseded_by parent_id tokens source_class derived_from trust checksum valid_from valid_to"
)
_ADDRESS = _words("category category_folded key")  # unique among the current versions of a space
_PLACE = _words("session conversation topic document")  # unique likewise, with the turn
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
        references=(_SPACE,),
        space="space_id",
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
    Table(
        name="schema_migrations",
        columns=_words("number name applied_at"),
        erasing="stays",
        why=_OF_THE_SERVER,
        salvaging="left",
    ),
    Table(name="sqlite_sequence", columns=_words("name seq"), erasing="stays", why=_OF_THE_SERVER, salvaging="left"),
    Table(
        name="generations",
        columns=_words("id hash model dimensions created_at probes seen_at"),
        erasing="stays",
        why=_OF_THE_SERVER,
        exported=True,
    ),
    Table(
        name="keys",
        columns=_words(
            "id hash name scopes spaces category parent_id created_at expires_at revoked_at last_used_at source_class"
        ),
        references=(Reference(("parent_id",), "keys", cascades=False),),
        erasing="stays",
        why=_OF_THE_SERVER,
    ),
    Table(name="signing_keys", columns=_words("id public private created_at"), erasing="stays", why=_OF_THE_SERVER),
    Table(name="quotas", columns=_words("space memories bytes"), erasing="stays", why=_ABOUT_THE_SPACE),
    Table(
        name="audit",
        columns=_words("id at actor action space target"),
        erasing="stays",
        why="it must name who erased which memory, by its id",
    ),
    Table(
        name="sweeps",
        columns=_words("name owner until next_at"),
        erasing="stays",
        why=_OF_THE_SERVER,
        salvaging="left",
    ),
    Table(
        name="turns",
        columns=_words("number memory_id version living source"),
        memories=("memory_id",),
        erasing="stays",
        why="it is empty between transactions",
        salvaging="left",
    ),
    Table(
        name="requests",
        columns=_words("scope key body_hash answer seq expires_at"),
        erasing="stated",
        wipes=(Wipe(data=("body_hash", "answer")),),
        plain=_words("scope key seq"),
        rewound=True,
        salvaging="left",  # an answer may speak of what is lost
    ),
    Table(
        name="spaces",
        columns=_words(
            "id name epoch seq created_at committed_at settings generation_id memories bytes kept_from policy feedback "
            "shadow_generation_id shadow_served embedded"
        ),
        references=(
            Reference(("generation_id",), "generations", cascades=False),
            Reference(("shadow_generation_id",), "generations", cascades=False),
        ),
        erasing="stays",
        why=_ABOUT_THE_SPACE,
        forking="stated",
        moving="stated",
        rewound=True,
    ),
    versions(FIELDS),
    Table(
        name="tags",
        columns=_words("version_id tag spelling"),
        references=(_VERSION,),
        version="version_id",
        erasing="cascades",
        wipes=(Wipe(noise=("tag", "spelling")),),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="from_version",
    ),
    Table(
        name="metadata",
        columns=_words("version_id path position type value"),
        references=(_VERSION,),
        version="version_id",
        erasing="cascades",
        wipes=(Wipe(noise=("path",)), Wipe(text=("value",), where="type = 'text'")),
        plain=_words("type"),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="from_version",
    ),
    Table(
        name="passages",
        columns=_words("version_id number start stop analyzer terms"),
        references=(_VERSION,),
        version="version_id",
        erasing="cascades",
        wipes=(Wipe(data=("terms",)),),
        plain=_words("analyzer"),
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
        columns=_words("version_id number generation_id vector"),
        references=(
            Reference(("version_id", "number"), "passages"),
            Reference(("generation_id",), "generations", cascades=False),
        ),
        version="version_id",
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
        columns=_words("version_id encoding data"),
        references=(_VERSION,),
        version="version_id",
        erasing="cascades",
        wipes=(Wipe(data=("data",)),),
        plain=_words("encoding"),
        sought=("data",),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="when_needed",
    ),
    Table(
        name="code_files",
        columns=_words("version_id language record"),
        references=(_VERSION,),
        version="version_id",
        erasing="cascades",
        wipes=(Wipe(data=("record",)),),
        plain=_words("language"),
        sought=("record",),
        forking="with_version",
        moving="with_version",
        salvaging="left",
        rebuilt="when_needed",
    ),
    *(
        Table(
            name=f"code_{name}",
            columns=_words(f"version_id {columns}"),
            references=(_VERSION, _SPACE) if "space_id" in columns else (_VERSION,),
            space="space_id" if "space_id" in columns else "",
            version="version_id",
            memories=memories,
            erasing="cascades",
            wipes=wipes,
            plain=_words(plain),
            salvaging="left",
            rebuilt="when_needed",
        )
        for name, columns, memories, wipes, plain in (
            ("resolved", "space_id interface unresolved", (), (), "interface"),
            (
                "symbols",
                "number space_id name folded qualified kind parent start stop signature doc",
                (),
                (Wipe(text=_words("name folded qualified signature doc")),),
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
        columns=_words("space_id revision"),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why=_ABOUT_THE_SPACE,
        salvaging="left",
    ),
    Table(
        name="graph_spaces",
        columns=_words("space_id through recogniser revision"),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why=_ABOUT_THE_SPACE,
        rewound=True,
        salvaging="left",
    ),
    Table(
        name="entities",
        columns=_words("id space_id code norm first_word last_word initials"),
        references=(_SPACE,),
        space="space_id",
        erasing="stated",
        wipes=(Wipe(text=_words("first_word last_word initials")), Wipe(noise=_words("code norm"))),
        salvaging="left",
        rebuilt="when_needed",
    ),
    *(
        Table(
            name=name,
            columns=_words(f"version_id {columns}"),
            references=(_VERSION, *(Reference((column,), "entities") for column in _words(ends))),
            version="version_id",
            erasing="cascades",
            plain=_words(plain),
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
    Table(
        name="segments",
        columns=_words("space_id generation_id format first last seen passages data"),
        references=(_SPACE,),
        space="space_id",
        erasing="stated",
        wipes=(Wipe(data=("data",)),),
        rewound=True,
        salvaging="left",
        rebuilt="from_index",
    ),
    Table(
        name="changes",
        columns=_words("space_id seq kind memory_id version committed_at actor request undone import_id"),
        references=(_SPACE,),
        space="space_id",
        memories=("memory_id",),
        erasing="stays",
        why="the history names each memory by its id, and says that it was erased",
        forking="stated",
        moving="stated",
        exported=True,
        rewound=True,
    ),
    Table(
        name="erased",
        columns=_words("space_id seq version_id born"),
        references=(_SPACE,),
        space="space_id",
        versions=("version_id",),
        erasing="stays",
        why="other processes learn from it which rows to give up; it has numbers only",
        rewound=True,
    ),
    Table(
        name="checkpoints",
        columns=_words("space_id name seq created_at actor note"),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why=_ABOUT_THE_SPACE,
    ),
    Table(
        name="forks",
        columns=_words("space_id target_id seq forked"),
        references=(_SPACE, Reference(("target_id",), "spaces")),
        space="space_id",
        erasing="stays",
        why=_ABOUT_THE_SPACE,
        forking="stated",
    ),
    Table(
        name="twins",
        columns=_words("space_id target_id memory_id twin_id base"),
        references=(Reference(("space_id", "target_id"), "forks"),),
        space="space_id",
        versions=("base",),
        memories=("memory_id", "twin_id"),
        erasing="stays",
        why="a merge must know that the memory was there; it has ids only",
        forking="stated",
    ),
    Table(
        name="imports",
        columns=_words("id token space_id staging_id moved base shift first last memories source actor at undone"),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why="what an import has put aside goes with its staging space; the rest is about the space",
        moving="stated",
    ),
    Table(
        name="retrievals",
        columns=_words("space_id memory_id count last_at"),
        references=(_SPACE,),
        space="space_id",
        memories=("memory_id",),
        erasing="trigger",
        plain=_words("memory_id"),
        moving="stated",
        exported=True,
        salvaging="with_memory",
    ),
    Table(
        name="feedback",
        columns=_words("space_id memory_id actor verdict number given_at"),
        references=(_SPACE,),
        space="space_id",
        memories=("memory_id",),
        erasing="trigger",
        wipes=(Wipe(noise=("actor",)),),
        plain=_words("memory_id"),
        salvaging="with_memory",
    ),
    Table(
        name="receipts",
        columns=_words("id space_id made_at actor category seq generation reference_time parameters answer"),
        references=(_SPACE,),
        space="space_id",
        erasing="stated",
        wipes=(Wipe(text=_words("actor category parameters answer")),),
        plain=_words("id generation"),
    ),
    Table(
        name="receipt_hits",
        columns=_words("receipt_id rank memory_id version score"),
        references=(Reference(("receipt_id",), "receipts"),),
        memories=("memory_id",),
        erasing="cascades",
        plain=_words("receipt_id memory_id"),
    ),
    Table(
        name="probes",
        columns=_words("id space_id query memory_id category key k made_at actor"),
        references=(_SPACE,),
        space="space_id",
        memories=("memory_id",),
        erasing="deleted",
        wipes=(Wipe(text=_words("query category key actor")),),
        plain=_words("id memory_id"),
        salvaging="with_memory",
    ),
    Table(
        name="probe_runs",
        columns=_words("id space_id at seq generation recall ranks"),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why=_ABOUT_THE_SPACE,
    ),
    Table(
        name="conflicts",
        columns=_words("id space_id existing_row new_row kind similarity opened_at actor"),
        references=(_SPACE, Reference(("existing_row",), "versions"), Reference(("new_row",), "versions")),
        space="space_id",
        versions=("existing_row", "new_row"),
        erasing="cascades",
        wipes=(Wipe(text=("actor",)),),
        plain=_words("kind"),
    ),
    Table(
        name="working",
        columns=_words("space_id conversation_id key memory_id content tokens pinned priority made_at expires_at"),
        references=(_SPACE,),
        space="space_id",
        memories=("conversation_id", "memory_id"),
        erasing="deleted",
        wipes=(Wipe(text=("content",), where="content IS NOT NULL"), Wipe(noise=("key",))),
        plain=_words("conversation_id memory_id"),
        sought=("key", "content"),
        salvaging="with_memory",
    ),
    Table(
        name="webhooks",
        columns=_words(
            "id space_id url secret kinds show made_at actor epoch cursor attempts next_at error told_at stopped"
        ),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why=_ABOUT_THE_SPACE,
    ),
    Table(
        name="dead_letters",
        columns=_words("id webhook_id first last attempts error at"),
        references=(Reference(("webhook_id",), "webhooks"),),
        erasing="stays",
        why="it has numbers of changes, and what the receiver answered",
    ),
    Table(
        name="tasks",
        columns=_words(
            "number id space_id kind state ready asked actor caller owner fence lease_until revision total done failed "
            "skipped position attempts deaths result error_code error idempotency body_hash created_at started_at "
            "ended_at expires_at"
        ),
        references=(_SPACE,),
        space="space_id",
        erasing="stays",
        why="it says which work was asked for and how far it is; it is deleted after thirty days",
    ),
    Table(
        name="task_items",
        columns=_words("task number name argument state attempts error_code error"),
        references=(Reference(("task",), "tasks"),),
        erasing="stays",
        why="it names the files of a task, and is deleted with it",
    ),
    Table(
        name="blobs",
        columns=_words("task name part data"),
        references=(Reference(("task",), "tasks"),),
        erasing="stays",
        why="a task needs the bytes it was given; they are deleted when it ends",
    ),
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

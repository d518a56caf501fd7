"""Tables of what a space has beside versions: its index, history, relations to other spaces, and work.

See `core.store.sql.tables`.
"""

from muisti.core.store.sql.table import ABOUT_THE_SPACE, OF_SPACE, Reference, Table, Wipe, words

# Each table comes after those that it refers to.
TABLES = (
    Table(
        name="segments",
        columns=words("space_id generation_id format first last seen passages data"),
        erasing="stated",
        wipes=(Wipe(data=("data",)),),
        rewound=True,
        salvaging="left",
        rebuilt="from_index",
    ),
    Table(
        name="changes",
        columns=words("space_id seq kind memory_id version committed_at actor request undone import_id"),
        memories=("memory_id",),
        why="the history names each memory by its id, and says that it was erased",
        plain=words("kind memory_id request"),
        stated=words("actor"),
        forking="stated",
        moving="stated",
        exported=True,
        rewound=True,
    ),
    Table(
        name="erased",
        columns=words("space_id seq version_id born"),
        versions=("version_id",),
        why="other processes learn from it which rows to give up; it has numbers only",
        rewound=True,
    ),
    Table(
        name="checkpoints",
        columns=words("space_id name seq created_at actor note"),
        why=ABOUT_THE_SPACE,
        stated=words("name actor note"),
    ),
    Table(
        name="forks",
        columns=words("space_id target_id seq forked"),
        references=(OF_SPACE, Reference(("target_id",), "spaces")),
        why=ABOUT_THE_SPACE,
        forking="stated",
    ),
    Table(
        name="twins",
        columns=words("space_id target_id memory_id twin_id base"),
        references=(Reference(("space_id", "target_id"), "forks"),),
        versions=("base",),
        memories=("memory_id", "twin_id"),
        why="a merge must know that the memory was there; it has ids only",
        plain=words("memory_id twin_id"),
        forking="stated",
    ),
    Table(
        name="imports",
        columns=words("id token space_id staging_id moved base shift first last memories source actor at undone"),
        why="what an import has put aside goes with its staging space; the rest is about the space",
        plain=words("token"),
        stated=words("source actor"),
        moving="stated",
    ),
    Table(
        name="retrievals",
        columns=words("space_id memory_id count last_at"),
        memories=("memory_id",),
        erasing="trigger",
        plain=words("memory_id"),
        moving="stated",
        exported=True,
        salvaging="with_memory",
    ),
    Table(
        name="feedback",
        columns=words("space_id memory_id actor verdict number given_at"),
        memories=("memory_id",),
        erasing="trigger",
        wipes=(Wipe(noise=("actor",)),),
        plain=words("memory_id"),
        salvaging="with_memory",
    ),
    Table(
        name="receipts",
        columns=words("id space_id made_at actor category seq generation reference_time parameters answer"),
        erasing="stated",
        wipes=(Wipe(text=words("actor category parameters answer")),),
        plain=words("id generation"),
    ),
    Table(
        name="receipt_hits",
        columns=words("receipt_id rank memory_id version score"),
        references=(Reference(("receipt_id",), "receipts"),),
        memories=("memory_id",),
        erasing="cascades",
        plain=words("receipt_id memory_id"),
    ),
    Table(
        name="probes",
        columns=words("id space_id query memory_id category key k made_at actor"),
        memories=("memory_id",),
        erasing="deleted",
        wipes=(Wipe(text=words("query category key actor")),),
        plain=words("id memory_id"),
        salvaging="with_memory",
    ),
    Table(
        name="probe_runs",
        columns=words("id space_id at seq generation recall ranks"),
        why=ABOUT_THE_SPACE,
        plain=words("generation ranks"),
    ),
    Table(
        name="conflicts",
        columns=words("id space_id existing_row new_row kind similarity opened_at actor"),
        references=(OF_SPACE, Reference(("existing_row",), "versions"), Reference(("new_row",), "versions")),
        versions=("existing_row", "new_row"),
        erasing="cascades",
        wipes=(Wipe(text=("actor",)),),
        plain=words("kind"),
    ),
    Table(
        name="working",
        columns=words("space_id conversation_id key memory_id content tokens pinned priority made_at expires_at"),
        memories=("conversation_id", "memory_id"),
        erasing="deleted",
        wipes=(Wipe(text=("content",), where="content IS NOT NULL"), Wipe(noise=("key",))),
        plain=words("conversation_id memory_id"),
        sought=("key", "content"),
        salvaging="with_memory",
    ),
    Table(
        name="webhooks",
        columns=words(
            "id space_id url secret kinds show made_at actor epoch cursor attempts next_at error told_at stopped"
        ),
        why=ABOUT_THE_SPACE,
        plain=words("id secret kinds show epoch stopped"),
        stated=words("url actor error"),
    ),
    Table(
        name="dead_letters",
        columns=words("id webhook_id first last attempts error at"),
        references=(Reference(("webhook_id",), "webhooks"),),
        why="it has numbers of changes, and what the receiver answered",
        plain=words("webhook_id"),
        stated=words("error"),
    ),
    Table(
        name="tasks",
        columns=words(
            "number id space_id kind state ready asked actor caller owner fence lease_until revision total done failed "
            "skipped position attempts deaths result error_code error idempotency body_hash created_at started_at "
            "ended_at expires_at"
        ),
        why="it says how far work is, for thirty days; a purge seals the names that it was asked for",
        plain=words("id kind state owner error_code body_hash"),
        stated=words("actor caller idempotency error"),
        followed=words("asked position result"),
    ),
    Table(
        name="task_items",
        columns=words("task number name argument state attempts error_code error"),
        references=(Reference(("task",), "tasks"),),
        why="it is deleted with its task; the erasure of a document takes its path out",
        plain=words("state error_code"),
        followed=words("name argument error"),
    ),
    Table(
        name="blobs",
        columns=words("task name part data"),
        references=(Reference(("task",), "tasks"),),
        why="bytes are deleted when their task ends, and when their document is erased",
        followed=words("name data"),
    ),
)

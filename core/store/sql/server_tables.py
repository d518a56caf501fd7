"""Tables of a server and its spaces; see `core.store.sql.tables`."""

from muisti.core.store.sql.table import ABOUT_THE_SPACE, Reference, Table, Wipe, words

_OF_THE_SERVER = "it is about the server, and says nothing of a memory"

# Each table comes after those that it refers to.
TABLES = (
    Table(
        name="schema_migrations",
        columns=words("number name applied_at"),
        erasing="stays",
        why=_OF_THE_SERVER,
        plain=words("name"),
        salvaging="left",
    ),
    Table(
        name="sqlite_sequence",
        columns=words("name seq"),
        erasing="stays",
        why=_OF_THE_SERVER,
        plain=words("name seq"),
        salvaging="left",
    ),
    Table(
        name="generations",
        columns=words("id hash model dimensions created_at probes seen_at"),
        erasing="stays",
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
        erasing="stays",
        why=_OF_THE_SERVER,
        plain=words("id hash scopes parent_id source_class"),
        stated=words("name spaces category"),
    ),
    Table(
        name="signing_keys",
        columns=words("id public private created_at"),
        erasing="stays",
        why=_OF_THE_SERVER,
        plain=words("id public private"),
    ),
    Table(
        name="quotas",
        columns=words("space memories bytes"),
        erasing="stays",
        why=ABOUT_THE_SPACE,
        stated=words("space"),
    ),
    Table(
        name="audit",
        columns=words("id at actor action space target"),
        erasing="stays",
        why="it must name who erased which memory, by its id",
        plain=words("action target"),
        stated=words("actor space"),
    ),
    Table(
        name="sweeps",
        columns=words("name owner until next_at"),
        erasing="stays",
        why=_OF_THE_SERVER,
        plain=words("owner"),
        stated=words("name"),
        salvaging="left",
    ),
    Table(
        name="turns",
        columns=words("number memory_id version living source"),
        memories=("memory_id",),
        erasing="stays",
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
            "shadow_generation_id shadow_served embedded second_generation_id second_embedded objects"
        ),
        references=(
            Reference(("generation_id",), "generations", cascades=False),
            Reference(("shadow_generation_id",), "generations", cascades=False),
            Reference(("second_generation_id",), "generations", cascades=False),
        ),
        erasing="stays",
        why=ABOUT_THE_SPACE,
        plain=words("epoch settings policy"),
        stated=words("name"),
        forking="stated",
        moving="stated",
        rewound=True,
    ),
)

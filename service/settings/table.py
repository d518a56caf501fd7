"""The settings, each with its purpose and the values that it accepts."""

from functools import cache
from typing import Annotated, Literal, get_args, get_type_hints

import msgspec

from muisti.core.model.choices import (
    HALF_LIFE_DAYS,
    HALF_LIFE_MIN,
    OFF,
    PROMOTE_RETRIEVALS,
    PRUNE_DAYS,
    PRUNE_RETRIEVALS,
    Echoes,
    GraphSwitch,
    Screening,
    SecondQuery,
)
from muisti.service.settings import forms
from muisti.service.settings.forms import Rule, amount, list_of, on_off, one_of, size, text, whole
from muisti.service.settings.places import USUAL, usual_database
from muisti.service.settings.tool_groups import TOOL_GROUPS
from muisti.service.settings.tool_groups import USUAL as USUAL_TOOLS

PREFIX = "MUISTI_"
# Fields that no message may show.
SECRETS = frozenset({"admin_key", "database_token", "embedding_key", "entities_key", "metrics_key", "summary_key"})

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["json", "console"]
ReadLogMode = Literal["off", "ring", "questions"]
EmbeddingFormat = Literal["float", "base64"]
ONNX = "onnx:"  # beginning of the names of models in ONNX format
MINILM = "minilm"  # name of the second model from the extra
ENDPOINT = "endpoint"  # name among the models of the one behind `embedding_url`


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an operator. `options()` describes each field; `load` makes and checks the value."""

    host: Annotated[str, Rule("Address to listen on.", "a host name or an IP address", text)] = "127.0.0.1"
    port: Annotated[int, whole(0, 65_535, "Port to listen on; 0 picks a free one.")] = 8321
    database_url: Annotated[str, forms.DATABASE] = msgspec.field(default_factory=usual_database)
    database_replica_url: Annotated[str | None, forms.REPLICA] = None
    database_token: Annotated[str | None, forms.TOKEN] = None
    database_token_file: Annotated[str | None, forms.TOKEN_FILE] = None
    database_namespace: Annotated[str | None, forms.NAMESPACE] = None
    database_timeout: Annotated[float, amount(60, "Seconds that a call to a remote database may take.", 1)] = 10.0
    model: Annotated[str | None, forms.MODEL] = None
    models: Annotated[
        str | None, list_of(forms.MODEL_NAME, "Further models, a,b,c: for spaces that they embedded, or are to embed.")
    ] = None
    second_model: Annotated[str, forms.SECOND_MODEL] = OFF
    model_tokenizer: Annotated[str | None, forms.MODEL_TOKENIZER] = None
    embedding_url: Annotated[str | None, forms.EMBEDDING_URL] = None
    embedding_model: Annotated[str | None, forms.EMBEDDING_MODEL] = None
    embedding_key: Annotated[str | None, forms.EMBEDDING_KEY] = None
    embedding_key_file: Annotated[str | None, forms.EMBEDDING_KEY_FILE] = None
    embedding_private: Annotated[bool, on_off("Whether that endpoint may be in a private network, and plain HTTP.")] = (
        False
    )
    embedding_dimensions: Annotated[
        int, whole(0, 8_192, "Dimensions that the endpoint is asked for; 0: those of the model.")
    ] = 0
    embedding_batch: Annotated[int, whole(2, 2_048, "Texts in a request to the endpoint, at most.")] = 64
    embedding_batch_tokens: Annotated[
        int, whole(100, 1_000_000, "Tokens in a request to the endpoint, at most and about.")
    ] = 8_000
    embedding_format: Annotated[EmbeddingFormat, one_of(get_args(EmbeddingFormat), "Form of vectors on the way.")] = (
        "float"
    )
    embedding_timeout: Annotated[float, amount(600, "Seconds that a request for passages may take.", 1)] = 30.0
    embedding_query_timeout: Annotated[
        float, amount(60, "Seconds that a search waits for the vector of its query; then it ranks by keyword.", 0.01)
    ] = 1.0
    second_query: Annotated[
        SecondQuery, one_of(get_args(SecondQuery), "Way to make the vector of a query for a second model.")
    ] = "mapped"
    second_query_ms: Annotated[
        float, amount(60_000, "Milliseconds that such a vector may take; then it is mapped. 0 is no limit.")
    ] = 0.0
    query_prefix: Annotated[str | None, forms.QUERY_PREFIX] = None
    passage_prefix: Annotated[str | None, forms.PASSAGE_PREFIX] = None
    embedding_cache: Annotated[int, size("Memory for vectors of slow models that were computed before.")] = 64 << 20
    calibration: Annotated[str | None, forms.CALIBRATION] = None
    embeddings: Annotated[bool, on_off("Whether texts are embedded; off leaves search by keyword.")] = True
    index_memory: Annotated[int, size("Memory for the indexes of one worker; the least used are evicted first.")] = (
        512 << 20
    )
    body_limit: Annotated[int, size("Largest request body.")] = 10_000_000
    upload_limit: Annotated[int, size("Largest request body with files for documents.")] = 1 << 30
    upload_at_once: Annotated[int, size("Largest file that is stored before the answer; larger ones are tasks.")] = (
        1 << 20
    )
    server_files: Annotated[str | None, forms.SERVER_FILES] = None
    parsers: Annotated[
        int, whole(1, 64, "Processes that read PDF, office and other foreign files; a space leaves one of several.")
    ] = 2
    search_threads: Annotated[
        int, whole(0, 1024, "Threads that search; 0 means one for each core that the process may use.")
    ] = 0
    database_threads: Annotated[
        int, whole(1, 1024, "Threads that wait for the database; an eighth is for slow requests.")
    ] = 32
    queue_limit: Annotated[int, whole(1, 1_000_000, "Requests that may wait before others get 503.")] = 256
    queue_seconds: Annotated[float, amount(60, "Seconds that a request may have to wait; else 503.")] = 1.0
    connection_limit: Annotated[int, whole(1, 1_000_000, "Open connections; requests on more get 503.")] = 4_096
    signing_key_file: Annotated[str | None, forms.SIGNING_KEY] = None
    admin_key: Annotated[str | None, forms.ADMIN_KEY] = None
    jwks: Annotated[str | None, forms.JWKS] = None
    jwt_issuer: Annotated[str | None, forms.ISSUER] = None
    jwt_audience: Annotated[str | None, forms.AUDIENCE] = None
    jwt_algorithms: Annotated[
        str, list_of(forms.ALGORITHMS, "How tokens may be signed: RS256 to RS512, PS256.., ES256.., EdDSA.")
    ] = "RS256,ES256,EdDSA"
    jwt_scope_prefix: Annotated[str | None, forms.PREFIX] = None
    jwt_spaces_claim: Annotated[str, forms.CLAIM] = "muisti_spaces"
    jwt_spaces: Annotated[str | None, list_of(forms.SPACES, "Spaces of tokens that name none, as a,b.*.")] = None
    public_url: Annotated[str | None, forms.PUBLIC_URL] = None
    console: Annotated[bool, on_off("Whether the server has the console, pages for a browser, at `/`.")] = True
    server_card: Annotated[
        bool, on_off("Whether anybody may read at `/.well-known/ai-catalog.json` that MCP is spoken here.")
    ] = False
    origins: Annotated[
        str | None, list_of(forms.ORIGIN, "Origins of web pages that may call, a,b,c; * is every one.")
    ] = None
    hosts: Annotated[
        str | None, list_of(forms.HOST, "Names that requests may call the server by, a,b,c; none: any.")
    ] = None
    mcp_tools: Annotated[str, TOOL_GROUPS] = USUAL_TOOLS
    mcp_citations: Annotated[str | None, forms.CITATIONS] = None
    quota_memories: Annotated[
        int, whole(0, 999_999_999, "Memories in a space that has no quota of its own; 0: no limit.")
    ] = 0
    quota_bytes: Annotated[int | None, size("Bytes in a space that has no quota of its own; none: no limit.")] = None
    secrets: Annotated[
        Screening, one_of(get_args(Screening), "What to do with likely secrets, in a space without a policy for them.")
    ] = "refuse"
    personal_data: Annotated[
        Screening,
        one_of(get_args(Screening), "What to do with likely personal data, in a space without a policy for it."),
    ] = "allow"
    echoes: Annotated[
        Echoes,
        one_of(
            get_args(Echoes), "What to do with text that its author has just found, in a space without a policy for it."
        ),
    ] = "flag"
    graph: Annotated[
        GraphSwitch,
        one_of(
            get_args(GraphSwitch),
            "Whether names and facts are read into the knowledge graph, in a space without a policy for it.",
        ),
    ] = "on"
    entities: Annotated[str, forms.ENTITIES] = forms.TAGGER
    entities_url: Annotated[str | None, forms.ENTITIES_URL] = None
    entities_key: Annotated[str | None, forms.ENTITIES_KEY] = None
    entities_key_file: Annotated[str | None, forms.ENTITIES_KEY_FILE] = None
    entities_private: Annotated[bool, on_off("Whether that model may be in a private network, and plain HTTP.")] = False
    entities_batch: Annotated[
        int, whole(1, 64, "Texts in a request for names, at most; with 1 no text has a say about another.")
    ] = 8
    entities_timeout: Annotated[
        float, amount(600, "Seconds that a request for names may take; then the shipped recogniser reads.", 1)
    ] = 30.0
    recency_weight: Annotated[
        float,
        amount(1, "Weight of age in searches that do not set it, in a space without its own."),
    ] = 0.0
    recency_half_life_days: Annotated[float, amount(36_500, "Half-life of recency, in days.", HALF_LIFE_MIN)] = (
        HALF_LIFE_DAYS
    )
    rate_limit: Annotated[float, amount(1_000_000, "Requests a second of one key in one process; 0: no limit.")] = 0.0
    concurrency_limit: Annotated[
        int, whole(0, 100_000, "Concurrent requests of one key in one process; 0: no limit.")
    ] = 0
    stream_limit: Annotated[
        int, whole(1, 100_000, "Streams of changes that one process serves; one key may have a quarter.")
    ] = 256
    request_timeout: Annotated[
        float, amount(3600, "Seconds that a request may take to arrive, and a client may pause in reading.", 1)
    ] = 60.0
    workers: Annotated[int, whole(1, 256, "Processes; each has indexes of its own.")] = 1
    upkeep: Annotated[bool, on_off("Whether this process does background work when it is its turn.")] = True
    tasks: Annotated[int, whole(0, 64, "Tasks that this process works on at a time; 0: none.")] = 2
    tasks_per_space: Annotated[int, whole(1, 64, "Tasks of a space in work at a time, in all processes.")] = 2
    task_queue: Annotated[int, whole(0, 1_000_000, "Tasks of a space that may wait; 0: no limit.")] = 1_000
    task_lease: Annotated[
        float, amount(3600, "Seconds after which another process goes on with the task of one that ended.", 1)
    ] = 10.0
    promote_retrievals: Annotated[int, whole(0, 1_000_000, "Retrievals with which a candidate becomes active.")] = (
        PROMOTE_RETRIEVALS
    )
    prune_retrievals: Annotated[int, whole(0, 1_000_000, "Retrievals below which an old candidate is deprecated.")] = (
        PRUNE_RETRIEVALS
    )
    prune_days: Annotated[float, amount(36_500, "Days after which a candidate is old.")] = PRUNE_DAYS
    review_hours: Annotated[float, amount(8760, "Hours between reviews of candidates; 0: no scheduled reviews.")] = 24.0
    backup_to: Annotated[str | None, forms.BACKUPS] = None
    backup_hours: Annotated[float, amount(8760, "Hours between backups, when a target of backups is set.")] = 24.0
    backup_keep: Annotated[int, whole(0, 100_000, "Backups that are kept, the newest; 0: all.")] = 7
    insecure: Annotated[bool, on_off("Accept other machines although there are no keys.")] = False
    log_level: Annotated[Level, one_of(get_args(Level), "Least severe line that is logged.")] = "info"
    log_format: Annotated[Form, one_of(get_args(Form), "Form of the log on stderr.")] = "json"
    metrics_key: Annotated[str | None, forms.METRICS_KEY] = None
    webhook_hosts: Annotated[
        str | None, list_of(forms.WEBHOOK_HOST, "Hosts that webhooks may go to, a,*.b,c:8443; none: no webhooks.")
    ] = None
    webhook_private: Annotated[bool, on_off("Whether webhooks may go to private networks, and by http.")] = False
    summary_url: Annotated[str | None, forms.SUMMARY_URL] = None
    summary_model: Annotated[str, Rule("Model that writes summaries.", "a name", text)] = "default"
    summary_key: Annotated[str | None, forms.SUMMARY_KEY] = None
    otlp_endpoint: Annotated[str | None, forms.OTLP] = None
    otlp_texts: Annotated[bool, on_off("Whether traces have queries and memories too, as far as they are short.")] = (
        False
    )
    shutdown_grace: Annotated[float, amount(3600, "Seconds that running requests get to finish.")] = 10.0
    receipt_days: Annotated[float, amount(3650, "Days that the receipt of a search is kept.")] = 30.0
    read_log: Annotated[
        ReadLogMode,
        one_of(get_args(ReadLogMode), "Log of reads without content; questions: also the text of what found nothing."),
    ] = "off"
    read_log_size: Annotated[int, whole(1, 100_000, "Reads that a process keeps in its log.")] = 1_000
    retention_days: Annotated[
        float, amount(36_500, "Days that old versions are kept, in a space without a policy for it; 0: forever.")
    ] = 365.0
    request_retention_hours: Annotated[float, amount(8760, "Hours that an Idempotency-Key is remembered.")] = 24.0


class Option(msgspec.Struct, frozen=True):
    """One setting as documentation and `--help` show it. `name` is the field and the TOML key."""

    name: str
    description: str
    expected: str
    default: object

    @property
    def variable(self) -> str:
        """The environment variable, such as `MUISTI_BODY_LIMIT`."""
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        """The flag, such as `--body-limit`."""
        return "--" + self.name.replace("_", "-")

    @property
    def default_text(self) -> str:
        """The default in words; empty when there is none."""
        if self.name == "database_url":  # depends on the folder and on the user
            return USUAL
        if isinstance(self.default, bool):
            return ("off", "on")[self.default]
        return "" if self.default is None else str(self.default)


def options() -> tuple[Option, ...]:
    """Return all settings, in the order of the fields."""
    plain = Settings()
    return tuple(Option(n, r.description, r.expected, getattr(plain, n)) for n, r in rules().items())


@cache
def rules() -> dict[str, Rule]:
    """Return the rule of each field."""
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in Settings.__struct_fields__}

"""Replies about the health and the speed of a server, and about its read log."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from muisti.core.model.choices import OFF
from muisti.core.model.hits import Evidence
from muisti.service.schemas.copying import Reply, Same
from muisti.service.schemas.fields import doc
from muisti.service.schemas.replies import Cursor
from muisti.service.settings.table import ReadLogMode


class AliveReply(Reply, frozen=True, kw_only=True):
    """The process answers."""

    status: Literal["ok"] = "ok"


class EmbeddingsReply(Reply, frozen=True, kw_only=True):
    """Tell whether texts are embedded, and by which model.

    `second` is the second model of spaces that choose none, `off` for none. `unusable` names the second models that
    spaces have chosen and that this process cannot load; `muisti doctor` says why.
    """

    enabled: bool
    model: str | None
    second: str = OFF
    unusable: list[str] | UnsetType = UNSET


class FailingReply(Same, frozen=True, kw_only=True):
    """A task that is never given up, such as a purge, and keeps failing. `tries` counts since the last progress."""

    task: str
    kind: str
    space: str
    tries: int


class ReadyReply(Reply, frozen=True, kw_only=True):
    """The service can do its work. `store` is the database engine, `index_bytes` the memory that the indexes take.

    `indexes_evicted` counts the indexes that were dropped to stay within MUISTI_INDEX_MEMORY, and `spaces` the spaces
    of the caller. `loading` names the spaces whose index is loading; only their first search waits for it. Callers
    without a key see only `status` and `schema`. `tasks_blocked` is the code of the error that keeps this process from
    working on tasks, such as `store_full`; absent when nothing does. `tasks_failing` names tasks in the
    caller's spaces that go on and keep failing, at most 20; absent when there is none. `databases` has the state of
    each of several databases. One that is down takes only its spaces with it, and the first one also the keys.
    """

    status: Literal["ready"] = "ready"
    schema: Literal["ok"] = "ok"
    version: str | UnsetType = UNSET
    store: str | UnsetType = UNSET
    spaces: int | UnsetType = UNSET
    loading: list[str] | UnsetType = UNSET
    embeddings: EmbeddingsReply | UnsetType = UNSET
    index_bytes: int | UnsetType = UNSET
    indexes_evicted: int | UnsetType = UNSET
    tasks_blocked: str | UnsetType = UNSET
    tasks_failing: list[FailingReply] | UnsetType = UNSET
    databases: Annotated[dict[str, str], doc("`ready` or `down`, by name.")] | UnsetType = UNSET


class LatencyReply(Reply, frozen=True, kw_only=True):
    """Times of one operation since the server started, in milliseconds.

    Percentiles are interpolated within the buckets of a histogram.
    """

    method: str
    route: Annotated[str, doc("The template of the path.")]
    count: Annotated[int, doc("Number of requests.")]
    mean: float
    p50: float
    p95: float
    p99: float


class ServerStatsReply(Reply, frozen=True, kw_only=True):
    """Statistics of all workers of a server since their start; the most frequent operations first."""

    workers: int
    memory_bytes: Annotated[int, doc("Resident memory of all workers.")]
    uptime_seconds: float
    operations: list[LatencyReply]


# Replies about reads: the read log, and the questions that found nothing

Operation = Literal["search", "recall", "context", "get", "list"]
ModeOf = Annotated[
    ReadLogMode, doc("`off`: nothing is logged; `ring`: the last reads; `questions`: also what found nothing.")
]
ProcessOf = Annotated[str, doc("The process that answers: each has a log of its own.")]
SinceOf = Annotated[datetime, doc("When the log of this process began; it forgets with the process.")]


class ReadReply(Reply, frozen=True, kw_only=True):
    """A read, without its content."""

    id: Annotated[str, doc("For `after`, `cursor` and Last-Event-ID.")]
    at: datetime
    operation: Operation
    actor: Annotated[str, doc("Who read, as in the audit log.")]
    request_id: Annotated[str | None, doc("The X-Request-Id of the answer.")]
    ms: Annotated[float, doc("Milliseconds until the answer was made.", ge=0)]
    hits: Annotated[int, doc("Memories in the answer.", ge=0)]
    evidence: Annotated[Evidence | None, doc("Of a search or a context.")]
    receipt: Annotated[str | None, doc("Id of its receipt, when one was asked for.")]


class ReadsReply(Reply, frozen=True, kw_only=True):
    """Reads of a space in this process, newest first."""

    mode: ModeOf
    process: ProcessOf
    since: SinceOf
    size: Annotated[int, doc("Reads that the process keeps, in all spaces together.", ge=1)]
    items: list[ReadReply]
    next_cursor: Cursor


class QuestionReply(Reply, frozen=True, kw_only=True):
    """A question without evidence, and how often it was asked."""

    text: Annotated[str, doc("Lower case, without end marks, at most 500 characters.")]
    count: Annotated[int, Meta(ge=1)]
    first_at: datetime
    last_at: datetime


class QuestionsReply(Reply, frozen=True, kw_only=True):
    """Questions that found nothing in this process, the most frequent first."""

    mode: ModeOf
    process: ProcessOf
    since: SinceOf
    items: list[QuestionReply]
    next_cursor: None = None

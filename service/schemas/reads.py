"""Replies about reads: the read log, and the questions that found nothing."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from muisti.core.model.hits import Evidence
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.replies import Cursor
from muisti.service.settings.table import ReadLogMode

Operation = Literal["search", "recall", "context", "get", "list"]
ModeOf = Annotated[
    ReadLogMode,
    Meta(description="`off`: nothing is logged; `ring`: the last reads; `questions`: also what found nothing."),
]
ProcessOf = Annotated[str, Meta(description="The process that answers: each has a log of its own.")]
SinceOf = Annotated[datetime, Meta(description="When the log of this process began; it forgets with the process.")]


class ReadReply(Reply, frozen=True, kw_only=True):
    """A read, without its content."""

    id: Annotated[str, Meta(description="For `after`, `cursor` and Last-Event-ID.")]
    at: datetime
    operation: Operation
    actor: Annotated[str, Meta(description="Who read, as in the audit log.")]
    request_id: Annotated[str | None, Meta(description="The X-Request-Id of the answer.")]
    ms: Annotated[float, Meta(description="Milliseconds until the answer was made.", ge=0)]
    hits: Annotated[int, Meta(description="Memories in the answer.", ge=0)]
    evidence: Annotated[Evidence | None, Meta(description="Of a search or a context.")]
    receipt: Annotated[str | None, Meta(description="Id of its receipt, when one was asked for.")]


class ReadsReply(Reply, frozen=True, kw_only=True):
    """Reads of a space in this process, newest first."""

    mode: ModeOf
    process: ProcessOf
    since: SinceOf
    size: Annotated[int, Meta(description="Reads that the process keeps, in all spaces together.", ge=1)]
    items: list[ReadReply]
    next_cursor: Cursor


class QuestionReply(Reply, frozen=True, kw_only=True):
    """A question without evidence, and how often it was asked."""

    text: Annotated[str, Meta(description="Lower case, without end marks, at most 500 characters.")]
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

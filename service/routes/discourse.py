"""Changes of topics, summaries, and the working memory of conversations."""

import re
from datetime import UTC, datetime
from typing import Annotated

from litestar import Response, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from muisti.core.conversations.context.counting import ENCODINGS, USUAL, counter
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Memory
from muisti.core.model.working import BUDGET, Entry, Working
from muisti.core.views.discourse import KIND, Discourse
from muisti.service.auth.middleware import caller_of, memories
from muisti.service.http.accepted import accepted
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, request_key
from muisti.service.http.objects import CategoryParameter
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import planned, read, tried, written_headers
from muisti.service.runtime.summary_writer import SummaryWriter
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.discourse import (
    ChangedTopicsReply,
    MadeSummariesReply,
    MergeTopicsBody,
    MoveTopicBody,
    SplitTopicBody,
    SummariesReply,
    SummariseBody,
    SummaryReply,
    WorkingEntryBody,
    WorkingEntryReply,
    WorkingReply,
)
from muisti.service.schemas.tasks import TaskReply

BudgetParameter = Annotated[
    int, QueryParameter(description="Tokens that working memory may have.", schema_extra={"minimum": 1})
]
EncodingParameter = Annotated[
    str, QueryParameter(description="The encoding whose tokens are counted.", enum=list(ENCODINGS))
]
_TOPIC = "/conversations/{conversation:str}/topics/{topic:str}"
_NO_MODEL = "no language model is set, so summaries are sentences of their sources; MUISTI_SUMMARY_URL names one"
_FAILED = "the language model failed, or a summary was up to date; there it is sentences of its sources"


@post(f"{_TOPIC}/split", status_code=200, operation_id="splitTopic", tags=["conversations"], needs="write")
async def split_topic(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    topic: FromPath[str],
    data: JSONBody[SplitTopicBody],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ChangedTopicsReply]:
    """Split a topic before a turn. Later turns never change a topic that was changed so."""
    written = await backend.store(
        memories(request, backend, dry_run=dry_run).discourse.split_topic,
        space,
        conversation,
        topic,
        data.turn,
        title=data.title,
        category=category,
        request=await request_key(request, space, idempotency_key),
    )
    return _topics(written)


@post(f"{_TOPIC}/move", status_code=200, operation_id="moveTopic", tags=["conversations"], needs="write")
async def move_topic(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    topic: FromPath[str],
    data: JSONBody[MoveTopicBody],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ChangedTopicsReply]:
    """Move the border between a topic and the one before it."""
    written = await backend.store(
        memories(request, backend, dry_run=dry_run).discourse.move_topic,
        space,
        conversation,
        topic,
        data.turn,
        category=category,
        request=await request_key(request, space, idempotency_key),
    )
    return _topics(written)


@post(
    "/conversations/{conversation:str}/merge-topics",
    status_code=200,
    operation_id="mergeTopics",
    tags=["conversations"],
    needs="write",
)
async def merge_topics(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    data: JSONBody[MergeTopicsBody],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ChangedTopicsReply]:
    """Merge topics into the first of them. An undo of the request brings the others back."""
    written = await backend.store(
        memories(request, backend, dry_run=dry_run).discourse.merge_topics,
        space,
        conversation,
        data.topics,
        category=category,
        request=await request_key(request, space, idempotency_key),
    )
    return _topics(written)


@get(
    "/conversations/{conversation:str}/summaries",
    operation_id="listSummaries",
    tags=["conversations"],
    needs="read",
)
async def list_summaries(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
) -> Response[SummariesReply]:
    """Read the summaries of a conversation: of each topic, then of all. They are made when a topic is complete."""
    ask = memories(request, backend).discourse.summaries
    return Response(SummariesReply.of(await backend.store(ask, space, conversation, category)))


@post(
    "/conversations/{conversation:str}/summaries",
    status_code=200,
    operation_id="summariseConversation",
    tags=["conversations"],
    needs="write",
)
async def summarise_conversation(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    data: JSONBody[SummariseBody],
    backend: NamedDependency[Backend],
) -> Response[MadeSummariesReply]:
    """Make the summaries of a conversation that are missing or stale, with the turns that have no topic yet.

    A summary that is up to date stays, whatever the method. The answer has the new ones. `abstractive` has the
    operator's language model write them; where there is none, or it fails, `degraded` says so.
    """
    writer = _writer(data, backend)
    make = memories(request, backend).discourse.summarise
    made = await backend.store(make, space, conversation, category=data.category, write=writer)
    return _made(made, data, writer)


@post(
    "/summaries",
    status_code=202,
    operation_id="summariseSpace",
    tags=["conversations"],
    needs="write",
)
async def summarise_space(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    idempotency_key: IdempotencyKeyHeader = None,
) -> Response[TaskReply]:
    """Make the topics and summaries of all conversations that are missing or stale, as a task.

    Each conversation is an item; one that has nothing new is skipped. Summaries are extractive. Only conversations that
    the key sees count. Cancelled, the task ends after the conversation in work.
    """
    key = await request_key(request, space, idempotency_key)
    tasks, caller = backend.engine.tasks, caller_of(request.scope)
    made = await backend.store(tasks.submit, space, KIND, {"category": category}, caller, request=key)
    return accepted(made)


@post(
    "/sessions/{session:str}/summary",
    status_code=200,
    operation_id="summariseSession",
    tags=["conversations"],
    needs="write",
)
async def summarise_session(
    request: Request,
    space: FromPath[str],
    session: FromPath[str],
    data: JSONBody[SummariseBody],
    backend: NamedDependency[Backend],
) -> Response[MadeSummariesReply]:
    """Read the summary of a session, made from those of its conversations where it is missing or stale."""
    writer = _writer(data, backend)
    make = memories(request, backend).discourse.summarise_session
    made = await backend.store(make, space, session, category=data.category, write=writer)
    return _made([] if made is None else [made], data, writer)


@post(
    "/conversations/{conversation:str}/exchanges/{turn:str}/summary",
    status_code=200,
    operation_id="summariseExchange",
    tags=["conversations"],
    needs="write",
)
async def summarise_exchange(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    turn: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
) -> Response[SummaryReply]:
    """Read the summary of a long exchange, made where it is missing or stale; a short one is its own summary."""
    if re.fullmatch("[0-9]{1,15}", turn) is None:
        raise NotFound("exchange", f"{conversation}/{turn[:40]}")
    make = memories(request, backend).discourse.summarise_exchange
    found = await backend.store(make, space, conversation, int(turn), category)
    return Response(SummaryReply.of_memory(found), status_code=200)


@get(
    "/conversations/{conversation:str}/working",
    operation_id="getWorkingMemory",
    tags=["conversations"],
    needs="read",
)
async def get_working_memory(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    backend: NamedDependency[Backend],
    token_budget: BudgetParameter = BUDGET,
    encoding: EncodingParameter = USUAL,
    category: CategoryParameter = None,
) -> Response[WorkingReply]:
    """Read the working memory of a conversation: what is kept for it, and the turns that are worth their tokens now.

    Whatever does not fit is in `evicted`, and stays searchable. The text and the reserved tokens never take more than
    the budget.
    """
    view = memories(request, backend).discourse
    found = await backend.store(_working, view, space, conversation, encoding, token_budget, category)
    return read(WorkingReply.of(found), found.seq)


@put(
    "/conversations/{conversation:str}/working/{key:str}",
    operation_id="keepInWorkingMemory",
    tags=["conversations"],
    needs="write",
    screens=True,
    problems=["sensitive_content"],
)
async def keep_in_working_memory(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    key: FromPath[str],
    data: JSONBody[WorkingEntryBody],
    backend: NamedDependency[Backend],
    token_budget: BudgetParameter = BUDGET,
    encoding: EncodingParameter = USUAL,
    category: CategoryParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[WorkingEntryReply]:
    """Keep a memory, a text or free tokens in the working memory of a conversation, at a key of your own.

    What is pinned must fit the budget all together. It ends with its time, with the memory, or with the conversation.
    """
    view = memories(request, backend, dry_run=dry_run).discourse
    entry = data.entry(key, datetime.now(UTC))
    kept = await backend.store(_keep, view, space, conversation, entry, encoding, token_budget, category)
    return tried(dry_run, Response(WorkingEntryReply.of(kept), status_code=200))


@delete(
    "/conversations/{conversation:str}/working/{key:str}",
    operation_id="releaseFromWorkingMemory",
    tags=["conversations"],
    needs="write",
)
async def release_from_working_memory(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[None]:
    """Release what working memory keeps at a key. The memory itself stays."""
    release = memories(request, backend, dry_run=dry_run).discourse.release
    await backend.store(release, space, conversation, key, category)
    return tried(dry_run, Response(None, status_code=204))


def _topics(written: Written) -> Response[ChangedTopicsReply]:
    reply = ChangedTopicsReply.of(written.memories)
    return planned(written.plan, Response(reply, status_code=200, headers=written_headers(written)))


def _writer(data: SummariseBody, backend: Backend) -> SummaryWriter | None:
    if data.method not in ("extractive", "abstractive"):
        raise InvalidInput.at("$.method", f"{data.method[:40]!r} is none of extractive, abstractive")
    return backend.summary_writer if data.method == "abstractive" else None


def _made(made: list[Memory], data: SummariseBody, writer: SummaryWriter | None) -> Response[MadeSummariesReply]:
    items = [SummaryReply.of_memory(one) for one in made]
    degraded: list[str] = []
    if data.method == "abstractive" and writer is None:
        degraded.append(_NO_MODEL)
    elif data.method == "abstractive" and any(one.method != "abstractive" for one in items):
        degraded.append(_FAILED)
    return Response(MadeSummariesReply(items=items, degraded=degraded), status_code=200)


def _working(
    view: Discourse, space: str, conversation: str, encoding: str, budget: int, category: str | None
) -> Working:
    """Load the encoding on a thread that may wait, and read."""
    return view.working(space, conversation, encoding, counter(encoding).count, budget, category)


def _keep(
    view: Discourse, space: str, conversation: str, entry: Entry, encoding: str, budget: int, category: str | None
) -> Entry:
    return view.keep(space, conversation, entry, counter(encoding).count, budget, category)


ROUTES = (
    split_topic,
    move_topic,
    merge_topics,
    list_summaries,
    summarise_conversation,
    summarise_space,
    summarise_session,
    summarise_exchange,
    summarise_space,
    get_working_memory,
    keep_in_working_memory,
    release_from_working_memory,
)

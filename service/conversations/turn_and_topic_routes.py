"""Exchanges of conversations, changes of topics, summaries, and working memory."""

import re
from datetime import UTC, datetime
from typing import Annotated

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.core.conversations.context.counting import ENCODINGS, USUAL, counter
from muisti.core.conversations.model import BUDGET, Entry, Working
from muisti.core.conversations.view import KIND, Discourse, Suggestions
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.outcomes import Written
from muisti.core.model.places import TURN_MAX, ObjectName
from muisti.core.model.values import Memory
from muisti.core.query.points import parse
from muisti.service.asgi.header_names import FLAGS, SEQ
from muisti.service.auth.access import check
from muisti.service.auth.middleware import caller_of
from muisti.service.conversations.replies import AdoptedReply, ExchangesReply, StreamedReply, SuggestionsReply
from muisti.service.conversations.requests import ExchangesBody, turns_of
from muisti.service.conversations.topic_schemas import (
    ChangedTopic,
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
from muisti.service.http.batch import add_each
from muisti.service.http.parameters import (
    DRY,
    KEYED,
    PAST,
    AsOfParameter,
    CategoryParameter,
    CursorParameter,
    LimitParameter,
    query,
)
from muisti.service.http.request import Request
from muisti.service.http.respond import accepted, followed, planned, read, tried, written_headers
from muisti.service.http.routing import Routes
from muisti.service.runtime.models import SummaryWriter
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.tasks import TaskReply

# Exchanges: the turns of conversations, streamed in and read in order

routes = Routes("conversations")

NewSessionParameter = Annotated[str | None, query("As the field of the body.")]
FromTurnParameter = Annotated[int, query("The first turn to show.", name="from", minimum=0)]
ToTurnParameter = Annotated[int | None, query("The last turn to show.", name="to", minimum=0)]


@routes.post(
    "/conversations/{conversation:str}/exchanges",
    status_code=200,
    needs="append",
    screens=True,
    problems=["place_taken", "conversation_closed", "echo", "sensitive_content"],
    standard=KEYED,
)
async def add_exchanges(
    request: Request,
    conversation: FromPath[str],
    data: JSONBody[ExchangesBody],
    session: NewSessionParameter = None,
    category: CategoryParameter = None,
) -> Response[StreamedReply]:
    """Stream 1 to 1,000 turns into a conversation, all or none.

    A conversation that is not there is made, and its session. When the answer arrives, the turns are on disk and every
    search finds them. A turn that is there with the same content is `replayed`; with other content it is refused. Turns
    without a number take the next ones; send an `Idempotency-Key` with those. A body of application/x-ndjson has one
    turn a line. The key must read, as well.
    """
    streamed = await request.ask(
        request.memories.conversations.add_exchanges,
        data.stream(conversation, turns_of(data), session, category),
        request=await request.key(),
    )
    headers = {SEQ: str(streamed.seq)}
    if streamed.flags:
        headers[FLAGS] = ", ".join(sorted({flag.code for flag in streamed.flags}))
    if streamed.commit:
        headers["Server-Timing"] = f"commit;dur={streamed.commit:.2f}"
    return planned(streamed.plan, Response(StreamedReply.of(streamed), status_code=200, headers=headers))


@routes.get("/conversations/{conversation:str}/exchanges", needs="read", problems=PAST)
async def list_exchanges(
    request: Request,
    conversation: FromPath[str],
    limit: LimitParameter = 50,
    from_turn: FromTurnParameter = 0,
    to_turn: ToTurnParameter = None,
    cursor: CursorParameter = None,
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[ExchangesReply]:
    """List the exchanges of a conversation in the order of their turns."""
    page = await request.ask(
        request.memories.conversations.exchanges,
        ObjectName(level="conversation", name=conversation, category=category),
        limit=limit,
        first=from_turn,
        last=TURN_MAX if to_turn is None else to_turn,
        cursor=cursor,
        as_of=parse(as_of),
    )
    return followed(request, read(ExchangesReply.of(page), page.seq), page.next_cursor)


@routes.post("/adopt", status_code=200, needs="write", standard=DRY)
async def adopt_conversations(request: Request) -> Response[AdoptedReply]:
    """Make exchanges of the memories whose metadata has a `session` and a `turn`.

    Missing conversations are made. Texts stay as they are, and what was adopted is left alone by a repetition.
    """
    adopted = await request.ask(request.memories.conversations.adopt)
    return planned(adopted.plan, read(AdoptedReply.of(adopted), adopted.seq))


@routes.post(
    "/conversations/{conversation:str}/suggestions", status_code=200, needs="append", screens=True, standard=DRY
)
async def suggest_preferences(
    request: Request, conversation: FromPath[str], from_turn: FromTurnParameter = 0, category: CategoryParameter = None
) -> Response[SuggestionsReply]:
    """Store preferences that users state in a conversation as candidates, about 50 at most, of 1,000 turns.

    Rules find them, in English. Each is derived from its turn, and is no part of a profile until it becomes active.
    What a current memory says already is a `duplicate`, and is not stored. `dry_run` shows them. The key must read,
    too.
    """
    check(request.access, "read")
    seen = request.memories
    name = ObjectName(level="conversation", name=conversation, category=category)
    found: Suggestions = await request.ask(seen.conversations.preferences, name, from_turn)
    drafts = [one.draft for one in found.items]
    stored, plan = await request.backend.store(add_each, seen.write, request.space, drafts, "reject")
    headers = {SEQ: stored.seq} if stored.seq else {}
    answer = Response(SuggestionsReply.of(found, stored), status_code=200, headers=headers)
    return tried(request, answer) if plan is None else planned(plan, answer)


BudgetParameter = Annotated[int, query("Tokens that working memory may have.", minimum=1)]
EncodingParameter = Annotated[str, query("The encoding whose tokens are counted.", enum=ENCODINGS)]
_TOPIC = "/conversations/{conversation:str}/topics/{topic:str}"
_NO_MODEL = "no language model is set, so summaries are sentences of their sources; MUISTI_SUMMARY_URL names one"
_FAILED = "the language model failed, or a summary was up to date; there it is sentences of its sources"


@routes.post(f"{_TOPIC}/split", status_code=200, needs="write", standard=KEYED)
async def split_topic(
    request: Request,
    conversation: FromPath[str],
    topic: FromPath[str],
    data: JSONBody[SplitTopicBody],
    category: CategoryParameter = None,
) -> Response[ChangedTopicsReply]:
    """Split a topic before a turn. Later turns never change a topic that was changed so."""
    written = await request.ask(
        request.memories.discourse.split_topic,
        conversation,
        topic,
        data.turn,
        title=data.title,
        category=category,
        request=await request.key(),
    )
    return _topics(written)


@routes.post(f"{_TOPIC}/move", status_code=200, needs="write", standard=KEYED)
async def move_topic(
    request: Request,
    conversation: FromPath[str],
    topic: FromPath[str],
    data: JSONBody[MoveTopicBody],
    category: CategoryParameter = None,
) -> Response[ChangedTopicsReply]:
    """Move the border between a topic and the one before it."""
    written = await request.ask(
        request.memories.discourse.move_topic,
        conversation,
        topic,
        data.turn,
        category=category,
        request=await request.key(),
    )
    return _topics(written)


@routes.post("/conversations/{conversation:str}/merge-topics", status_code=200, needs="write", standard=KEYED)
async def merge_topics(
    request: Request, conversation: FromPath[str], data: JSONBody[MergeTopicsBody], category: CategoryParameter = None
) -> Response[ChangedTopicsReply]:
    """Merge topics into the first of them. An undo of the request brings the others back."""
    written = await request.ask(
        request.memories.discourse.merge_topics,
        conversation,
        data.topics,
        category=category,
        request=await request.key(),
    )
    return _topics(written)


@routes.get("/conversations/{conversation:str}/summaries", needs="read")
async def list_summaries(
    request: Request, conversation: FromPath[str], category: CategoryParameter = None
) -> Response[SummariesReply]:
    """Read the summaries of a conversation: of each topic, then of all. They are made when a topic is complete."""
    ask = request.memories.discourse.summaries
    return Response(SummariesReply.of(await request.ask(ask, conversation, category)))


@routes.post("/conversations/{conversation:str}/summaries", status_code=200, needs="write")
async def summarise_conversation(
    request: Request, conversation: FromPath[str], data: JSONBody[SummariseBody]
) -> Response[MadeSummariesReply]:
    """Make the summaries of a conversation that are missing or stale, with the turns that have no topic yet.

    A summary that is up to date stays, whatever the method. The answer has the new ones. `abstractive` has the
    operator's language model write them; where there is none, or it fails, `degraded` says so.
    """
    writer = _writer(data, request.backend)
    make = request.memories.discourse.summarise
    made = await request.ask(make, conversation, category=data.category, write=writer)
    return _made(made, data, writer)


@routes.post("/summaries", status_code=202, needs="write", standard=("Idempotency-Key",))
async def summarise_space(request: Request, category: CategoryParameter = None) -> Response[TaskReply]:
    """Make the topics and summaries of all conversations that are missing or stale, as a task.

    Each conversation is an item; one that has nothing new is skipped. Summaries are extractive. Only conversations that
    the key sees count. Cancelled, the task ends after the conversation in work.
    """
    key = await request.key()
    tasks, caller = request.engine.tasks, caller_of(request.scope)
    made = await request.ask(tasks.submit, KIND, {"category": category}, caller, request=key)
    return accepted(made)


@routes.post("/sessions/{session:str}/summary", status_code=200, needs="write")
async def summarise_session(
    request: Request, session: FromPath[str], data: JSONBody[SummariseBody]
) -> Response[MadeSummariesReply]:
    """Read the summary of a session, made from those of its conversations where it is missing or stale."""
    writer = _writer(data, request.backend)
    make = request.memories.discourse.summarise_session
    made = await request.ask(make, session, category=data.category, write=writer)
    return _made([] if made is None else [made], data, writer)


@routes.post("/conversations/{conversation:str}/exchanges/{turn:str}/summary", status_code=200, needs="write")
async def summarise_exchange(
    request: Request, conversation: FromPath[str], turn: FromPath[str], category: CategoryParameter = None
) -> Response[SummaryReply]:
    """Read the summary of a long exchange, made where it is missing or stale; a short one is its own summary."""
    if re.fullmatch("[0-9]{1,15}", turn) is None:
        raise NotFound("exchange", f"{conversation}/{turn[:40]}")
    make = request.memories.discourse.summarise_exchange
    found = await request.ask(make, conversation, int(turn), category)
    return Response(SummaryReply.of_memory(found), status_code=200)


@routes.get("/conversations/{conversation:str}/working", needs="read")
async def get_working_memory(
    request: Request,
    conversation: FromPath[str],
    token_budget: BudgetParameter = BUDGET,
    encoding: EncodingParameter = USUAL,
    category: CategoryParameter = None,
) -> Response[WorkingReply]:
    """Read the working memory of a conversation: what is kept for it, and the turns that are worth their tokens now.

    Whatever does not fit is in `evicted`, and stays searchable. The text and the reserved tokens never take more than
    the budget.
    """
    view = request.memories.discourse
    found = await request.backend.store(_working, view, request.space, conversation, encoding, token_budget, category)
    return read(WorkingReply.of(found), found.seq)


@routes.put(
    "/conversations/{conversation:str}/working/{key:str}",
    needs="write",
    screens=True,
    problems=["sensitive_content"],
    standard=DRY,
)
async def keep_in_working_memory(
    request: Request,
    conversation: FromPath[str],
    key: FromPath[str],
    data: JSONBody[WorkingEntryBody],
    token_budget: BudgetParameter = BUDGET,
    encoding: EncodingParameter = USUAL,
    category: CategoryParameter = None,
) -> Response[WorkingEntryReply]:
    """Keep a memory, a text or free tokens in the working memory of a conversation, at a key of your own.

    What is pinned must fit the budget all together. It ends with its time, with the memory, or with the conversation.
    """
    view = request.memories.discourse
    entry = data.entry(key, datetime.now(UTC))
    kept = await request.backend.store(
        _keep, view, request.space, conversation, entry, encoding, token_budget, category
    )
    return tried(request, Response(WorkingEntryReply.of(kept), status_code=200))


@routes.delete("/conversations/{conversation:str}/working/{key:str}", needs="write", standard=DRY)
async def release_from_working_memory(
    request: Request, conversation: FromPath[str], key: FromPath[str], category: CategoryParameter = None
) -> Response[None]:
    """Release what working memory keeps at a key. The memory itself stays."""
    release = request.memories.discourse.release
    await request.ask(release, conversation, key, category)
    return tried(request, Response(None, status_code=204))


def _topics(written: Written) -> Response[ChangedTopicsReply]:
    reply = ChangedTopicsReply(items=ChangedTopic.each(written.memories))
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

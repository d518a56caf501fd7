"""Examples of conversations, their topics and summaries, and working memory."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from muisti.service.openapi.operating import TASK
from muisti.service.openapi.story import ADDED, CHANGED, MADE, _memory
from muisti.service.schemas.conversations import (
    AdoptedReply,
    ArrivedReply,
    ConversationReply,
    ConversationsReply,
    EndedReply,
    ExchangesReply,
    SessionReply,
    SessionsReply,
    StreamedReply,
    SuggestionReply,
    SuggestionsReply,
    TopicReply,
    TopicsReply,
)
from muisti.service.schemas.discourse import (
    ChangedTopic,
    ChangedTopicsReply,
    HeldReply,
    MadeSummariesReply,
    OptimizedReply,
    SummariesReply,
    SummaryReply,
    WorkingEntryReply,
    WorkingReply,
)

EXCHANGE = replace(
    ADDED,
    id="0197a3c0-5f4e-7000-8000-0123456789c0",
    kind="exchange",
    category=None,
    key=None,
    content="I moved to Turku.\n\nNoted!",
    importance="medium",
    author="user",
    tags=[],
    metadata={},
    event_at=MADE,
    tokens=7,
    conversation="c-42",
    turn=17,
    structure={"reply_at": 19, "replier": "assistant"},
)
_OBJECT: Mapping[str, Any] = {
    "version": 1,
    "state": "open",
    "category": None,
    "metadata": {},
    "tags": [],
    "created_at": MADE,
    "updated_at": MADE,
    "closed_at": None,
    "turns": 18,
    "tokens": 812,
    "first_at": MADE,
    "last_at": CHANGED,
}
SESSION = SessionReply(
    id="0197a3c0-5f4e-7000-8000-0123456789c1",
    name="s-2026-11",
    title="Moving house",
    users=["Ann"],
    conversations=1,
    **_OBJECT,
)
TALK = ConversationReply(
    id="0197a3c0-5f4e-7000-8000-0123456789c2",
    name="c-42",
    title="Where to live",
    session="s-2026-11",
    users=["Ann"],
    topics=1,
    next_turn=19,
    **_OBJECT,
)
TOPIC = TopicReply(
    id="0197a3c0-5f4e-7000-8000-0123456789c3",
    name="t1",
    title="Prices",
    conversation="c-42",
    spans=[[1, 12], [30, 34]],
    **_OBJECT,
)
STREAMED = StreamedReply(
    conversation="c-42",
    session="s-2026-11",
    category=None,
    items=[
        ArrivedReply(turn=17, id=EXCHANGE.id, replayed=True, topic=None),
        ArrivedReply(turn=18, id="0197a3c0-5f4e-7000-8000-0123456789c4", replayed=False, topic=None),
    ],
    created=1,
    next_turn=19,
    flags=[],
)
SUGGESTED = SuggestionsReply(
    items=[
        SuggestionReply(
            turn=19,
            status="created",
            memory=_memory(
                "0197a3c0-5f4e-7000-8000-0123456789c6",
                MADE,
                {
                    "content": "I prefer flats by the sea.",
                    "type": "preference",
                    "status": "candidate",
                    "author": "user",
                    "derived_from": ["0197a3c0-5f4e-7000-8000-0123456789c5"],
                    "tokens": 7,
                },
            ),
        )
    ],
    created=1,
    duplicates=0,
    failed=0,
    flags=[],
    next_turn=None,
)
ENDED = EndedReply(sessions=1, conversations=1, topics=1, exchanges=18, summaries=0, total=21)
SPLIT = ChangedTopicsReply(
    items=[
        ChangedTopic(id=TOPIC.id, version=2, name="t1", title="Prices", spans=[[1, 8]]),
        ChangedTopic(
            id="0197a3c0-5f4e-7000-8000-0123456789c5", version=1, name="t2", title="The keys", spans=[[9, 12], [30, 34]]
        ),
    ]
)
SUMMARY = SummaryReply(
    id="0197a3c0-5f4e-7000-8000-0123456789c6",
    of="topic",
    text="user: I moved to Turku.",
    tokens=8,
    method="extractive",
    session=None,
    conversation="c-42",
    topic="t1",
    turn=None,
    up_to=34,
    stale=False,
    sources=[EXCHANGE.id],
    made_at=MADE,
)
_HELD: Mapping[str, Any] = {"memory_id": None, "key": None, "turn": None, "priority": None, "value": None}
WORKING = WorkingReply(
    token_budget=4096,
    encoding="cl100k_base",
    text="user: I moved to Turku. Noted!\n",
    tokens=11,
    reserved=500,
    free=3585,
    held=[
        HeldReply(
            **{**_HELD, "key": "instructions", "priority": 5},
            source="reserved",
            tokens=500,
            pinned=True,
            parts={},
            acts=[],
            importance={},
            expires_at=None,
            reason=None,
        ),
        HeldReply(
            **{**_HELD, "memory_id": EXCHANGE.id, "turn": 17, "value": 0.81},
            source="turn",
            tokens=11,
            pinned=False,
            parts={"importance": 0.22, "recency": 0.44, "coherence": 0.15},
            acts=["statement"],
            importance={"base": 0.05, "novelty": 0.22, "first_person": 0.19, "information": 0.17},
            expires_at=None,
            reason=None,
        ),
    ],
    evicted=[],
)
ENTRY = WorkingEntryReply(
    key="tone",
    memory_id=None,
    content="Answer in Finnish.",
    tokens=None,
    pinned=True,
    priority=9,
    expires_at=CHANGED,
)
OPTIMIZED = OptimizedReply(
    text="We moved to Turku in spring.", tokens=7, token_budget=12, encoding="cl100k_base", tokens_before=13
)

CONVERSATION_REPLIES: Mapping[str, Mapping[int, Any]] = {
    "listSessions": {200: SessionsReply(items=[SESSION], total=1, next_cursor=None)},
    "createSession": {201: SESSION},
    "getSession": {200: SESSION},
    "updateSession": {200: SESSION},
    "deleteSession": {200: ENDED},
    "listConversations": {200: ConversationsReply(items=[TALK], total=1, next_cursor=None)},
    "createConversation": {201: TALK},
    "getConversation": {200: TALK},
    "updateConversation": {200: TALK},
    "deleteConversation": {200: ENDED},
    "listTopics": {200: TopicsReply(items=[TOPIC], total=1, next_cursor=None)},
    "createTopic": {201: TOPIC},
    "getTopic": {200: TOPIC},
    "updateTopic": {200: TOPIC},
    "deleteTopic": {200: replace(ENDED, sessions=0, conversations=0, exchanges=0, total=1)},
    "splitTopic": {200: SPLIT},
    "moveTopic": {200: SPLIT},
    "mergeTopics": {200: SPLIT},
    "listSummaries": {200: SummariesReply(items=[SUMMARY])},
    "summariseConversation": {200: MadeSummariesReply(items=[SUMMARY], degraded=[])},
    "summariseSpace": {202: replace(TASK, kind="summarise", asked={"category": None})},
    "summariseSession": {200: MadeSummariesReply(items=[], degraded=[])},
    "summariseExchange": {200: SUMMARY},
    "getWorkingMemory": {200: WORKING},
    "keepInWorkingMemory": {200: ENTRY},
    "optimizeText": {200: OPTIMIZED},
    "addExchanges": {200: STREAMED},
    "listExchanges": {200: ExchangesReply(items=[EXCHANGE], total=1, next_cursor=None)},
    "suggestPreferences": {200: SUGGESTED},
    "adoptConversations": {200: AdoptedReply(exchanges=612, conversations=12, sessions=1, left=0, items=[])},
}

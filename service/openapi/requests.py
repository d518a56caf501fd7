"""Examples of the bodies of requests, by operation."""

from collections.abc import Mapping
from typing import Any

from muisti.service.openapi.documents import DOCUMENT_REQUESTS
from muisti.service.openapi.graph import GRAPH_REQUESTS
from muisti.service.openapi.operating import KEY, NEW_SPACE, PROBE
from muisti.service.openapi.story import DAILY, HELD, RULE, RULE_ID, TAGGING, TEA, THURSDAYS

REQUESTS: Mapping[str, Any] = {
    "addProbe": {"query": PROBE.query, "category": PROBE.category, "key": PROBE.key, "k": PROBE.k},
    "buildGeneration": {"model": "notes-static-512"},
    "compareGenerations": {
        "k": 10,
        "queries": ["what does Anna drink?"],
        "qrels": {"when do we deploy?": {RULE_ID: 1}},
    },
    "switchGeneration": {},
    "rollBackGeneration": {},
    "createCheckpoint": {"name": "before-import", "note": "all was well"},
    "rollBack": {"to": "before-import"},
    "clearSpace": {"confirm": "DELETE ALL MEMORIES"},
    "forkSpace": {"name": "try"},
    "mergeSpaces": {"from": "try", "strategy": "theirs"},
    "createKey": {"name": KEY.name, "mode": "no-delete", "spaces": KEY.spaces, "expires_at": KEY.expires_at},
    "rotateKey": {"overlap_seconds": 3600},
    "createSpace": {"name": NEW_SPACE.name},
    "setPolicy": {"secrets": "redact", "personal_data": "redact"},
    "setQuota": {"memories": HELD.quota.memories, "bytes": HELD.quota.bytes},
    "addMemory": RULE,
    "addMemories": {"memories": [TEA, TAGGING], "atomic": True, "on_conflict": "keep"},
    "updateMemory": {"content": THURSDAYS, "reason": None},
    "updateEntry": {"content": THURSDAYS, "reason": None},
    "putEntry": {"content": THURSDAYS, "tags": ["release"]},
    "restoreMemory": {"version": 1},
    "restoreEntry": {"version": 1},
    "undo": {"last": 1},
    "promote": {"retrievals": 5},
    "giveFeedback": {"verdict": "useful"},
    "giveEntryFeedback": {"verdict": "useful"},
    "createWebhook": {"url": "https://hooks.example.com/muisti", "changes": ["created", "updated"]},
    "redeliverWebhook": {"since": 3},
    "prune": {"retrievals": 3, "days": 14},
    "decideConflict": {"decision": "supersede"},
    "purge": {"author": "Anna Example"},
    "supersedeMemory": {"content": DAILY, "reason": "The pipeline is fast enough"},
    "supersedeEntry": {"content": DAILY, "reason": "The pipeline is fast enough"},
    "getContext": {
        "query": "when do we deploy?",
        "token_budget": 200,
        "sections": {"profile": {"max_tokens": 60}, "memories": {}},
    },
    "searchSpaces": {"query": "when do we deploy?", "limit": 5, "inherit": ["default", "workspace"]},
    **DOCUMENT_REQUESTS,
    **GRAPH_REQUESTS,
    "createSession": {"name": "s-2026-11", "title": "Moving house", "users": ["Ann"]},
    "updateSession": {"title": "The move to Turku"},
    "createConversation": {"name": "c-42", "title": "Where to live", "session": "s-2026-11", "users": ["Ann"]},
    "updateConversation": {"title": "A flat in Turku", "state": "closed"},
    "createTopic": {"title": "Prices", "spans": [[1, 12], [30, 34]]},
    "updateTopic": {"spans": [[1, 14]]},
    "splitTopic": {"turn": 9, "title": "The keys"},
    "moveTopic": {"turn": 14},
    "mergeTopics": {"topics": ["t1", "t2"]},
    "summariseConversation": {"method": "extractive"},
    "summariseSession": {"method": "extractive"},
    "keepInWorkingMemory": {"content": "Answer in Finnish.", "priority": 9, "ttl_seconds": 86400},
    "optimizeText": {
        "text": "Well. We moved to Turku in spring. Ok.",
        "token_budget": 12,
        "query": "Where do we live?",
    },
    "addExchanges": {
        "items": [
            {"turn": 17, "at": "2026-11-23T10:00:00Z", "user": "I moved to Turku.", "system": "Noted!"},
            {"turn": 18, "at": "2026-11-23T10:01:00Z", "author": "Ann", "content": "The flat is near the river."},
        ],
        "session": "s-2026-11",
    },
    "search": {"query": "when do we deploy?", "limit": 5, "filter": {"tags": ["release"]}, "explain": True},
}

"""Literal parts of the OpenAPI document: its tags, headers, shared parameters, types of path parameters, and links."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta

from muisti.service.checkpoints.schemas import CheckpointName
from muisti.service.graph.schemas import EntityName
from muisti.service.probes.routes import ProbeId
from muisti.service.receipts.routes import ReceiptId
from muisti.service.routes.keys import KeyId
from muisti.service.routes.reviews import ConflictId
from muisti.service.schemas import fields
from muisti.service.schemas.errors import KINDS
from muisti.service.schemas.generations import ModelName
from muisti.service.schemas.tasks import TaskId
from muisti.service.webhooks.routes import WebhookId

ABOUT = (
    "Muisti stores what agents and apps learn and finds the right piece again: by meaning, by words, with any filter. "
    "Every error is an RFC 9457 problem with a stable `code`. "
    "docs/reference/http.md explains filters, pages, versions, repeated requests and reading your own writes."
)

TAGS = {
    "memories": "Memories, the stored texts.",
    "entries": "The same memories by their address, a category and a key.",
    "search": "The memories that best answer a query.",
    "documents": "Files and texts as documents, and their chunks in order.",
    "code": "Symbols of the source files among the documents, and what uses them.",
    "graph": "People, places and things that memories name, and the facts that tie them.",
    "conversations": "Sessions, conversations, topics, and the exchanges that are streamed into them.",
    "facets": "Counts and sizes.",
    "probes": "Questions whose answer is known.",
    "generations": "Embedding models of a space: build, compare, switch, roll back.",
    "changes": "Changes of a space, as pages and as a stream.",
    "conflicts": "Memories that contradict others, and decisions about them.",
    "webhooks": "Addresses that get the changes of a space.",
    "checkpoints": "Named points of a space's history: differences and roll-backs.",
    "spaces": "Isolated stores.",
    "moving": "Export and import of spaces, and of memories of other systems.",
    "tasks": "Work that outlives the request that asked for it.",
    "keys": "API keys and the audit log.",
    "operations": "Health, readiness and capabilities.",
}


_HEADERS = {  # with an example of each
    "X-Request-Id": (
        "The caller's id when it has 1 to 128 of A-Z, a-z, 0-9, '.', '_', ':', '-', else a new one.",
        "4bf92f3577b34da6",
    ),
    "Server-Timing": ("Milliseconds: `total`, the stages of a search, the `commit` of a write.", "total;dur=0.91"),
    "Muisti-Seq": ("Point in the history of the space, `{epoch}:{number}`.", "b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17"),
    "ETag": ("The version, for If-Match and If-None-Match.", '"0197a3c0-5f4e-7000-8000-0123456789ab.1"'),
    "Link": ("The next page, `rel=next`; absent on the last.", '</v1/spaces/default/memories?cursor=A>; rel="next"'),
    "Content-Disposition": ("A name for the file.", 'attachment; filename="default.ndjson"'),
    "Preference-Applied": ("`return=minimal` when the body was left out by request.", "return=minimal"),
    "Location": ("Path of the new resource.", "/v1/spaces/default/memories/0197a3c0-5f4e-7000-8000-0123456789ab"),
    "Idempotent-Replayed": ("`true` when this answer is that of an earlier request with the same key.", "true"),
    "Muisti-Flags": ("The codes of `flags`, when something is stored differently from what was sent.", "redacted"),
    "WWW-Authenticate": ("Credentials to send.", 'Bearer realm="muisti"'),
    "RateLimit-Limit": ("Size of a burst of requests, when there is a limit.", "20"),
    "RateLimit-Remaining": ("Requests that are left.", "19"),
    "RateLimit-Reset": ("Seconds until the burst is full again.", "1"),
    "Retry-After": ("Seconds after which to try again.", "1"),
}
HEADERS = {
    name: {"description": description, "schema": {"type": "string"}, "example": example}
    for name, (description, example) in _HEADERS.items()
}

STREAMED = (
    "Server-sent events: `id` is the point after the change, `event` its kind, `data` a ChangeReply; the last, `end`, "
    "says why it ends (`code`, `detail`). Every 15 s without a change a comment, with the `id` of the point reached."
)

SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key, `mk_...`, or a token of the issuer that the server knows. A server that has neither answers "
    "only its own machine, and needs none.",
}


def _parameter(name: str, place: str, description: str, example: Any, **schema: Any) -> dict[str, Any]:
    shape = {"type": "string", **schema}
    return {"name": name, "in": place, "description": description, "schema": shape, "example": example}


# Parameters that no handler declares.
PARAMETERS: dict[str, Any] = {
    "filters": [
        _parameter("filter", "query", "A filter as JSON.", '{"tags": ["release", "team"]}'),
        {
            "name": "filters",
            "in": "query",
            "description": "Filters as parameters: `field=value`, `field=a,b` or `field.operator=value`.",
            "style": "form",
            "explode": True,
            "schema": {"type": "object", "additionalProperties": {"type": "string"}},
            "example": {"category": "rules", "created_at.gte": "2026-01-01"},
        },
    ],
    "freshness": _parameter(
        "Muisti-Freshness",
        "header",
        "`session` (default): every change that this server has written or seen. `strong`: every change. "
        "`bounded;max-age=500ms`: a search may miss changes of others in that time.",
        "bounded;max-age=500ms",
        pattern="^(session|strong|bounded;max-age=[0-9]{1,7}(ms|s))$",
    ),
    "prefer": _parameter(
        "Prefer",
        "header",
        "`return=minimal` leaves the memory out of the answer; the headers contain its version.",
        "return=minimal",
    ),
    "allow": _parameter(
        "Muisti-Allow",
        "header",
        "Kinds of text to store although the policy of the space refuses or redacts them: `secrets`, "
        "`personal_data`, or both. Needs the scope admin.",
        "secrets",
        pattern="^(secrets|personal_data)(, ?(secrets|personal_data))?$",
    ),
    "min_seq": _parameter(
        "Muisti-Min-Seq",
        "header",
        "A Muisti-Seq that the answer must include. The server waits for it, 1 s at most.",
        "b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17",
    ),
}

# Types of the parameters in paths, by their names.
PATH_TYPES = {
    "receipt_id": ReceiptId,
    "probe_id": ProbeId,
    "conflict_id": ConflictId,
    "key_id": KeyId,
    "import_id": Annotated[int, Meta(description="The number of an import.", ge=1)],
    "space": fields.SpaceName,
    "memory_id": fields.MemoryId,
    "checkpoint": CheckpointName,
    "category": fields.Category,
    "session": fields.SessionName,
    "conversation": fields.ConversationName,
    "topic": fields.TopicName,
    "turn": fields.TurnNumber,
    "document": Annotated[str, Meta(description="The id of a document, or its path.", examples=["docs/deploy.md"])],
    "entity": EntityName,
    "key": fields.Key,
    "webhook_id": WebhookId,
    "task_id": TaskId,
    "generation": ModelName,
    "code": Annotated[str, Meta(description="The `code` of a problem.", extra_json_schema={"enum": list(KINDS)})],
}

# Links: calls that take values of an answer, by the type of the answer.

Link = dict[str, str]  # the parameters of a call, by expressions of what was asked and answered

_SPACE = {"space": "$request.path.space"}
_ETAG = "$response.header.ETag"


def _memory(at: str) -> Link:
    return {**_SPACE, "memory_id": f"$response.body#{at}"}


def _to(calls: Iterable[str], link: Link) -> dict[str, Link]:
    return dict.fromkeys(calls, link)


_ADDRESS = {**_SPACE, "category": "$response.body#/category", "key": "$response.body#/key"}
_ONE_MEMORY = {
    **_to(("getMemory", "getHistory", "getTelemetry"), _memory("/id")),
    **_to(("updateMemory", "supersedeMemory", "restoreMemory", "deleteMemory"), {**_memory("/id"), "If-Match": _ETAG}),
    "getEntry": {**_ADDRESS, "If-None-Match": _ETAG},
    **_to(("putEntry", "updateEntry", "deleteEntry"), {**_ADDRESS, "If-Match": _ETAG}),
}
_MADE_SPACE = {"space": "$response.body#/name"}
_KEY = {"key_id": "$response.body#/id"}

# In the order in which a reader would want them.
LINKS: dict[str, dict[str, Link]] = {
    "AddedReply": _ONE_MEMORY,
    "WrittenReply": _ONE_MEMORY,
    "MemoryReply": _ONE_MEMORY,
    "BatchReply": _to(("getMemory", "deleteMemory"), _memory("/items/0/id")),
    "PageReply": {
        "getMemory": _memory("/items/0/id"),
        "listMemories": {**_SPACE, "cursor": "$response.body#/next_cursor"},
    },
    "UndoReply": _to(("getMemory", "getHistory"), _memory("/items/0/id")),
    "SearchReply": _to(("getMemory", "getHistory", "updateMemory"), _memory("/hits/0/memory/id")),
    "HistoryReply": {"getMemory": _memory("/items/0/memory/id")},
    "SpaceReply": {
        **_to(("getSpace", "addMemory", "addMemories", "putEntry", "listMemories", "search"), _MADE_SPACE),
        **_to(("listCategories", "listTags", "getMap", "getStats", "setQuota", "setPolicy"), _MADE_SPACE),
        "deleteSpace": {**_MADE_SPACE, "confirm": "$response.body#/name"},
    },
    "SpacesReply": {"getSpace": {"space": "$response.body#/items/0/name"}},
    "MadeKeyReply": _to(("getKey", "rotateKey", "revokeKey"), _KEY),
    "KeyReply": _to(("rotateKey", "revokeKey"), _KEY),
    "KeysReply": {"getKey": {"key_id": "$response.body#/items/0/id"}},
    "AuditReply": {"listAudit": {"cursor": "$response.body#/next_cursor"}},
}


def named(reply: str, call: str) -> str:
    """Return the name of a link in the document."""
    return f"{reply}.{call}"

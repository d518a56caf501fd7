"""Descriptions in the OpenAPI document: of the API, its tags, headers and shared parameters."""

from typing import Any

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


def _header(description: str, example: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"}, "example": example}


HEADERS = {
    "X-Request-Id": _header(
        "The caller's id when it has 1 to 128 of A-Z, a-z, 0-9, '.', '_', ':', '-', else a new one.", "4bf92f3577b34da6"
    ),
    "Server-Timing": _header(
        "Milliseconds: `total`, the stages of a search, the `commit` of a write.", "total;dur=0.91"
    ),
    "Muisti-Seq": _header(
        "Point in the history of the space, `{epoch}:{number}`.", "b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17"
    ),
    "ETag": _header("The version, for If-Match and If-None-Match.", '"0197a3c0-5f4e-7000-8000-0123456789ab.1"'),
    "Link": _header(
        "The next page, `rel=next`; absent on the last.", '</v1/spaces/default/memories?cursor=A>; rel="next"'
    ),
    "Content-Disposition": _header("A name for the file.", 'attachment; filename="default.ndjson"'),
    "Preference-Applied": _header("`return=minimal` when the body was left out by request.", "return=minimal"),
    "Location": _header(
        "Path of the new resource.", "/v1/spaces/default/memories/0197a3c0-5f4e-7000-8000-0123456789ab"
    ),
    "Idempotent-Replayed": _header("`true` when this answer is that of an earlier request with the same key.", "true"),
    "Muisti-Flags": _header(
        "The codes of `flags`, when something is stored differently from what was sent.", "redacted"
    ),
    "WWW-Authenticate": _header("Credentials to send.", 'Bearer realm="muisti"'),
    "RateLimit-Limit": _header("Size of a burst of requests, when there is a limit.", "20"),
    "RateLimit-Remaining": _header("Requests that are left.", "19"),
    "RateLimit-Reset": _header("Seconds until the burst is full again.", "1"),
    "Retry-After": _header("Seconds after which to try again.", "1"),
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

# Parameters that no handler declares.
PARAMETERS: dict[str, Any] = {
    "filters": [
        {
            "name": "filter",
            "in": "query",
            "description": "A filter as JSON.",
            "schema": {"type": "string"},
            "example": '{"tags": ["release", "team"]}',
        },
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
    "freshness": {
        "name": "Muisti-Freshness",
        "in": "header",
        "description": "`session` (default): every change that this server has written or seen. `strong`: every "
        "change. `bounded;max-age=500ms`: a search may miss changes of others in that time.",
        "schema": {"type": "string", "pattern": "^(session|strong|bounded;max-age=[0-9]{1,7}(ms|s))$"},
        "example": "bounded;max-age=500ms",
    },
    "prefer": {
        "name": "Prefer",
        "in": "header",
        "description": "`return=minimal` leaves the memory out of the answer; the headers contain its version.",
        "schema": {"type": "string"},
        "example": "return=minimal",
    },
    "allow": {
        "name": "Muisti-Allow",
        "in": "header",
        "description": "Kinds of text to store although the policy of the space refuses or redacts them: `secrets`, "
        "`personal_data`, or both. Needs the scope admin.",
        "schema": {"type": "string", "pattern": "^(secrets|personal_data)(, ?(secrets|personal_data))?$"},
        "example": "secrets",
    },
    "min_seq": {
        "name": "Muisti-Min-Seq",
        "in": "header",
        "description": "A Muisti-Seq that the answer must include. The server waits for it, 1 s at most.",
        "schema": {"type": "string"},
        "example": "b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17",
    },
}

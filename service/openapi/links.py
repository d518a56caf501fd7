"""The links of the OpenAPI document: calls that take values of an answer, by the type of the answer."""

from collections.abc import Iterable

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
        **_to(("listCategories", "listTags", "getStats", "setQuota", "setPolicy"), _MADE_SPACE),
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

"""The tools as a client is told of them. What a caller may not use is not there: no tool, no argument.

Every word here is paid for in the context window of every client, on every turn.
"""

from typing import Any

import msgspec

from core.terms import Scope
from service.access import Access, single_space
from service.mcp import arguments

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
TAGS: Json = {"type": "array", "items": TEXT}
OBJECT: Json = {"type": "object"}
ADDRESS = ("category", "key")
_MEMORY: Json = {"type": "object", "properties": {"id": TEXT, "content": TEXT, "version": WHOLE}}
_FIELDS: Json = {
    "content": TEXT,
    "category": TEXT,
    "key": {**TEXT, "description": "Name within the category"},
    "type": {"enum": ["fact", "preference", "procedure", "guard", "observation"]},
    "importance": {"enum": ["low", "medium", "high", "critical"]},
    "tags": TAGS,
    "reason": TEXT,
    "source": TEXT,
    "author": TEXT,
    "metadata": OBJECT,
    "event_at": {**TEXT, "description": "When it was true, RFC 3339"},
    "valid_from": TEXT,
    "valid_to": TEXT,
    "expires_at": TEXT,
    "ttl": {**WHOLE, "description": "Seconds"},
}
_NARROW: Json = {
    "category": TEXT,
    "tags": TAGS,
    "filter": {**OBJECT, "description": "{created_at: {gte: 2026-01-01}}"},
}
_BUDGET: Json = {**WHOLE, "default": 2000}
_FEEDBACK: Json = {"feedback": {"enum": ["useful", "not_useful"], "description": "Was it of use when recalled?"}}
_ONCE: Json = {"idempotency_key": {**TEXT, "description": "Same key on a retry: done once"}}
_UNSEEN: Json = {"no_touch": {"type": "boolean"}}
_VERSION: Json = {"if_version": {**WHOLE, "description": "Refuse if it has changed since"}}


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool, the scope that it needs, the type of its arguments, and what a client is told."""

    name: str
    needs: Scope
    arguments: Any
    description: str
    properties: Json
    required: tuple[str, ...] = ()
    output: Json = msgspec.field(default_factory=dict)
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    whole: bool = False  # it is about all of a space, so not for keys of one category


TOOLS = (
    Tool(
        name="remember",
        needs="append",
        arguments=arguments.Remember,
        description="Store a memory. What says the same as or contradicts a stored one is refused and shown.",
        properties={
            **_FIELDS,
            "replace": {"type": "boolean", "description": "Replace what is at category and key"},
            "source_class": {"enum": ["user", "tool", "model", "web"]},
            "derived_from": {**TAGS, "description": "Ids that it was made from"},
            "supersedes": {**TEXT, "description": "Id of the outdated memory whose place it takes"},
            "on_conflict": {"enum": ["reject", "keep", "review", "supersede"]},
            **_ONCE,
        },
        required=("content",),
        output={"memory": _MEMORY, "created": {"type": "boolean"}},
    ),
    Tool(
        name="recall",
        needs="read",
        arguments=arguments.Recall,
        description="Find memories that answer a question, by meaning and by word. Cite their ids. "
        "evidence none: nothing is known about it.",
        properties={
            "query": TEXT,
            "limit": WHOLE,
            "max_tokens": _BUDGET,
            **_NARROW,
            "mode": {"enum": ["hybrid", "semantic", "keyword", "recent"]},
            "min_evidence": {"enum": ["weak", "strong"]},
            "as_of": {**TEXT, "description": "What was known then"},
            **_UNSEEN,
        },
        required=("query",),
        output={"evidence": TEXT, "memories": {"type": "array", "items": OBJECT}, "left_out": OBJECT},
        read_only=True,
    ),
    Tool(
        name="get_memory",
        needs="read",
        arguments=arguments.OneMemory,
        description="Read a memory by id, or by category and key.",
        properties={"id": TEXT, "category": TEXT, "key": TEXT, **_UNSEEN},
        output={"memory": _MEMORY},
        read_only=True,
    ),
    Tool(
        name="list_memories",
        needs="read",
        arguments=arguments.ListMemories,
        description="List memories, newest first.",
        properties={"limit": WHOLE, "cursor": TEXT, "max_tokens": _BUDGET, **_NARROW},
        output={"memories": {"type": "array", "items": OBJECT}, "next_cursor": {"type": ["string", "null"]}},
        read_only=True,
    ),
    Tool(
        name="update_memory",
        needs="write",
        arguments=arguments.UpdateMemory,
        description="Change fields of a memory; what is left out stays. Old versions stay in its history.",
        properties={"id": TEXT, **_FIELDS, **_FEEDBACK, **_VERSION, **_ONCE},
        required=("id",),
        output={"memory": _MEMORY},
        idempotent=True,
    ),
    Tool(
        name="memory_history",
        needs="read",
        arguments=arguments.History,
        description="Versions of a memory, what changed, what superseded it.",
        properties={"id": TEXT, "limit": WHOLE},
        required=("id",),
        output={"versions": {"type": "array", "items": OBJECT}},
        read_only=True,
    ),
    Tool(
        name="restore_memory",
        needs="write",
        arguments=arguments.Restore,
        description="Undo the last change or deletion of a memory, or go back to a version.",
        properties={"id": TEXT, "version": WHOLE, **_VERSION, **_ONCE},
        required=("id",),
        output={"memory": _MEMORY},
    ),
    Tool(
        name="forget",
        needs="delete",
        arguments=arguments.Forget,
        description="Delete a memory.",
        properties={"id": TEXT, **_VERSION, **_ONCE},
        required=("id",),
        output={"id": TEXT, "deleted": {"type": "boolean"}},
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="import_memories",
        needs="write",
        arguments=arguments.ImportMemories,
        description="Take in an export (resource memory://{space}/export), all or nothing. Known ids are skipped.",
        properties={"ndjson": TEXT, "dry_run": {"type": "boolean"}},
        required=("ndjson",),
        output={"created": WHOLE, "skipped": OBJECT},
        idempotent=True,
        whole=True,
    ),
    Tool(
        name="list_categories",
        needs="read",
        arguments=arguments.InSpace,
        description="List categories with their numbers of memories.",
        properties={},
        output={"categories": {"type": "array", "items": OBJECT}},
        read_only=True,
    ),
    Tool(
        name="memory_stats",
        needs="read",
        arguments=arguments.InSpace,
        description="Sizes of a space.",
        properties={},
        output={"memories": WHOLE},
        read_only=True,
    ),
)


def usable(access: Access) -> list[Tool]:
    """The tools that a caller may use, always in this order."""
    narrow = access.grant.category is not None
    return [tool for tool in TOOLS if access.may(tool.needs) and not (tool.whole and narrow)]


def hidden(access: Access) -> frozenset[str]:
    """The arguments that there are not for a caller."""
    names: set[str] = set()
    if single_space(access.grant) is not None:
        names.add("space")
    if access.grant.category is not None:
        names.add("category")
    if not access.may("write"):
        names |= {"replace", "supersedes"}
    return frozenset(names)

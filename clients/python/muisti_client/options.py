"""Made from the OpenAPI document of the server by generate.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, TypedDict

from ._filters import Filters, Time


class RememberOptions(TypedDict, total=False):
    """A memory to add."""

    kind: Literal['memory', 'chunk', 'exchange']
    type: Literal['fact', 'preference', 'procedure', 'guard', 'observation']
    status: Literal['active', 'candidate', 'superseded', 'deprecated']
    importance: Literal['low', 'medium', 'high', 'critical']
    author: str | None
    reason: str | None
    source: str | None
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    event_at: Time | None
    valid_from: Time | None
    valid_to: Time | None
    expires_at: Time | None
    ttl: int | None | timedelta
    parent_id: str | None
    source_class: Literal['user', 'tool', 'model', 'unknown', 'web']
    derived_from: Sequence[str]
    category: str | None
    key: str | None
    on_conflict: Literal['keep', 'reject', 'review', 'supersede']
    idempotency_key: str | None


class UpdateOptions(TypedDict, total=False):
    """Changes to a memory: what is absent stays, null clears. `tags` and `metadata` are replaced as a whole."""

    content: str
    user: str
    system: str | None
    kind: Literal['memory', 'chunk', 'exchange']
    category: str | None
    key: str | None
    type: Literal['fact', 'preference', 'procedure', 'guard', 'observation']
    status: Literal['active', 'candidate', 'superseded', 'deprecated']
    importance: Literal['low', 'medium', 'high', 'critical']
    author: str | None
    reason: str | None
    source: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, Any] | None
    event_at: Time | None
    valid_from: Time | None
    valid_to: Time | None
    expires_at: Time | None
    ttl: int | timedelta
    parent_id: str | None
    source_class: Literal['user', 'tool', 'model', 'unknown', 'web']
    derived_from: Sequence[str]


class SupersedeOptions(TypedDict, total=False):
    """The memory that replaces another; without category and key it takes over those of the other."""

    kind: Literal['memory', 'chunk', 'exchange']
    type: Literal['fact', 'preference', 'procedure', 'guard', 'observation']
    status: Literal['active', 'candidate', 'superseded', 'deprecated']
    importance: Literal['low', 'medium', 'high', 'critical']
    author: str | None
    reason: str | None
    source: str | None
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    event_at: Time | None
    valid_from: Time | None
    valid_to: Time | None
    expires_at: Time | None
    ttl: int | None | timedelta
    parent_id: str | None
    source_class: Literal['user', 'tool', 'model', 'unknown', 'web']
    derived_from: Sequence[str]
    category: str | None
    key: str | None


class SearchOptions(Filters, total=False):
    """A search."""

    limit: int
    mode: Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic'] | Literal['auto']
    match: Literal['all', 'any', 'phrase']
    fusion: Literal['absolute', 'convex', 'dbsf', 'rrf']
    alpha: float | None
    recency: Mapping[str, Any] | None
    as_of: str | int | None
    reference_time: Time | None
    min_evidence: Literal['strong', 'weak'] | None
    trust_weight: float
    second_query: Literal['mapped', 'off', 'transformer'] | None
    explain: bool
    highlight: bool
    no_touch: bool
    similar_to: str | None
    group_by: str | None
    diversity: float
    context_window: int
    min_score: float
    fallback_to_keyword: bool
    signals: Mapping[str, Any] | None
    preset: Literal['balanced', 'embedding-focused', 'similarity-only', 'tag-focused'] | None
    boost_tags: Mapping[str, Any]
    tag_rule: Literal['average', 'max', 'sum']
    rankings: Mapping[str, Any] | None
    instructions: int
    intent: bool
    receipt: bool
    explain_ids: Sequence[str]


class ContextOptions(Filters, total=False):
    """A context to be made."""

    token_budget: int
    encoding: Literal['cl100k_base', 'o200k_base']
    conversation: str | None
    spaces: Sequence[Mapping[str, Any]]
    sections: Mapping[str, Any] | None
    compress: Literal['long', 'never']
    template: str | None
    mode: Literal['hybrid', 'keyword', 'semantic']
    recency: Mapping[str, Any] | None
    as_of: str | int | None
    reference_time: Time | None
    min_evidence: Literal['none', 'strong', 'weak']
    receipt: bool
    no_touch: bool
    instructions: bool | None

"""A request for each operation of the API. Made from the OpenAPI document of the server by generate.py."""

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any

from ._wire import Call, call


def get_resource_metadata() -> Call:
    """Read where tokens for the HTTP API come from."""
    return call(
        'GET',
        '/.well-known/oauth-protected-resource',
    )


def get_mcp_metadata() -> Call:
    """Read where tokens for MCP come from."""
    return call(
        'GET',
        '/.well-known/oauth-protected-resource/mcp',
    )


def get_docs() -> Call:
    """Browse the API and try it."""
    return call(
        'GET',
        '/docs',
    )


def get_health() -> Call:
    """Say that the process answers."""
    return call(
        'GET',
        '/healthz',
    )


def get_metrics() -> Call:
    """Read metrics, for Prometheus."""
    return call(
        'GET',
        '/metrics',
    )


def get_openapi() -> Call:
    """Read this document."""
    return call(
        'GET',
        '/openapi.json',
    )


def get_problem(
    code: str,
) -> Call:
    """Explain a kind of error: the `type` of every problem leads here."""
    return call(
        'GET',
        '/problems/{code}',
        parts={'code': code},
    )


def get_readiness() -> Call:
    """Say whether the service can do its work."""
    return call(
        'GET',
        '/readyz',
    )


def get_access() -> Call:
    """Read what the caller may do: its scopes, its spaces, and until when."""
    return call(
        'GET',
        '/v1/access',
    )


def list_audit(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call:
    """Read the audit log, newest first."""
    return call(
        'GET',
        '/v1/audit',
        params={'limit': limit, 'cursor': cursor},
    )


def list_keys() -> Call:
    """List keys."""
    return call(
        'GET',
        '/v1/keys',
    )


def create_key(
    body: Mapping[str, Any],
) -> Call:
    """Make a key."""
    return call(
        'POST',
        '/v1/keys',
        body=body,
    )


def get_key(
    key_id: str,
) -> Call:
    """Read a key."""
    return call(
        'GET',
        '/v1/keys/{key_id}',
        parts={'key_id': key_id},
    )


def revoke_key(
    key_id: str,
) -> Call:
    """Revoke a key."""
    return call(
        'DELETE',
        '/v1/keys/{key_id}',
        parts={'key_id': key_id},
    )


def rotate_key(
    key_id: str,
    body: Mapping[str, Any],
) -> Call:
    """Replace a key."""
    return call(
        'POST',
        '/v1/keys/{key_id}/rotate',
        parts={'key_id': key_id},
        body=body,
    )


def get_receipt(
    receipt_id: str,
) -> Call:
    """Read the request and the answer of a search."""
    return call(
        'GET',
        '/v1/receipts/{receipt_id}',
        parts={'receipt_id': receipt_id},
    )


def replay_receipt(
    receipt_id: str,
    *,
    then: bool | None = None,
) -> Call:
    """Repeat a search or a context, and read what differs and why."""
    return call(
        'POST',
        '/v1/receipts/{receipt_id}/replay',
        parts={'receipt_id': receipt_id},
        params={'then': then},
    )


def search_spaces(
    body: Mapping[str, Any],
) -> Call:
    """Find the memories of several spaces that best answer a query."""
    return call(
        'POST',
        '/v1/search',
        body=body,
    )


def get_server_stats() -> Call:
    """Read how long each operation takes."""
    return call(
        'GET',
        '/v1/server/stats',
    )


def get_signing_keys() -> Call:
    """Read the public keys that reports are signed with."""
    return call(
        'GET',
        '/v1/signing-keys',
    )


def list_spaces() -> Call:
    """List the spaces."""
    return call(
        'GET',
        '/v1/spaces',
    )


def create_space(
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
) -> Call:
    """Create a space."""
    return call(
        'POST',
        '/v1/spaces',
        params={'dry_run': dry_run},
        body=body,
    )


def get_space(
    space: str,
) -> Call:
    """Read a space."""
    return call(
        'GET',
        '/v1/spaces/{space}',
        parts={'space': space},
    )


def delete_space(
    space: str,
    *,
    confirm: str,
    dry_run: bool | None = None,
) -> Call:
    """Erase a space with all that is in it."""
    return call(
        'DELETE',
        '/v1/spaces/{space}',
        parts={'space': space},
        params={'confirm': confirm, 'dry_run': dry_run},
    )


def adopt_conversations(
    space: str,
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make exchanges of the memories whose metadata has a `session` and a `turn`."""
    return call(
        'POST',
        '/v1/spaces/{space}/adopt',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def list_categories(
    space: str,
    *,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Count the active memories of each category."""
    return call(
        'GET',
        '/v1/spaces/{space}/categories',
        parts={'space': space},
        params={'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_changes(
    space: str,
    *,
    since: str | None = None,
    limit: int | None = None,
    change: str | None = None,
    show: str | None = None,
    filter: str | None = None,
    filters: Mapping[str, Any] | None = None,
    last_event_id: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the changes of a space, oldest first, or listen to them."""
    return call(
        'GET',
        '/v1/spaces/{space}/changes',
        parts={'space': space},
        params={'since': since, 'limit': limit, 'change': change, 'show': show, 'filter': filter, 'filters': filters},
        headers={'Last-Event-ID': last_event_id, 'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_checkpoints(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the checkpoints, newest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/checkpoints',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def create_checkpoint(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Name the current point of the space's history."""
    return call(
        'POST',
        '/v1/spaces/{space}/checkpoints',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def delete_checkpoint(
    space: str,
    checkpoint: str,
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a checkpoint."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/checkpoints/{checkpoint}',
        parts={'space': space, 'checkpoint': checkpoint},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def clear_space(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete all memories of the space."""
    return call(
        'POST',
        '/v1/spaces/{space}/clear',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def get_callees(
    space: str,
    *,
    symbol: str,
    kinds: str | None = None,
    limit: int | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List what a symbol calls. What is defined inside of it counts: the methods of a class, functions in functions."""
    return call(
        'GET',
        '/v1/spaces/{space}/code/callees',
        parts={'space': space},
        params={'symbol': symbol, 'kinds': kinds, 'limit': limit},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_callers(
    space: str,
    *,
    symbol: str,
    kinds: str | None = None,
    limit: int | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List what calls a symbol, by file and line."""
    return call(
        'GET',
        '/v1/spaces/{space}/code/callers',
        parts={'space': space},
        params={'symbol': symbol, 'kinds': kinds, 'limit': limit},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_code_map(
    space: str,
    *,
    token_budget: int | None = None,
    mentioned: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Make a text of the definitions that are used most, within a number of tokens."""
    return call(
        'GET',
        '/v1/spaces/{space}/code/map',
        parts={'space': space},
        params={'token_budget': token_budget, 'mentioned': mentioned},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_outline(
    space: str,
    *,
    path: str,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the symbols of a file in order, and the files of the space that it imports."""
    return call(
        'GET',
        '/v1/spaces/{space}/code/outline',
        parts={'space': space},
        params={'path': path},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def find_symbols(
    space: str,
    *,
    name: str,
    kind: str | None = None,
    path: str | None = None,
    limit: int | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Find functions, classes, methods and constants by their name."""
    return call(
        'GET',
        '/v1/spaces/{space}/code/symbols',
        parts={'space': space},
        params={'name': name, 'kind': kind, 'path': path, 'limit': limit},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def compare_spaces(
    space: str,
    *,
    other: str,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Preview a merge of another space into this one."""
    return call(
        'GET',
        '/v1/spaces/{space}/compare',
        parts={'space': space},
        params={'other': other, 'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_conflicts(
    space: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the conflicts that wait for a decision, newest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/conflicts',
        parts={'space': space},
        params={'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def decide_conflict(
    space: str,
    conflict_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Decide a conflict."""
    return call(
        'POST',
        '/v1/spaces/{space}/conflicts/{conflict_id}',
        parts={'space': space, 'conflict_id': conflict_id},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def get_context(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make a text for a prompt from what is remembered, within a number of tokens."""
    return call(
        'POST',
        '/v1/spaces/{space}/context',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def optimize_text(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Compress a text to a number of tokens, by leaving out sentences and blocks of code. Nothing is stored."""
    return call(
        'POST',
        '/v1/spaces/{space}/context/optimize',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def list_conversations(
    space: str,
    *,
    limit: int | None = None,
    sort: str | None = None,
    cursor: str | None = None,
    session: str | None = None,
    user: str | None = None,
    state: str | None = None,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List conversations with their sizes, those with the latest turn first; `total` counts those on all pages."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations',
        parts={'space': space},
        params={'limit': limit, 'sort': sort, 'cursor': cursor, 'session': session, 'user': user, 'state': state, 'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def create_conversation(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make a conversation. Streaming turns in makes a missing one, too. The key must read, as well."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_conversation(
    space: str,
    conversation: str,
    *,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read a conversation: its title, users and state, and how many turns, tokens and topics it has."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations/{conversation}',
        parts={'space': space, 'conversation': conversation},
        params={'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def update_conversation(
    space: str,
    conversation: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Change a conversation: rename it by `title`, move it by `session`, close or reopen it by `state`."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/conversations/{conversation}',
        parts={'space': space, 'conversation': conversation},
        params={'category': category, 'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def delete_conversation(
    space: str,
    conversation: str,
    *,
    category: str | None = None,
    purge: bool | None = None,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a conversation with its topics and exchanges, as one step."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/conversations/{conversation}',
        parts={'space': space, 'conversation': conversation},
        params={'category': category, 'purge': purge, 'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def list_exchanges(
    space: str,
    conversation: str,
    *,
    limit: int | None = None,
    from_: int | None = None,
    to: int | None = None,
    cursor: str | None = None,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the exchanges of a conversation in the order of their turns."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations/{conversation}/exchanges',
        parts={'space': space, 'conversation': conversation},
        params={'limit': limit, 'from': from_, 'to': to, 'cursor': cursor, 'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def add_exchanges(
    space: str,
    conversation: str,
    body: Mapping[str, Any],
    *,
    session: str | None = None,
    category: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Stream 1 to 1,000 turns into a conversation, all or none."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/exchanges',
        parts={'space': space, 'conversation': conversation},
        params={'session': session, 'category': category, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def summarise_exchange(
    space: str,
    conversation: str,
    turn: str,
    *,
    category: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Read the summary of a long exchange, made where it is missing or stale; a short one is its own summary."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/exchanges/{turn}/summary',
        parts={'space': space, 'conversation': conversation, 'turn': turn},
        params={'category': category},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def merge_topics(
    space: str,
    conversation: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Merge topics into the first of them. An undo of the request brings the others back."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/merge-topics',
        parts={'space': space, 'conversation': conversation},
        params={'category': category, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def suggest_preferences(
    space: str,
    conversation: str,
    *,
    from_: int | None = None,
    category: str | None = None,
    dry_run: bool | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Store preferences that users state in a conversation as candidates, about 50 at most, of 1,000 turns."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/suggestions',
        parts={'space': space, 'conversation': conversation},
        params={'from': from_, 'category': category, 'dry_run': dry_run},
        headers={'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
    )


def list_summaries(
    space: str,
    conversation: str,
    *,
    category: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the summaries of a conversation: of each topic, then of all. They are made when a topic is complete."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations/{conversation}/summaries',
        parts={'space': space, 'conversation': conversation},
        params={'category': category},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def summarise_conversation(
    space: str,
    conversation: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make the summaries of a conversation that are missing or stale, with the turns that have no topic yet."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/summaries',
        parts={'space': space, 'conversation': conversation},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def list_topics(
    space: str,
    conversation: str,
    *,
    limit: int | None = None,
    sort: str | None = None,
    cursor: str | None = None,
    state: str | None = None,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the topics of a conversation with their sizes; `total` counts those on all pages."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations/{conversation}/topics',
        parts={'space': space, 'conversation': conversation},
        params={'limit': limit, 'sort': sort, 'cursor': cursor, 'state': state, 'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def create_topic(
    space: str,
    conversation: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make a topic of a conversation: stretches of its turns under one title. The key must read, as well."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/topics',
        parts={'space': space, 'conversation': conversation},
        params={'category': category, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_topic(
    space: str,
    conversation: str,
    topic: str,
    *,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read a topic with its stretches of turns and its sizes."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations/{conversation}/topics/{topic}',
        parts={'space': space, 'conversation': conversation, 'topic': topic},
        params={'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def update_topic(
    space: str,
    conversation: str,
    topic: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Change a topic: its title, its stretches of turns, metadata, tags or state."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/conversations/{conversation}/topics/{topic}',
        parts={'space': space, 'conversation': conversation, 'topic': topic},
        params={'category': category, 'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def delete_topic(
    space: str,
    conversation: str,
    topic: str,
    *,
    category: str | None = None,
    purge: bool | None = None,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a topic. The exchanges stay in their conversation."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/conversations/{conversation}/topics/{topic}',
        parts={'space': space, 'conversation': conversation, 'topic': topic},
        params={'category': category, 'purge': purge, 'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def move_topic(
    space: str,
    conversation: str,
    topic: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Move the border between a topic and the one before it."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/topics/{topic}/move',
        parts={'space': space, 'conversation': conversation, 'topic': topic},
        params={'category': category, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def split_topic(
    space: str,
    conversation: str,
    topic: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Split a topic before a turn. Later turns never change a topic that was changed so."""
    return call(
        'POST',
        '/v1/spaces/{space}/conversations/{conversation}/topics/{topic}/split',
        parts={'space': space, 'conversation': conversation, 'topic': topic},
        params={'category': category, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_working_memory(
    space: str,
    conversation: str,
    *,
    token_budget: int | None = None,
    encoding: str | None = None,
    category: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the working memory of a conversation: what is kept for it, and the turns that are worth their tokens now."""
    return call(
        'GET',
        '/v1/spaces/{space}/conversations/{conversation}/working',
        parts={'space': space, 'conversation': conversation},
        params={'token_budget': token_budget, 'encoding': encoding, 'category': category},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def keep_in_working_memory(
    space: str,
    conversation: str,
    key: str,
    body: Mapping[str, Any],
    *,
    token_budget: int | None = None,
    encoding: str | None = None,
    category: str | None = None,
    dry_run: bool | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Keep a memory, a text or free tokens in the working memory of a conversation, at a key of your own."""
    return call(
        'PUT',
        '/v1/spaces/{space}/conversations/{conversation}/working/{key}',
        parts={'space': space, 'conversation': conversation, 'key': key},
        params={'token_budget': token_budget, 'encoding': encoding, 'category': category, 'dry_run': dry_run},
        headers={'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def release_from_working_memory(
    space: str,
    conversation: str,
    key: str,
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Release what working memory keeps at a key. The memory itself stays."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/conversations/{conversation}/working/{key}',
        parts={'space': space, 'conversation': conversation, 'key': key},
        params={'category': category, 'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def diff_space(
    space: str,
    *,
    since: str,
    until: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the differences between two points."""
    return call(
        'GET',
        '/v1/spaces/{space}/diff',
        parts={'space': space},
        params={'since': since, 'until': until, 'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_documents(
    space: str,
    *,
    folder: str | None = None,
    media_type: str | None = None,
    language: str | None = None,
    category: str | None = None,
    limit: int | None = None,
    sort: str | None = None,
    cursor: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List documents, with the number and the size of those on all pages."""
    return call(
        'GET',
        '/v1/spaces/{space}/documents',
        parts={'space': space},
        params={'folder': folder, 'media_type': media_type, 'language': language, 'category': category, 'limit': limit, 'sort': sort, 'cursor': cursor, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def add_documents(
    space: str,
    body: Mapping[str, Any],
    *,
    strategy: str | None = None,
    size: int | None = None,
    overlap: int | None = None,
    main_content: bool | None = None,
    category: str | None = None,
    tags: str | None = None,
    mtime: str | None = None,
    wait: bool | None = None,
    dry_run: bool | None = None,
    path: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Store files or a text as documents."""
    return call(
        'POST',
        '/v1/spaces/{space}/documents',
        parts={'space': space},
        params={'strategy': strategy, 'size': size, 'overlap': overlap, 'main_content': main_content, 'category': category, 'tags': tags, 'mtime': mtime, 'wait': wait, 'dry_run': dry_run, 'path': path},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def preview_document(
    space: str,
    body: Mapping[str, Any],
    *,
    strategy: str | None = None,
    size: int | None = None,
    overlap: int | None = None,
    main_content: bool | None = None,
    path: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Show where a file or a text would be cut. Nothing is stored."""
    return call(
        'POST',
        '/v1/spaces/{space}/documents/preview',
        parts={'space': space},
        params={'strategy': strategy, 'size': size, 'overlap': overlap, 'main_content': main_content, 'path': path},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def prune_documents(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """End what has lost its source: documents of code, chunks without a document, imported entities that nothing names."""
    return call(
        'POST',
        '/v1/spaces/{space}/documents/prune',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def sync_documents(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Compare the documents of a folder with the files that exist."""
    return call(
        'POST',
        '/v1/spaces/{space}/documents/sync',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def get_document(
    space: str,
    document: str,
    *,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read what is known of a document, by its id or path. A slash in the path is sent as `%2F`."""
    return call(
        'GET',
        '/v1/spaces/{space}/documents/{document}',
        parts={'space': space, 'document': document},
        params={'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def put_document(
    space: str,
    document: str,
    body: Mapping[str, Any],
    *,
    strategy: str | None = None,
    size: int | None = None,
    overlap: int | None = None,
    main_content: bool | None = None,
    category: str | None = None,
    tags: str | None = None,
    mtime: str | None = None,
    wait: bool | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Store a file or a text as the document at a path. A slash in the path is sent as `%2F`."""
    return call(
        'PUT',
        '/v1/spaces/{space}/documents/{document}',
        parts={'space': space, 'document': document},
        params={'strategy': strategy, 'size': size, 'overlap': overlap, 'main_content': main_content, 'category': category, 'tags': tags, 'mtime': mtime, 'wait': wait, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def delete_document(
    space: str,
    document: str,
    *,
    category: str | None = None,
    purge: bool | None = None,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a document with its chunks, as one step."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/documents/{document}',
        parts={'space': space, 'document': document},
        params={'category': category, 'purge': purge, 'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def list_chunks(
    space: str,
    document: str,
    *,
    category: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the chunks of a document in order, each with its place in the text."""
    return call(
        'GET',
        '/v1/spaces/{space}/documents/{document}/chunks',
        parts={'space': space, 'document': document},
        params={'category': category, 'limit': limit, 'cursor': cursor, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_text(
    space: str,
    document: str,
    *,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the whole text of a document, at one point of history, however long it is."""
    return call(
        'GET',
        '/v1/spaces/{space}/documents/{document}/text',
        parts={'space': space, 'document': document},
        params={'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_entry(
    space: str,
    category: str,
    key: str,
    *,
    as_of: str | None = None,
    no_touch: bool | None = None,
    if_none_match: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the memory at an address."""
    return call(
        'GET',
        '/v1/spaces/{space}/entries/{category}/{key}',
        parts={'space': space, 'category': category, 'key': key},
        params={'as_of': as_of, 'no_touch': no_touch},
        headers={'If-None-Match': if_none_match, 'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def put_entry(
    space: str,
    category: str,
    key: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    prefer: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Store a memory at an address, in place of what is there."""
    return call(
        'PUT',
        '/v1/spaces/{space}/entries/{category}/{key}',
        parts={'space': space, 'category': category, 'key': key},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Prefer': prefer, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def update_entry(
    space: str,
    category: str,
    key: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    prefer: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Change the memory at an address."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/entries/{category}/{key}',
        parts={'space': space, 'category': category, 'key': key},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Prefer': prefer, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def delete_entry(
    space: str,
    category: str,
    key: str,
    *,
    purge: bool | None = None,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete the memory at an address."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/entries/{category}/{key}',
        parts={'space': space, 'category': category, 'key': key},
        params={'purge': purge, 'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        once=True,
    )


def give_entry_feedback(
    space: str,
    category: str,
    key: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Say that the memory at an address was useful, or that it was not."""
    return call(
        'PUT',
        '/v1/spaces/{space}/entries/{category}/{key}/feedback',
        parts={'space': space, 'category': category, 'key': key},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def get_entry_history(
    space: str,
    category: str,
    key: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read versions of the memory at an address, newest first, and what each has changed."""
    return call(
        'GET',
        '/v1/spaces/{space}/entries/{category}/{key}/history',
        parts={'space': space, 'category': category, 'key': key},
        params={'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def restore_entry(
    space: str,
    category: str,
    key: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Restore an earlier version of the memory at an address."""
    return call(
        'POST',
        '/v1/spaces/{space}/entries/{category}/{key}/restore',
        parts={'space': space, 'category': category, 'key': key},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def supersede_entry(
    space: str,
    category: str,
    key: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Put a new memory in place of the one at an address."""
    return call(
        'POST',
        '/v1/spaces/{space}/entries/{category}/{key}/supersede',
        parts={'space': space, 'category': category, 'key': key},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_entry_telemetry(
    space: str,
    category: str,
    key: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read how often the memory at an address was retrieved, when last, and its feedback."""
    return call(
        'GET',
        '/v1/spaces/{space}/entries/{category}/{key}/telemetry',
        parts={'space': space, 'category': category, 'key': key},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def export_space(
    space: str,
    *,
    vectors: bool | None = None,
    compression: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Export a space, with its history and its vectors."""
    return call(
        'GET',
        '/v1/spaces/{space}/export',
        parts={'space': space},
        params={'vectors': vectors, 'compression': compression},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
        long=True,
    )


def fork_space(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Copy a space."""
    return call(
        'POST',
        '/v1/spaces/{space}/fork',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def list_generations(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the models that have vectors in the space, and those that the server has."""
    return call(
        'GET',
        '/v1/spaces/{space}/generations',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def build_generation(
    space: str,
    body: Mapping[str, Any],
    *,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Embed the space with a further model, its shadow, as a task."""
    return call(
        'POST',
        '/v1/spaces/{space}/generations',
        parts={'space': space},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def compare_generations(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Ask the model of the space and its shadow the same questions: the probes of the space, and those given."""
    return call(
        'POST',
        '/v1/spaces/{space}/generations/compare',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def roll_back_generation(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make the model that the space had before the switch its model again. Nothing is embedded."""
    return call(
        'POST',
        '/v1/spaces/{space}/generations/rollback',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def switch_generation(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make the shadow the model of the space, in one step; the model before becomes the shadow."""
    return call(
        'POST',
        '/v1/spaces/{space}/generations/switch',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def drop_generation(
    space: str,
    generation: str,
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete the vectors of a model in the space. The model of the space itself is refused."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/generations/{generation}',
        parts={'space': space, 'generation': generation},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def get_graph(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read how much the graph of a space knows, and how many versions are not read yet."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def drop_graph(
    space: str,
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete what was read from memories; it can be read again. What people have stated stays."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/graph',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def build_graph(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Read the versions that are not read yet, as a task. Needs a key that sees all of the space."""
    return call(
        'POST',
        '/v1/spaces/{space}/graph/build',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def list_communities(
    space: str,
    *,
    limit: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List what belongs together: names that memories mention together more often than by chance."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/communities',
        parts={'space': space},
        params={'limit': limit, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_entities(
    space: str,
    *,
    prefix: str | None = None,
    kind: str | None = None,
    memory: str | None = None,
    sort: str | None = None,
    limit: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the people, places and things that memories name, by the beginning of a name and by kind."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/entities',
        parts={'space': space},
        params={'prefix': prefix, 'kind': kind, 'memory': memory, 'sort': sort, 'limit': limit, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_entity(
    space: str,
    entity: str,
    *,
    facts: int | None = None,
    memories_: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read an entity: its names, its facts with their evidence in the order of time, and who mentions it."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/entities/{entity}',
        parts={'space': space, 'entity': entity},
        params={'facts': facts, 'memories_': memories_, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def describe_entity(
    space: str,
    entity: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Say what an entity is: its kind, other names of it, and names that are not its own."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/graph/entities/{entity}',
        parts={'space': space, 'entity': entity},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def keep_entities_apart(
    space: str,
    entity: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Say that other names are not those of an entity, whatever a rule finds."""
    return call(
        'POST',
        '/v1/spaces/{space}/graph/entities/{entity}/keep-apart',
        parts={'space': space, 'entity': entity},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def merge_entities(
    space: str,
    entity: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Say that other names are those of an entity. Nothing is rewritten: undoing it separates them again."""
    return call(
        'POST',
        '/v1/spaces/{space}/graph/entities/{entity}/merge',
        parts={'space': space, 'entity': entity},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def list_neighbours(
    space: str,
    entity: str,
    *,
    depth: int | None = None,
    kinds: str | None = None,
    sort: str | None = None,
    limit: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the entities at most `depth` ties away: by relations, and by being mentioned together."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/entities/{entity}/neighbours',
        parts={'space': space, 'entity': entity},
        params={'depth': depth, 'kinds': kinds, 'sort': sort, 'limit': limit, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def export_graph(
    space: str,
    *,
    format: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Write all entities and relations that the caller sees as a file: GraphML, Cytoscape, Cypher, JSON-LD, DOT, JSON."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/export',
        parts={'space': space},
        params={'format': format, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def find_path(
    space: str,
    *,
    from_: str,
    to: str,
    kinds: str | None = None,
    longest: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Find a shortest path between two entities, with memories that state each of its ties."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/paths',
        parts={'space': space},
        params={'from': from_, 'to': to, 'kinds': kinds, 'longest': longest, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def draw_graph(
    space: str,
    *,
    entity: str | None = None,
    depth: int | None = None,
    limit: int | None = None,
    width: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Draw the entities around one, or the most mentioned, as SVG with a legend."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/picture',
        parts={'space': space},
        params={'entity': entity, 'depth': depth, 'limit': limit, 'width': width, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_proposals(
    space: str,
    *,
    limit: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List pairs of names that look alike. Nothing is merged until somebody says so."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/proposals',
        parts={'space': space},
        params={'limit': limit, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_relations(
    space: str,
    *,
    subject: str | None = None,
    kinds: str | None = None,
    target: str | None = None,
    limit: int | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List relations by subject, kind and object, with their evidence."""
    return call(
        'GET',
        '/v1/spaces/{space}/graph/relations',
        parts={'space': space},
        params={'subject': subject, 'kinds': kinds, 'target': target, 'limit': limit, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def state_relation(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """State a relation. It is stored as a memory of the kind `relation`, with a sentence as its text."""
    return call(
        'POST',
        '/v1/spaces/{space}/graph/relations',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def correct_relation(
    space: str,
    memory_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Change a relation that somebody has stated, by the id of its memory."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/graph/relations/{memory_id}',
        parts={'space': space, 'memory_id': memory_id},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def retract_statement(
    space: str,
    memory_id: str,
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete what somebody has stated of an entity or a relation, by the id of its memory; its history stays."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/graph/statements/{memory_id}',
        parts={'space': space, 'memory_id': memory_id},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        once=True,
    )


def import_memories(
    space: str,
    body: bytes | Iterable[bytes] | AsyncIterable[bytes],
    *,
    content_type: str = 'application/x-ndjson',
    atomic: bool | None = None,
    dry_run: bool | None = None,
    task: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Import an export, or the memories of another system."""
    return call(
        'POST',
        '/v1/spaces/{space}/import',
        parts={'space': space},
        params={'atomic': atomic, 'dry_run': dry_run, 'task': task},
        headers={'Content-Type': content_type, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        content=body,
        once=True,
        long=True,
    )


def list_imports(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the imports, newest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/imports',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def undo_import(
    space: str,
    import_id: str,
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete all memories that an import has added."""
    return call(
        'POST',
        '/v1/spaces/{space}/imports/{import_id}/undo',
        parts={'space': space, 'import_id': import_id},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def lint_space(
    space: str,
    *,
    checks: str | None = None,
    oversized_tokens: int | None = None,
    never_recalled_days: float | None = None,
    stale_days: float | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Report what is wrong with the memories of a space, and how to fix it."""
    return call(
        'GET',
        '/v1/spaces/{space}/lint',
        parts={'space': space},
        params={'checks': checks, 'oversized_tokens': oversized_tokens, 'never_recalled_days': never_recalled_days, 'stale_days': stale_days, 'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_memories(
    space: str,
    *,
    limit: int | None = None,
    sort: str | None = None,
    cursor: str | None = None,
    as_of: str | None = None,
    filter: str | None = None,
    filters: Mapping[str, Any] | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List memories, newest first unless `sort` names another order."""
    return call(
        'GET',
        '/v1/spaces/{space}/memories',
        parts={'space': space},
        params={'limit': limit, 'sort': sort, 'cursor': cursor, 'as_of': as_of, 'filter': filter, 'filters': filters},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def add_memory(
    space: str,
    body: Mapping[str, Any],
    *,
    on_conflict: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    prefer: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Add a memory."""
    return call(
        'POST',
        '/v1/spaces/{space}/memories',
        parts={'space': space},
        params={'on_conflict': on_conflict, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Prefer': prefer, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def add_memories(
    space: str,
    body: Mapping[str, Any],
    *,
    atomic: bool | None = None,
    on_conflict: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Add 1 to 1,000 memories."""
    return call(
        'POST',
        '/v1/spaces/{space}/memories/batch',
        parts={'space': space},
        params={'atomic': atomic, 'on_conflict': on_conflict, 'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_memory(
    space: str,
    memory_id: str,
    *,
    as_of: str | None = None,
    no_touch: bool | None = None,
    if_none_match: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read a memory."""
    return call(
        'GET',
        '/v1/spaces/{space}/memories/{memory_id}',
        parts={'space': space, 'memory_id': memory_id},
        params={'as_of': as_of, 'no_touch': no_touch},
        headers={'If-None-Match': if_none_match, 'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def update_memory(
    space: str,
    memory_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    prefer: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Change a memory."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/memories/{memory_id}',
        parts={'space': space, 'memory_id': memory_id},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Prefer': prefer, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def delete_memory(
    space: str,
    memory_id: str,
    *,
    purge: bool | None = None,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a memory."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/memories/{memory_id}',
        parts={'space': space, 'memory_id': memory_id},
        params={'purge': purge, 'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        once=True,
    )


def give_feedback(
    space: str,
    memory_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Say that a memory was useful, or that it was not."""
    return call(
        'PUT',
        '/v1/spaces/{space}/memories/{memory_id}/feedback',
        parts={'space': space, 'memory_id': memory_id},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def get_history(
    space: str,
    memory_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read versions of a memory, newest first, and what each has changed."""
    return call(
        'GET',
        '/v1/spaces/{space}/memories/{memory_id}/history',
        parts={'space': space, 'memory_id': memory_id},
        params={'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def restore_memory(
    space: str,
    memory_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Restore an earlier version of a memory."""
    return call(
        'POST',
        '/v1/spaces/{space}/memories/{memory_id}/restore',
        parts={'space': space, 'memory_id': memory_id},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def supersede_memory(
    space: str,
    memory_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Put a new memory in place of a current one."""
    return call(
        'POST',
        '/v1/spaces/{space}/memories/{memory_id}/supersede',
        parts={'space': space, 'memory_id': memory_id},
        params={'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_telemetry(
    space: str,
    memory_id: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read how often a memory was retrieved, when last, and its feedback."""
    return call(
        'GET',
        '/v1/spaces/{space}/memories/{memory_id}/telemetry',
        parts={'space': space, 'memory_id': memory_id},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def merge_spaces(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Take over the changes of another space since it was forked from this one, or last merged into it."""
    return call(
        'POST',
        '/v1/spaces/{space}/merge',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def set_policy(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Set what a space does with secrets, personal data and echoes, and how long it keeps versions and memories."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/policy',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def list_probes(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the probes, oldest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/probes',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def add_probe(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Add a question and the memory that it should find."""
    return call(
        'POST',
        '/v1/spaces/{space}/probes',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def run_probes(
    space: str,
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Ask all questions, and store the rank at which each found the expected memory."""
    return call(
        'POST',
        '/v1/spaces/{space}/probes/run',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def list_probe_runs(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the last 20 runs, newest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/probes/runs',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def delete_probe(
    space: str,
    probe_id: str,
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a probe."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/probes/{probe_id}',
        parts={'space': space, 'probe_id': probe_id},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def promote(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make candidates active that were retrieved often enough."""
    return call(
        'POST',
        '/v1/spaces/{space}/promote',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def prune(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Deprecate candidates that are old and were hardly retrieved."""
    return call(
        'POST',
        '/v1/spaces/{space}/prune',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def purge(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    task: bool | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Erase memories for good: of an author, of a source, by a filter, by age, or everything."""
    return call(
        'POST',
        '/v1/spaces/{space}/purge',
        parts={'space': space},
        params={'dry_run': dry_run, 'task': task},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def set_quota(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Set how much a space may hold."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/quota',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def list_reads(
    space: str,
    *,
    after: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    last_event_id: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the reads of a space in this process, newest first, or listen to them."""
    return call(
        'GET',
        '/v1/spaces/{space}/reads',
        parts={'space': space},
        params={'after': after, 'limit': limit, 'cursor': cursor},
        headers={'Last-Event-ID': last_event_id, 'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def forget_reads(
    space: str,
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Forget the reads of a space in this process, and its questions that found nothing."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/reads',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def list_unanswered(
    space: str,
    *,
    limit: int | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the questions of a space that found nothing, the most frequent first."""
    return call(
        'GET',
        '/v1/spaces/{space}/reads/unanswered',
        parts={'space': space},
        params={'limit': limit},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_receipts(
    space: str,
    *,
    actor: str | None = None,
    since: str | None = None,
    until: str | None = None,
    evidence: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List receipts of a space, newest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/receipts',
        parts={'space': space},
        params={'actor': actor, 'since': since, 'until': until, 'evidence': evidence, 'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def roll_back(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Restore the whole space as it was at a point."""
    return call(
        'POST',
        '/v1/spaces/{space}/rollback',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def search(
    space: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Find the memories that best answer a query."""
    return call(
        'POST',
        '/v1/spaces/{space}/search',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
        body=body,
    )


def list_sessions(
    space: str,
    *,
    limit: int | None = None,
    sort: str | None = None,
    cursor: str | None = None,
    user: str | None = None,
    state: str | None = None,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the sessions with their sizes, the newest first; `total` counts those on all pages."""
    return call(
        'GET',
        '/v1/spaces/{space}/sessions',
        parts={'space': space},
        params={'limit': limit, 'sort': sort, 'cursor': cursor, 'user': user, 'state': state, 'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def create_session(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make a session. Streaming turns in makes a missing one, too. The key must read, as well."""
    return call(
        'POST',
        '/v1/spaces/{space}/sessions',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def get_session(
    space: str,
    session: str,
    *,
    category: str | None = None,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read a session with the sizes of its conversations."""
    return call(
        'GET',
        '/v1/spaces/{space}/sessions/{session}',
        parts={'space': space, 'session': session},
        params={'category': category, 'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def update_session(
    space: str,
    session: str,
    body: Mapping[str, Any],
    *,
    category: str | None = None,
    dry_run: bool | None = None,
    if_match: str | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Change a session: title, users, metadata, tags, or its state."""
    return call(
        'PATCH',
        '/v1/spaces/{space}/sessions/{session}',
        parts={'space': space, 'session': session},
        params={'category': category, 'dry_run': dry_run},
        headers={'If-Match': if_match, 'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def delete_session(
    space: str,
    session: str,
    *,
    category: str | None = None,
    purge: bool | None = None,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a session with its conversations, their topics and exchanges, as one step."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/sessions/{session}',
        parts={'space': space, 'session': session},
        params={'category': category, 'purge': purge, 'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def summarise_session(
    space: str,
    session: str,
    body: Mapping[str, Any],
    *,
    muisti_min_seq: str | None = None,
) -> Call:
    """Read the summary of a session, made from those of its conversations where it is missing or stale."""
    return call(
        'POST',
        '/v1/spaces/{space}/sessions/{session}/summary',
        parts={'space': space, 'session': session},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def get_stats(
    space: str,
    *,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Read the sizes and rates of a space."""
    return call(
        'GET',
        '/v1/spaces/{space}/stats',
        parts={'space': space},
        params={'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def summarise_space(
    space: str,
    *,
    category: str | None = None,
    idempotency_key: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Make the topics and summaries of all conversations that are missing or stale, as a task."""
    return call(
        'POST',
        '/v1/spaces/{space}/summaries',
        parts={'space': space},
        params={'category': category},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Min-Seq': muisti_min_seq},
        once=True,
    )


def list_tags(
    space: str,
    *,
    as_of: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Count the active memories of each tag."""
    return call(
        'GET',
        '/v1/spaces/{space}/tags',
        parts={'space': space},
        params={'as_of': as_of},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_tasks(
    space: str,
    *,
    state: str | None = None,
    kind: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List tasks, newest first."""
    return call(
        'GET',
        '/v1/spaces/{space}/tasks',
        parts={'space': space},
        params={'state': state, 'kind': kind, 'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def get_task(
    space: str,
    task_id: str,
    *,
    wait: float | None = None,
    after: int | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Show how far a task is."""
    return call(
        'GET',
        '/v1/spaces/{space}/tasks/{task_id}',
        parts={'space': space, 'task_id': task_id},
        params={'wait': wait, 'after': after},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def cancel_task(
    space: str,
    task_id: str,
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Cancel a task."""
    return call(
        'POST',
        '/v1/spaces/{space}/tasks/{task_id}/cancel',
        parts={'space': space, 'task_id': task_id},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def follow_task(
    space: str,
    task_id: str,
    *,
    last_event_id: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """Follow a task as a stream of events, until it is over."""
    return call(
        'GET',
        '/v1/spaces/{space}/tasks/{task_id}/events',
        parts={'space': space, 'task_id': task_id},
        headers={'Last-Event-ID': last_event_id, 'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def list_task_items(
    space: str,
    task_id: str,
    *,
    state: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the items of a task in their order, each with its error if it has failed."""
    return call(
        'GET',
        '/v1/spaces/{space}/tasks/{task_id}/items',
        parts={'space': space, 'task_id': task_id},
        params={'state': state, 'limit': limit, 'cursor': cursor},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def undo(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
    muisti_allow: str | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Undo your last call, another request, or the last changes of memories of an author."""
    return call(
        'POST',
        '/v1/spaces/{space}/undo',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Idempotency-Key': idempotency_key, 'Muisti-Allow': muisti_allow, 'Muisti-Min-Seq': muisti_min_seq},
        body=body,
        once=True,
    )


def list_webhooks(
    space: str,
    *,
    muisti_min_seq: str | None = None,
    muisti_freshness: str | None = None,
) -> Call:
    """List the webhooks of a space, with the last change delivered to each and the failed deliveries."""
    return call(
        'GET',
        '/v1/spaces/{space}/webhooks',
        parts={'space': space},
        headers={'Muisti-Min-Seq': muisti_min_seq, 'Muisti-Freshness': muisti_freshness},
    )


def create_webhook(
    space: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Send the changes of a space to an address, from now on."""
    return call(
        'POST',
        '/v1/spaces/{space}/webhooks',
        parts={'space': space},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )


def delete_webhook(
    space: str,
    webhook_id: str,
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Delete a webhook."""
    return call(
        'DELETE',
        '/v1/spaces/{space}/webhooks/{webhook_id}',
        parts={'space': space, 'webhook_id': webhook_id},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
    )


def redeliver_webhook(
    space: str,
    webhook_id: str,
    body: Mapping[str, Any],
    *,
    dry_run: bool | None = None,
    muisti_min_seq: str | None = None,
) -> Call:
    """Deliver failed changes again, or all changes after one."""
    return call(
        'POST',
        '/v1/spaces/{space}/webhooks/{webhook_id}/redeliver',
        parts={'space': space, 'webhook_id': webhook_id},
        params={'dry_run': dry_run},
        headers={'Muisti-Min-Seq': muisti_min_seq},
        body=body,
    )

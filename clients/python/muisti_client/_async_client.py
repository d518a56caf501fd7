"""Made from the OpenAPI document of the server by generate.py."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from . import calls
from ._async_transport import AsyncTransport

if TYPE_CHECKING:  # a thirtieth of a second
    from . import types


class AsyncMuisti(AsyncTransport):
    """A method for each operation of the API. Answers are the JSON as it came, with the types of `types`."""

    async def get_resource_metadata(
        self,
    ) -> types.ResourceReply:
        """Read where tokens for the HTTP API come from. Only a server that takes tokens has this."""
        reply = await self.send(calls.get_resource_metadata())
        return reply.data

    async def get_mcp_metadata(
        self,
    ) -> types.ResourceReply:
        """Read where tokens for MCP come from. Only a server that takes tokens has this."""
        reply = await self.send(calls.get_mcp_metadata())
        return reply.data

    async def get_docs(
        self,
    ) -> str:
        """Browse the API and try it."""
        reply = await self.send(calls.get_docs())
        return reply.data

    async def get_health(
        self,
    ) -> types.AliveReply:
        """Say that the process answers."""
        reply = await self.send(calls.get_health())
        return reply.data

    async def get_metrics(
        self,
    ) -> str:
        """Read metrics, for Prometheus. The answer covers the whole server, as text, or as OpenMetrics when `Accept` names that. Needs a key of all spaces, or the one of the setting `MUISTI_METRICS_KEY`, which opens nothing else. Needs the scope admin."""
        reply = await self.send(calls.get_metrics())
        return reply.data

    async def get_openapi(
        self,
    ) -> dict[str, Any]:
        """Read this document."""
        reply = await self.send(calls.get_openapi())
        return reply.data

    async def get_problem(
        self,
        code: str,
    ) -> types.KindReply:
        """Explain a kind of error: the `type` of every problem leads here."""
        reply = await self.send(calls.get_problem(code))
        return reply.data

    async def get_readiness(
        self,
    ) -> types.ReadyReply:
        """Say whether the service can do its work. 503 when the database does not answer, or its file was deleted, moved or replaced while it was open; 500 when it is damaged. Callers with a key also get the version and details; while there are no keys, all callers do."""
        reply = await self.send(calls.get_readiness())
        return reply.data

    async def get_access(
        self,
    ) -> types.AccessReply:
        """Read what the caller may do: its scopes, its spaces, and until when. Needs a key."""
        reply = await self.send(calls.get_access())
        return reply.data

    async def list_audit(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AuditReply:
        """Read the audit log, newest first. The log says who made or ended keys and spaces and who deleted memories, without content. Needs a key of all spaces. Needs the scope admin."""
        reply = await self.send(calls.list_audit(limit=limit, cursor=cursor))
        return reply.data

    async def list_keys(
        self,
    ) -> types.KeysReply:
        """List keys. The caller's own and those made with it; with the scope admin, all of the caller's spaces. Needs a key."""
        reply = await self.send(calls.list_keys())
        return reply.data

    async def create_key(
        self,
        body: types.KeyBody,
    ) -> types.MadeKeyReply:
        """Make a key. It has at most the rights of the key that makes it, and ends with that key. Only this answer has its secret. Needs a key."""
        reply = await self.send(calls.create_key(body))
        return reply.data

    async def get_key(
        self,
        key_id: str,
    ) -> types.KeyReply:
        """Read a key. Needs a key."""
        reply = await self.send(calls.get_key(key_id))
        return reply.data

    async def revoke_key(
        self,
        key_id: str,
    ) -> None:
        """Revoke a key. The key and all keys made with it stop working now; in other processes within a second. Needs a key."""
        reply = await self.send(calls.revoke_key(key_id))
        return reply.data

    async def rotate_key(
        self,
        key_id: str,
        body: types.RotateBody,
    ) -> types.MadeKeyReply:
        """Replace a key. The new key has the rights of the old one, which still works for a while. Needs a key."""
        reply = await self.send(calls.rotate_key(key_id, body))
        return reply.data

    async def get_receipt(
        self,
        receipt_id: str,
    ) -> types.ReceiptReply:
        """Read the request and the answer of a search. Needs the scope read."""
        reply = await self.send(calls.get_receipt(receipt_id))
        return reply.data

    async def replay_receipt(
        self,
        receipt_id: str,
        *,
        then: bool | None = None,
    ) -> types.ReplayReply:
        """Repeat a search or a context, and read what differs and why. Ages count from now, unless the request named a `reference_time`. With `then` the search sees the space as the first search saw it, but uses the current model. Memories that it finds do not count as retrieved. Needs the scope read."""
        reply = await self.send(calls.replay_receipt(receipt_id, then=then))
        return reply.data

    async def search_spaces(
        self,
        body: types.JointSearchBody,
    ) -> types.JointReply:
        """Find the memories of several spaces that best answer a query. The key must open each of them, inherited ones too. The score of a memory is that in its own space, times the weight of the space. An error of one space is an error of all. `spaces` of the answer tells the point in the history of each. Needs the scope read."""
        reply = await self.send(calls.search_spaces(body))
        return reply.data

    async def get_server_stats(
        self,
    ) -> types.ServerStatsReply:
        """Read how long each operation takes. The answer covers all workers of the server since their start: for each operation the number of requests, the mean and percentiles. Needs a key of all spaces. Needs the scope admin."""
        reply = await self.send(calls.get_server_stats())
        return reply.data

    async def get_signing_keys(
        self,
    ) -> types.SigningKeysReply:
        """Read the public keys that reports are signed with. A set of JSON web keys (RFC 7517, Ed25519)."""
        reply = await self.send(calls.get_signing_keys())
        return reply.data

    async def list_spaces(
        self,
    ) -> types.SpacesReply:
        """List the spaces. The list has the spaces that the key may use, and their sizes by counters: it reads no memory. Needs a key."""
        reply = await self.send(calls.list_spaces())
        return reply.data

    async def create_space(
        self,
        body: types.SpaceBody,
        *,
        dry_run: bool | None = None,
    ) -> types.DryRunReply | types.SpaceReply:
        """Create a space. The grant of the key must include its name. Needs the scope admin."""
        reply = await self.send(calls.create_space(body, dry_run=dry_run))
        return reply.data

    async def get_space(
        self,
        space: str,
    ) -> types.SpaceReply:
        """Read a space. Needs the scope read."""
        reply = await self.send(calls.get_space(space))
        return reply.data

    async def delete_space(
        self,
        space: str,
        *,
        confirm: str,
        dry_run: bool | None = None,
    ) -> types.ErasureReply | types.DryRunReply:
        """Erase a space with all that is in it. The answer is a signed report of the places that were searched. The default space always exists and can only be emptied: `POST …/purge` with `everything`. Needs the scope admin."""
        reply = await self.send(calls.delete_space(space, confirm=confirm, dry_run=dry_run))
        return reply.data

    async def adopt_conversations(
        self,
        space: str,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.AdoptedReply | types.DryRunReply:
        """Make exchanges of the memories whose metadata has a `session` and a `turn`. Missing conversations are made. Texts stay as they are, and what was adopted is left alone by a repetition. Needs the scope write."""
        reply = await self.send(calls.adopt_conversations(space, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_categories(
        self,
        space: str,
        *,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.CountsReply:
        """Count the active memories of each category. Needs the scope read."""
        reply = await self.send(calls.list_categories(space, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_changes(
        self,
        space: str,
        *,
        since: str | None = None,
        limit: int | None = None,
        change: str | None = None,
        show: Literal['ids', 'after', 'both'] | None = None,
        filter: str | None = None,
        filters: Mapping[str, Any] | None = None,
        last_event_id: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ChangesReply:
        """Read the changes of a space, oldest first, or listen to them. Every other parameter is a filter, as in a list; a change passes when its memory passes, before or after the change. With `Accept: text/event-stream` the answer is a stream of changes until the client disconnects. Without a point to resume from, the stream begins now. Needs the scope read."""
        reply = await self.send(calls.list_changes(space, since=since, limit=limit, change=change, show=show, filter=filter, filters=filters, last_event_id=last_event_id, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_checkpoints(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.CheckpointsReply:
        """List the checkpoints, newest first. Needs the scope read."""
        reply = await self.send(calls.list_checkpoints(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def create_checkpoint(
        self,
        space: str,
        body: types.CheckpointBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.CheckpointReply:
        """Name the current point of the space's history. The versions at that point are kept until the checkpoint is deleted, even beyond the retention of the space. Needs the scope write."""
        reply = await self.send(calls.create_checkpoint(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_checkpoint(
        self,
        space: str,
        checkpoint: str,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | None:
        """Delete a checkpoint. The retention of the space then applies to its point of history. No memory changes. Needs the scope write."""
        reply = await self.send(calls.delete_checkpoint(space, checkpoint, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def clear_space(
        self,
        space: str,
        body: types.ClearBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ClearedReply | types.DryRunReply:
        """Delete all memories of the space. Their histories stay, and rolling back to the answer's `before` brings them back. To erase them for good, purge. Needs the scope delete."""
        reply = await self.send(calls.clear_space(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_callees(
        self,
        space: str,
        *,
        symbol: str,
        kinds: str | None = None,
        limit: int | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.UsesReply:
        """List what a symbol calls. What is defined inside of it counts: the methods of a class, functions in functions. Needs the scope read."""
        reply = await self.send(calls.get_callees(space, symbol=symbol, kinds=kinds, limit=limit, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_callers(
        self,
        space: str,
        *,
        symbol: str,
        kinds: str | None = None,
        limit: int | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.UsesReply:
        """List what calls a symbol, by file and line. Names are resolved by scopes, imports and types: an equal name elsewhere is no use. When several symbols have the name, `of` says which is used. Needs the scope read."""
        reply = await self.send(calls.get_callers(space, symbol=symbol, kinds=kinds, limit=limit, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_code_map(
        self,
        space: str,
        *,
        token_budget: int | None = None,
        mentioned: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.CodeMapReply:
        """Make a text of the definitions that are used most, within a number of tokens. Definitions are ranked by PageRank over their uses. `mentioned` draws the rank to files and symbols. Needs the scope read."""
        reply = await self.send(calls.get_code_map(space, token_budget=token_budget, mentioned=mentioned, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_outline(
        self,
        space: str,
        *,
        path: str,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.OutlineReply:
        """List the symbols of a file in order, and the files of the space that it imports. Needs the scope read."""
        reply = await self.send(calls.get_outline(space, path=path, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def find_symbols(
        self,
        space: str,
        *,
        name: str,
        kind: Literal['function', 'method', 'class', 'interface', 'type', 'constant', 'object'] | None = None,
        path: str | None = None,
        limit: int | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.SymbolsReply:
        """Find functions, classes, methods and constants by their name. Symbols of exactly this name come first. When there are none, those whose names contain it are found. Needs the scope read."""
        reply = await self.send(calls.find_symbols(space, name=name, kind=kind, path=path, limit=limit, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def compare_spaces(
        self,
        space: str,
        *,
        other: str,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ComparisonReply:
        """Preview a merge of another space into this one. The answer lists, memory by memory, what each side has changed since both were the same. The order is that of the ids in the other space. Needs the scope read."""
        reply = await self.send(calls.compare_spaces(space, other=other, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_conflicts(
        self,
        space: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ConflictsReply:
        """List the conflicts that wait for a decision, newest first. They come from writes with `on_conflict` `review`. A conflict closes by itself when the text of either memory changes, or either memory is no longer current. Needs the scope read."""
        reply = await self.send(calls.list_conflicts(space, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def decide_conflict(
        self,
        space: str,
        conflict_id: str,
        body: types.DecisionBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DecidedReply | types.DryRunReply:
        """Decide a conflict. With `keep` both memories stay. With `supersede` the new one supersedes the existing one, and takes over its address when it has none. With `reject` the new one is deleted, which needs the scope `delete` too. Needs the scope write."""
        reply = await self.send(calls.decide_conflict(space, conflict_id, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_context(
        self,
        space: str,
        body: types.ContextBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.ContextReply:
        """Make a text for a prompt from what is remembered, within a number of tokens. The best memory is always there. Long memories are shown in pieces, short ones whole, in order of time. The text marks them as data; `citations` say where each is. `spaces` names further spaces to search, with weights; the key must open each of them. Needs the scope read."""
        reply = await self.send(calls.get_context(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def optimize_text(
        self,
        space: str,
        body: types.OptimizeBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.OptimizedReply:
        """Compress a text to a number of tokens, by leaving out sentences and blocks of code. Nothing is stored. A text that fits comes back as it is. Needs the scope read."""
        reply = await self.send(calls.optimize_text(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_conversations(
        self,
        space: str,
        *,
        limit: int | None = None,
        sort: Literal['-last_at', 'last_at', '-created_at', 'created_at', 'name', '-name'] | None = None,
        cursor: str | None = None,
        session: str | None = None,
        user: str | None = None,
        state: Literal['open', 'closed'] | None = None,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ConversationsReply:
        """List conversations with their sizes, those with the latest turn first; `total` counts those on all pages. Needs the scope read."""
        reply = await self.send(calls.list_conversations(space, limit=limit, sort=sort, cursor=cursor, session=session, user=user, state=state, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def create_conversation(
        self,
        space: str,
        body: types.ConversationBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.ConversationReply:
        """Make a conversation. Streaming turns in makes a missing one, too. The key must read, as well. Needs the scope append."""
        reply = await self.send(calls.create_conversation(space, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_conversation(
        self,
        space: str,
        conversation: str,
        *,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ConversationReply:
        """Read a conversation: its title, users and state, and how many turns, tokens and topics it has. Needs the scope read."""
        reply = await self.send(calls.get_conversation(space, conversation, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def update_conversation(
        self,
        space: str,
        conversation: str,
        body: types.ConversationPatch,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ConversationReply | types.DryRunReply:
        """Change a conversation: rename it by `title`, move it by `session`, close or reopen it by `state`. Its name stays, because exchanges name it. A session that is not there is made. A closed conversation takes no turns. Needs the scope write."""
        reply = await self.send(calls.update_conversation(space, conversation, body, category=category, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_conversation(
        self,
        space: str,
        conversation: str,
        *,
        category: str | None = None,
        purge: bool | None = None,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.EndedReply | types.ErasureReply | types.DryRunReply:
        """Delete a conversation with its topics and exchanges, as one step. Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is a signed report. Needs the scope delete."""
        reply = await self.send(calls.delete_conversation(space, conversation, category=category, purge=purge, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_exchanges(
        self,
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
    ) -> types.ExchangesReply:
        """List the exchanges of a conversation in the order of their turns. Needs the scope read."""
        reply = await self.send(calls.list_exchanges(space, conversation, limit=limit, from_=from_, to=to, cursor=cursor, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def add_exchanges(
        self,
        space: str,
        conversation: str,
        body: types.ExchangesBody,
        *,
        session: str | None = None,
        category: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.StreamedReply | types.DryRunReply:
        """Stream 1 to 1,000 turns into a conversation, all or none. A conversation that is not there is made, and its session. When the answer arrives, the turns are on disk and every search finds them. A turn that is there with the same content is `replayed`; with other content it is refused. Turns without a number take the next ones; send an `Idempotency-Key` with those. A body of application/x-ndjson has one turn a line. The key must read, as well. Needs the scope append."""
        reply = await self.send(calls.add_exchanges(space, conversation, body, session=session, category=category, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def summarise_exchange(
        self,
        space: str,
        conversation: str,
        turn: str,
        *,
        category: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.SummaryReply:
        """Read the summary of a long exchange, made where it is missing or stale; a short one is its own summary. Needs the scope write."""
        reply = await self.send(calls.summarise_exchange(space, conversation, turn, category=category, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def merge_topics(
        self,
        space: str,
        conversation: str,
        body: types.MergeTopicsBody,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ChangedTopicsReply | types.DryRunReply:
        """Merge topics into the first of them. An undo of the request brings the others back. Needs the scope write."""
        reply = await self.send(calls.merge_topics(space, conversation, body, category=category, dry_run=dry_run, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def suggest_preferences(
        self,
        space: str,
        conversation: str,
        *,
        from_: int | None = None,
        category: str | None = None,
        dry_run: bool | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.SuggestionsReply | types.DryRunReply:
        """Store preferences that users state in a conversation as candidates, about 50 at most, of 1,000 turns. Rules find them, in English. Each is derived from its turn, and is no part of a profile until it becomes active. What a current memory says already is a `duplicate`, and is not stored. `dry_run` shows them. The key must read, too. Needs the scope append."""
        reply = await self.send(calls.suggest_preferences(space, conversation, from_=from_, category=category, dry_run=dry_run, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_summaries(
        self,
        space: str,
        conversation: str,
        *,
        category: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.SummariesReply:
        """Read the summaries of a conversation: of each topic, then of all. They are made when a topic is complete. Needs the scope read."""
        reply = await self.send(calls.list_summaries(space, conversation, category=category, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def summarise_conversation(
        self,
        space: str,
        conversation: str,
        body: types.SummariseBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.MadeSummariesReply:
        """Make the summaries of a conversation that are missing or stale, with the turns that have no topic yet. A summary that is up to date stays, whatever the method. The answer has the new ones. `abstractive` has the operator's language model write them; where there is none, or it fails, `degraded` says so. Needs the scope write."""
        reply = await self.send(calls.summarise_conversation(space, conversation, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_topics(
        self,
        space: str,
        conversation: str,
        *,
        limit: int | None = None,
        sort: Literal['-last_at', 'last_at', '-created_at', 'created_at', 'name', '-name'] | None = None,
        cursor: str | None = None,
        state: Literal['open', 'closed'] | None = None,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TopicsReply:
        """List the topics of a conversation with their sizes; `total` counts those on all pages. Needs the scope read."""
        reply = await self.send(calls.list_topics(space, conversation, limit=limit, sort=sort, cursor=cursor, state=state, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def create_topic(
        self,
        space: str,
        conversation: str,
        body: types.TopicBody,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.TopicReply:
        """Make a topic of a conversation: stretches of its turns under one title. The key must read, as well. Needs the scope append."""
        reply = await self.send(calls.create_topic(space, conversation, body, category=category, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        *,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TopicReply:
        """Read a topic with its stretches of turns and its sizes. Needs the scope read."""
        reply = await self.send(calls.get_topic(space, conversation, topic, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def update_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        body: types.TopicPatch,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.TopicReply | types.DryRunReply:
        """Change a topic: its title, its stretches of turns, metadata, tags or state. Needs the scope write."""
        reply = await self.send(calls.update_topic(space, conversation, topic, body, category=category, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        *,
        category: str | None = None,
        purge: bool | None = None,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.EndedReply | types.ErasureReply | types.DryRunReply:
        """Delete a topic. The exchanges stay in their conversation. An undo of the request brings it back. With `purge` nothing stays, and the answer is a signed report. Needs the scope delete."""
        reply = await self.send(calls.delete_topic(space, conversation, topic, category=category, purge=purge, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def move_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        body: types.MoveTopicBody,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ChangedTopicsReply | types.DryRunReply:
        """Move the border between a topic and the one before it. Needs the scope write."""
        reply = await self.send(calls.move_topic(space, conversation, topic, body, category=category, dry_run=dry_run, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def split_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        body: types.SplitTopicBody,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ChangedTopicsReply | types.DryRunReply:
        """Split a topic before a turn. Later turns never change a topic that was changed so. Needs the scope write."""
        reply = await self.send(calls.split_topic(space, conversation, topic, body, category=category, dry_run=dry_run, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_working_memory(
        self,
        space: str,
        conversation: str,
        *,
        token_budget: int | None = None,
        encoding: Literal['cl100k_base', 'o200k_base'] | None = None,
        category: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.WorkingReply:
        """Read the working memory of a conversation: what is kept for it, and the turns that are worth their tokens now. Whatever does not fit is in `evicted`, and stays searchable. The text and the reserved tokens never take more than the budget. Needs the scope read."""
        reply = await self.send(calls.get_working_memory(space, conversation, token_budget=token_budget, encoding=encoding, category=category, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def keep_in_working_memory(
        self,
        space: str,
        conversation: str,
        key: str,
        body: types.WorkingEntryBody,
        *,
        token_budget: int | None = None,
        encoding: Literal['cl100k_base', 'o200k_base'] | None = None,
        category: str | None = None,
        dry_run: bool | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WorkingEntryReply | types.DryRunReply:
        """Keep a memory, a text or free tokens in the working memory of a conversation, at a key of your own. What is pinned must fit the budget all together. It ends with its time, with the memory, or with the conversation. Needs the scope write."""
        reply = await self.send(calls.keep_in_working_memory(space, conversation, key, body, token_budget=token_budget, encoding=encoding, category=category, dry_run=dry_run, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def release_from_working_memory(
        self,
        space: str,
        conversation: str,
        key: str,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | None:
        """Release what working memory keeps at a key. The memory itself stays. Needs the scope write."""
        reply = await self.send(calls.release_from_working_memory(space, conversation, key, category=category, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def diff_space(
        self,
        space: str,
        *,
        since: str,
        until: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.DiffReply:
        """Read the differences between two points. The answer names the memories that were added, changed and ended, field by field. Memories that were added and ended between the points are left out. A page may have fewer items than `limit` and still have a next one. Needs the scope read."""
        reply = await self.send(calls.diff_space(space, since=since, until=until, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_documents(
        self,
        space: str,
        *,
        folder: str | None = None,
        media_type: str | None = None,
        language: str | None = None,
        category: str | None = None,
        limit: int | None = None,
        sort: Literal['path', '-path', '-indexed_at', 'indexed_at'] | None = None,
        cursor: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.DocumentsReply:
        """List documents, with the number and the size of those on all pages. Needs the scope read."""
        reply = await self.send(calls.list_documents(space, folder=folder, media_type=media_type, language=language, category=category, limit=limit, sort=sort, cursor=cursor, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def add_documents(
        self,
        space: str,
        body: types.DocumentBody,
        *,
        strategy: Literal['auto', 'recursive', 'sentence', 'fixed', 'heading', 'ast'] | None = None,
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
    ) -> types.PutReply | types.DryRunReply | types.TaskReply:
        """Store files or a text as documents. The body is JSON with a text, one file as it is, or a form with several files. A small file is stored before the answer; for all else the answer is 202 with a task. A document at the same path is replaced, and chunks whose text is still there stay. A file that is the same is not written at all. An archive becomes a document for each file in it. Parameters are for files; in JSON they are fields. Needs the scope write."""
        reply = await self.send(calls.add_documents(space, body, strategy=strategy, size=size, overlap=overlap, main_content=main_content, category=category, tags=tags, mtime=mtime, wait=wait, dry_run=dry_run, path=path, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def preview_document(
        self,
        space: str,
        body: types.DocumentBody,
        *,
        strategy: Literal['auto', 'recursive', 'sentence', 'fixed', 'heading', 'ast'] | None = None,
        size: int | None = None,
        overlap: int | None = None,
        main_content: bool | None = None,
        path: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.PreviewReply:
        """Show where a file or a text would be cut. Nothing is stored. Needs the scope read."""
        reply = await self.send(calls.preview_document(space, body, strategy=strategy, size=size, overlap=overlap, main_content=main_content, path=path, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def prune_documents(
        self,
        space: str,
        body: types.PruneDocumentsBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.PruneDocumentsReply | types.DryRunReply:
        """End what has lost its source: documents of code, chunks without a document, imported entities that nothing names. A document of code is stale when the server read its file itself, and the file is gone or has changed. A rollback to the point before brings everything back; an undo all but chunks whose memory is gone. Needs the scope delete."""
        reply = await self.send(calls.prune_documents(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def sync_documents(
        self,
        space: str,
        body: types.SyncBody,
        *,
        dry_run: bool | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.SyncReply | types.DryRunReply:
        """Compare the documents of a folder with the files that exist. Documents whose file is gone end. Where a new file has the same SHA-256, they move to its path instead, and nothing is embedded again. `wanted` names files that are new or have changed; a dry run tells only what is stale, for which `read` suffices. Else it needs the scopes `write` and `delete`. Needs the scope read."""
        reply = await self.send(calls.sync_documents(space, body, dry_run=dry_run, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_document(
        self,
        space: str,
        document: str,
        *,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.DocumentReply:
        """Read what is known of a document, by its id or path. A slash in the path is sent as `%2F`. Needs the scope read."""
        reply = await self.send(calls.get_document(space, document, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def put_document(
        self,
        space: str,
        document: str,
        body: types.DocumentBody,
        *,
        strategy: Literal['auto', 'recursive', 'sentence', 'fixed', 'heading', 'ast'] | None = None,
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
    ) -> types.PutReply | types.DryRunReply | types.TaskReply:
        """Store a file or a text as the document at a path. A slash in the path is sent as `%2F`. Needs the scope write."""
        reply = await self.send(calls.put_document(space, document, body, strategy=strategy, size=size, overlap=overlap, main_content=main_content, category=category, tags=tags, mtime=mtime, wait=wait, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_document(
        self,
        space: str,
        document: str,
        *,
        category: str | None = None,
        purge: bool | None = None,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DocumentEndedReply | types.ErasureReply | types.DryRunReply:
        """Delete a document with its chunks, as one step. Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is a signed report. Needs the scope delete."""
        reply = await self.send(calls.delete_document(space, document, category=category, purge=purge, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_chunks(
        self,
        space: str,
        document: str,
        *,
        category: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ChunksReply:
        """List the chunks of a document in order, each with its place in the text. The texts of all chunks, without the overlaps at their starts, join to the text of the document. Needs the scope read."""
        reply = await self.send(calls.list_chunks(space, document, category=category, limit=limit, cursor=cursor, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_text(
        self,
        space: str,
        document: str,
        *,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> str:
        """Read the whole text of a document, at one point of history, however long it is. Needs the scope read."""
        reply = await self.send(calls.get_text(space, document, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_entry(
        self,
        space: str,
        category: str,
        key: str,
        *,
        as_of: str | None = None,
        no_touch: bool | None = None,
        if_none_match: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.MemoryReply:
        """Read the memory at an address. A slash within a category or key is written %2F. Needs the scope read."""
        reply = await self.send(calls.get_entry(space, category, key, as_of=as_of, no_touch=no_touch, if_none_match=if_none_match, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def put_entry(
        self,
        space: str,
        category: str,
        key: str,
        body: types.EntryBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply | None:
        """Store a memory at an address, in place of what is there. 201 when nothing was there. A memory that is there keeps its id and gets a new version, in which nothing of the old one is left. Needs the scope write."""
        reply = await self.send(calls.put_entry(space, category, key, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, prefer=prefer, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def update_entry(
        self,
        space: str,
        category: str,
        key: str,
        body: types.PatchBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply | None:
        """Change the memory at an address. Absent fields stay, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version. Needs the scope write."""
        reply = await self.send(calls.update_entry(space, category, key, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, prefer=prefer, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_entry(
        self,
        space: str,
        category: str,
        key: str,
        *,
        purge: bool | None = None,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ErasureReply | types.DryRunReply | None:
        """Delete the memory at an address. With `purge` it is erased with its history, and the answer is the signed report. A purge takes the memory that is there now, expired or not, and never one that was there before. Repeat a purge by the id in its report. Needs the scope delete."""
        reply = await self.send(calls.delete_entry(space, category, key, purge=purge, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def give_entry_feedback(
        self,
        space: str,
        category: str,
        key: str,
        body: types.FeedbackBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.TelemetryReply | types.DryRunReply:
        """Say that the memory at an address was useful, or that it was not. Only the last verdict of each key counts; null withdraws it. Needs the scopes `read` and `append`. Needs the scope append."""
        reply = await self.send(calls.give_entry_feedback(space, category, key, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_entry_history(
        self,
        space: str,
        category: str,
        key: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.HistoryReply:
        """Read versions of the memory at an address, newest first, and what each has changed. The memory is the one at the address now, expired or not, else the last one that was there. Needs the scope read."""
        reply = await self.send(calls.get_entry_history(space, category, key, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def restore_entry(
        self,
        space: str,
        category: str,
        key: str,
        body: types.RestoreBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply:
        """Restore an earlier version of the memory at an address. The memory at the address now is restored, expired or not, else the last one that was there, even if deleted. Needs the scope write."""
        reply = await self.send(calls.restore_entry(space, category, key, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def supersede_entry(
        self,
        space: str,
        category: str,
        key: str,
        body: types.SupersedeBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.WrittenReply:
        """Put a new memory in place of the one at an address. A body without category and key takes over the address. Needs the scope write."""
        reply = await self.send(calls.supersede_entry(space, category, key, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_entry_telemetry(
        self,
        space: str,
        category: str,
        key: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TelemetryReply:
        """Read how often the memory at an address was retrieved, when last, and its feedback. This request does not count as a retrieval. Needs the scope read."""
        reply = await self.send(calls.get_entry_telemetry(space, category, key, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    def export_space(
        self,
        space: str,
        *,
        vectors: bool | None = None,
        compression: Literal['zstd'] | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export a space, with its history and its vectors. The answer has lines of JSON, in the format of docs/how-to/export.md. They show one point of history, whatever is written meanwhile. The last line counts the others; a file without it is incomplete. Needs a key that sees all of the space. Needs the scope read."""
        return self.pieces(calls.export_space(space, vectors=vectors, compression=compression, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))

    async def fork_space(
        self,
        space: str,
        body: types.ForkBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.SpaceReply:
        """Copy a space. Each current memory is copied with its vectors, as version 1 under a new id. Earlier versions, keys and quotas are not copied. The copy has the policy of the space, which is not applied again to copied memories; its own quota counts. Needs the scope admin."""
        reply = await self.send(calls.fork_space(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_generations(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.GenerationsReply:
        """List the models that have vectors in the space, and those that the server has. A key without the scope `admin` sees the names of models without the folder or the host that they are at. Needs the scope read."""
        reply = await self.send(calls.list_generations(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def build_generation(
        self,
        space: str,
        body: types.BuildBody,
        *,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.TaskReply:
        """Embed the space with a further model, its shadow, as a task. Searches use the model of the space meanwhile, and new text is embedded by both. A space has one shadow. For the model that the space has, the task embeds what is missing. Needs the scope admin."""
        reply = await self.send(calls.build_generation(space, body, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def compare_generations(
        self,
        space: str,
        body: types.CompareBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.ComparedReply:
        """Ask the model of the space and its shadow the same questions: the probes of the space, and those given. Needs the scope admin."""
        reply = await self.send(calls.compare_generations(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def roll_back_generation(
        self,
        space: str,
        body: types.SwitchBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.GenerationReply:
        """Make the model that the space had before the switch its model again. Nothing is embedded. Needs the scope admin."""
        reply = await self.send(calls.roll_back_generation(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def switch_generation(
        self,
        space: str,
        body: types.SwitchBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.GenerationReply:
        """Make the shadow the model of the space, in one step; the model before becomes the shadow. It is refused while vectors are missing, and when the probes of the space find less. Needs the scope admin."""
        reply = await self.send(calls.switch_generation(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def drop_generation(
        self,
        space: str,
        generation: str,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.DroppedReply:
        """Delete the vectors of a model in the space. The model of the space itself is refused. Needs the scope admin."""
        reply = await self.send(calls.drop_generation(space, generation, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_graph(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.GraphReply:
        """Read how much the graph of a space knows, and how many versions are not read yet. Needs the scope read."""
        reply = await self.send(calls.get_graph(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def drop_graph(
        self,
        space: str,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.GraphDroppedReply | types.DryRunReply:
        """Delete what was read from memories; it can be read again. What people have stated stays. Needs the scope admin."""
        reply = await self.send(calls.drop_graph(space, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def build_graph(
        self,
        space: str,
        body: types.BuildGraphBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ExtensionReply | types.DryRunReply | types.TaskReply:
        """Read the versions that are not read yet, as a task. Needs a key that sees all of the space. Single writes are read by themselves; batches, imports and documents leave much to read. Needs the scope write."""
        reply = await self.send(calls.build_graph(space, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_communities(
        self,
        space: str,
        *,
        limit: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.CommunitiesReply:
        """List what belongs together: names that memories mention together more often than by chance. They are found by label propagation, the same in every call. Each has its most telling entities. Needs the scope read."""
        reply = await self.send(calls.list_communities(space, limit=limit, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_entities(
        self,
        space: str,
        *,
        prefix: str | None = None,
        kind: Literal['person', 'organisation', 'place', 'work', 'product', 'event', 'date', 'identifier', 'symbol', 'title', 'other'] | None = None,
        memory: str | None = None,
        sort: Literal['-mentions', 'name'] | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.EntitiesReply:
        """List the people, places and things that memories name, by the beginning of a name and by kind. A name of several spellings is one entity; `aliases` says which other names were merged with it, and why. Needs the scope read."""
        reply = await self.send(calls.list_entities(space, prefix=prefix, kind=kind, memory=memory, sort=sort, limit=limit, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_entity(
        self,
        space: str,
        entity: str,
        *,
        facts: int | None = None,
        memories_: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ProfileReply:
        """Read an entity: its names, its facts with their evidence in the order of time, and who mentions it. A fact whose place was taken by a later one, such as the place of a home, has `valid_to` and `closed_by`. Needs the scope read."""
        reply = await self.send(calls.get_entity(space, entity, facts=facts, memories_=memories_, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def describe_entity(
        self,
        space: str,
        entity: str,
        body: types.EntityBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply:
        """Say what an entity is: its kind, other names of it, and names that are not its own. It is stored as a memory of the kind `entity`, with its author and history; undo and restore work on it. Needs the scope write."""
        reply = await self.send(calls.describe_entity(space, entity, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def keep_entities_apart(
        self,
        space: str,
        entity: str,
        body: types.NamesBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply:
        """Say that other names are not those of an entity, whatever a rule finds. Needs the scope write."""
        reply = await self.send(calls.keep_entities_apart(space, entity, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def merge_entities(
        self,
        space: str,
        entity: str,
        body: types.NamesBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply:
        """Say that other names are those of an entity. Nothing is rewritten: undoing it separates them again. Needs the scope write."""
        reply = await self.send(calls.merge_entities(space, entity, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_neighbours(
        self,
        space: str,
        entity: str,
        *,
        depth: int | None = None,
        kinds: str | None = None,
        sort: Literal['-association', '-weight'] | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.NeighboursReply:
        """List the entities at most `depth` ties away: by relations, and by being mentioned together. Needs the scope read."""
        reply = await self.send(calls.list_neighbours(space, entity, depth=depth, kinds=kinds, sort=sort, limit=limit, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def export_graph(
        self,
        space: str,
        *,
        format: Literal['json', 'graphml', 'cytoscape', 'cypher', 'json-ld', 'dot'] | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> dict[str, Any]:
        """Write all entities and relations that the caller sees as a file: GraphML, Cytoscape, Cypher, JSON-LD, DOT, JSON. The file shows one point of history, whatever is written meanwhile. The same graph gives the same bytes. Needs the scope read."""
        reply = await self.send(calls.export_graph(space, format=format, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def find_path(
        self,
        space: str,
        *,
        from_: str,
        to: str,
        kinds: str | None = None,
        longest: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.PathReply:
        """Find a shortest path between two entities, with memories that state each of its ties. Needs the scope read."""
        reply = await self.send(calls.find_path(space, from_=from_, to=to, kinds=kinds, longest=longest, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def draw_graph(
        self,
        space: str,
        *,
        entity: str | None = None,
        depth: int | None = None,
        limit: int | None = None,
        width: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> str:
        """Draw the entities around one, or the most mentioned, as SVG with a legend. Needs the scope read."""
        reply = await self.send(calls.draw_graph(space, entity=entity, depth=depth, limit=limit, width=width, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_proposals(
        self,
        space: str,
        *,
        limit: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ProposalsReply:
        """List pairs of names that look alike. Nothing is merged until somebody says so. Needs the scope read."""
        reply = await self.send(calls.list_proposals(space, limit=limit, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_relations(
        self,
        space: str,
        *,
        subject: str | None = None,
        kinds: str | None = None,
        target: str | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.RelationsReply:
        """List relations by subject, kind and object, with their evidence. Needs the scope read."""
        reply = await self.send(calls.list_relations(space, subject=subject, kinds=kinds, target=target, limit=limit, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def state_relation(
        self,
        space: str,
        body: types.RelationBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.WrittenReply:
        """State a relation. It is stored as a memory of the kind `relation`, with a sentence as its text. Needs the scope append."""
        reply = await self.send(calls.state_relation(space, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def correct_relation(
        self,
        space: str,
        memory_id: str,
        body: types.RelationPatch,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply:
        """Change a relation that somebody has stated, by the id of its memory. Needs the scope write."""
        reply = await self.send(calls.correct_relation(space, memory_id, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def retract_statement(
        self,
        space: str,
        memory_id: str,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | None:
        """Delete what somebody has stated of an entity or a relation, by the id of its memory; its history stays. Needs the scope delete."""
        reply = await self.send(calls.retract_statement(space, memory_id, dry_run=dry_run, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def import_memories(
        self,
        space: str,
        body: bytes | AsyncIterable[bytes],
        *,
        content_type: str = 'application/x-ndjson',
        atomic: bool | None = None,
        dry_run: bool | None = None,
        task: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ImportReply | types.TaskReply:
        """Import an export, or the memories of another system. The body is a file in the format of docs/how-to/export.md, as application/x-ndjson or application/zstd, of any size. A compressed file may grow to 500 times its size and 16 MB more. Known ids are skipped. An empty space gets the whole history. Every line passes the policy of the space; `errors` or `failures` names the lines that it refuses. Needs a key that sees all of the space. With `task=true` the lines are kept, and when all have arrived the answer is 202 with a task that imports them. It survives the end of this process. The report is the result of the task. Needs the scope write."""
        reply = await self.send(calls.import_memories(space, body, content_type=content_type, atomic=atomic, dry_run=dry_run, task=task, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_imports(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ImportsReply:
        """List the imports, newest first. Needs the scope read."""
        reply = await self.send(calls.list_imports(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def undo_import(
        self,
        space: str,
        import_id: str,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ImportedReply | types.DryRunReply:
        """Delete all memories that an import has added. The request is refused when somebody has changed one of them since. The same file can be imported again afterwards. Needs the scopes `write` and `delete`. Needs the scope delete."""
        reply = await self.send(calls.undo_import(space, import_id, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def lint_space(
        self,
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
    ) -> types.LintReply:
        """Report what is wrong with the memories of a space, and how to fix it. Lint finds duplicates, contradictions, secrets, broken references, and memories that are too large, never retrieved or no longer retrieved. A page checks `limit` memories, the oldest first, and may find nothing. `checked`, `found` and `score` are of all pages up to it. Nothing changes: each `fix` is a request, as a dry run. Needs the scope read."""
        reply = await self.send(calls.lint_space(space, checks=checks, oversized_tokens=oversized_tokens, never_recalled_days=never_recalled_days, stale_days=stale_days, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_memories(
        self,
        space: str,
        *,
        limit: int | None = None,
        sort: Literal['-created_at', 'created_at', '-updated_at', 'updated_at'] | None = None,
        cursor: str | None = None,
        as_of: str | None = None,
        filter: str | None = None,
        filters: Mapping[str, Any] | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.PageReply:
        """List memories, newest first unless `sort` names another order. Every other parameter is a filter: `tags=a,b`, `created_at.gte=2026-01-01`, `metadata.team=core`, or `filter=` with JSON. All must hold. Needs the scope read."""
        reply = await self.send(calls.list_memories(space, limit=limit, sort=sort, cursor=cursor, as_of=as_of, filter=filter, filters=filters, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def add_memory(
        self,
        space: str,
        body: types.AddBody,
        *,
        on_conflict: Literal['reject', 'keep', 'review', 'supersede'] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.AddedReply:
        """Add a memory. When the answer arrives, the memory is on disk and every search finds it. A memory that repeats or contradicts a current one is refused, unless `on_conflict` says otherwise. `keep` stores it beside the others. `supersede` puts it in place of the closest of them, which needs the scope `write`. Needs the scope append."""
        reply = await self.send(calls.add_memory(space, body, on_conflict=on_conflict, dry_run=dry_run, idempotency_key=idempotency_key, prefer=prefer, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def add_memories(
        self,
        space: str,
        body: types.BatchBody,
        *,
        atomic: bool | None = None,
        on_conflict: Literal['reject', 'keep', 'review', 'supersede'] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ItemsReply | types.DryRunReply | types.BatchReply:
        """Add 1 to 1,000 memories. An atomic batch stores all or none: 201. With `atomic` false each memory is stored for itself, and the answer has an outcome for each: 200, even when some failed. A body of application/x-ndjson has one memory a line; its options are query parameters. Needs the scope append."""
        reply = await self.send(calls.add_memories(space, body, atomic=atomic, on_conflict=on_conflict, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_memory(
        self,
        space: str,
        memory_id: str,
        *,
        as_of: str | None = None,
        no_touch: bool | None = None,
        if_none_match: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.MemoryReply:
        """Read a memory. That counts as a retrieval unless `no_touch` is true. Needs the scope read."""
        reply = await self.send(calls.get_memory(space, memory_id, as_of=as_of, no_touch=no_touch, if_none_match=if_none_match, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def update_memory(
        self,
        space: str,
        memory_id: str,
        body: types.PatchBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply | None:
        """Change a memory. Absent fields stay, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version. Needs the scope write."""
        reply = await self.send(calls.update_memory(space, memory_id, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, prefer=prefer, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_memory(
        self,
        space: str,
        memory_id: str,
        *,
        purge: bool | None = None,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ErasureReply | types.DryRunReply | None:
        """Delete a memory. Its versions stay in its history. With `purge` nothing stays, and the answer is a signed report of the places that were searched. A purge takes no If-Match and no Idempotency-Key: it erases all versions and can be repeated. Needs the scope delete."""
        reply = await self.send(calls.delete_memory(space, memory_id, purge=purge, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def give_feedback(
        self,
        space: str,
        memory_id: str,
        body: types.FeedbackBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.TelemetryReply | types.DryRunReply:
        """Say that a memory was useful, or that it was not. Only the last verdict of each key counts; null withdraws it. It changes the rank of the memory, within bounds, and makes neither a version nor a change. Needs the scopes `read` and `append`. Needs the scope append."""
        reply = await self.send(calls.give_feedback(space, memory_id, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_history(
        self,
        space: str,
        memory_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.HistoryReply:
        """Read versions of a memory, newest first, and what each has changed. A deleted or superseded memory has its history too. A page has about a million characters of text at most. Needs the scope read."""
        reply = await self.send(calls.get_history(space, memory_id, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def restore_memory(
        self,
        space: str,
        memory_id: str,
        body: types.RestoreBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WrittenReply | types.DryRunReply:
        """Restore an earlier version of a memory. That makes a new version, so that nothing is lost. Deleted and superseded memories can be restored, unless their address belongs to another memory now. An expiry time that has passed is left out. Text that is not current in the memory passes the policy of the space as if it were new. Needs the scope write."""
        reply = await self.send(calls.restore_memory(space, memory_id, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def supersede_memory(
        self,
        space: str,
        memory_id: str,
        body: types.SupersedeBody,
        *,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.WrittenReply:
        """Put a new memory in place of a current one. Both change in one step. The old memory gets a last version that names the new one in `superseded_by`, gives up its address and is no longer found. The new memory names the old one in `supersedes`, and takes over its category and key when the body has none. Needs the scope write."""
        reply = await self.send(calls.supersede_memory(space, memory_id, body, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_telemetry(
        self,
        space: str,
        memory_id: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TelemetryReply:
        """Read how often a memory was retrieved, when last, and its feedback. This request does not count as a retrieval. Needs the scope read."""
        reply = await self.send(calls.get_telemetry(space, memory_id, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def merge_spaces(
        self,
        space: str,
        body: types.MergeBody,
        *,
        dry_run: bool | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.MergedReply | types.DryRunReply:
        """Take over the changes of another space since it was forked from this one, or last merged into it. A merge is atomic. Different changes of both sides to a memory are refused unless there is a `strategy`. Memories of a space that is no fork are added, without duplicates. A repeated merge takes over only what is new. Incoming text passes the policy of this space as if it were new. When the policy refuses some of it, nothing is merged, and `errors` names the memories by their ids in the other space. Needs the scopes `write` and `delete`, and `read` in the other space. Needs the scope delete."""
        reply = await self.send(calls.merge_spaces(space, body, dry_run=dry_run, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def set_policy(
        self,
        space: str,
        body: types.PolicyBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.PolicyReply | types.DryRunReply:
        """Set what a space does with secrets, personal data and echoes, and how long it keeps versions and memories. The first three apply to later writes. What is too old already is deleted by the next sweep: history within the hour, memories within the day. `POST …/purge?dry_run=true` with `older_than_days` shows which. Needs the scope admin."""
        reply = await self.send(calls.set_policy(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_probes(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ProbesReply:
        """List the probes, oldest first. Needs the scope read."""
        reply = await self.send(calls.list_probes(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def add_probe(
        self,
        space: str,
        body: types.ProbeBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.ProbeReply:
        """Add a question and the memory that it should find. The memory is named by its id, or by its category and key. A space has up to 500 probes. Needs the scope write."""
        reply = await self.send(calls.add_probe(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def run_probes(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.RunReply:
        """Ask all questions, and store the rank at which each found the expected memory. Needs the scope write."""
        reply = await self.send(calls.run_probes(space, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_probe_runs(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.RunsReply:
        """List the last 20 runs, newest first. Needs the scope read."""
        reply = await self.send(calls.list_probe_runs(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def delete_probe(
        self,
        space: str,
        probe_id: str,
        *,
        muisti_min_seq: str | None = None,
    ) -> None:
        """Delete a probe. Needs the scope write."""
        reply = await self.send(calls.delete_probe(space, probe_id, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def promote(
        self,
        space: str,
        body: types.PromoteBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ReviewReply | types.DryRunReply:
        """Make candidates active that were retrieved often enough. One request takes up to 500, the oldest first; `more` says to call again. Needs the scope write."""
        reply = await self.send(calls.promote(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def prune(
        self,
        space: str,
        body: types.PruneBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ReviewReply | types.DryRunReply:
        """Deprecate candidates that are old and were hardly retrieved. Guards and memories of high importance are never pruned, and nothing is deleted. One request takes up to 500, the oldest first; `more` says to call again. Needs the scope write."""
        reply = await self.send(calls.prune(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def purge(
        self,
        space: str,
        body: types.PurgeBody,
        *,
        dry_run: bool | None = None,
        task: bool | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ErasureReply | types.DryRunReply | types.TaskReply:
        """Erase memories for good: of an author, of a source, by a filter, by age, or everything. Erased are all versions, vectors, segments, stored answers, the write-ahead log and the free space of the file. Then every place is searched again, and the answer is the signed report of that search. `everything` needs the name of the space as `confirm`; the space stays, empty, with a new epoch. With `task=true` the answer is 202 with a task that erases the memories that exist now, a hundred at a time. The report is its result. Needs the scope admin."""
        reply = await self.send(calls.purge(space, body, dry_run=dry_run, task=task, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def set_quota(
        self,
        space: str,
        body: types.QuotaBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.QuotaReply | types.DryRunReply:
        """Set how much a space may hold. Memories that it holds already stay. Needs a key of all spaces. The quota belongs to the name of the space, and remains when the space is deleted. Needs the scope admin."""
        reply = await self.send(calls.set_quota(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_reads(
        self,
        space: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        last_event_id: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ReadsReply:
        """List the reads of a space in this process, newest first, or listen to them. The log has no content: no text of a query or a memory. It is off unless `MUISTI_READ_LOG` turns it on, which `mode` tells. Each process has its own, which ends with it. With `Accept: text/event-stream` the answer is a stream of reads, oldest first, which begins now or behind `Last-Event-ID`. Needs the scope admin."""
        reply = await self.send(calls.list_reads(space, after=after, limit=limit, cursor=cursor, last_event_id=last_event_id, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def forget_reads(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
    ) -> None:
        """Forget the reads of a space in this process, and its questions that found nothing. Needs the scope admin."""
        reply = await self.send(calls.forget_reads(space, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_unanswered(
        self,
        space: str,
        *,
        limit: int | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.QuestionsReply:
        """List the questions of a space that found nothing, the most frequent first. They are those whose `evidence` was `none`, in this process, since it began or they were cleared. They are kept in the mode `questions` of `MUISTI_READ_LOG` alone, because what people ask may be personal. Needs the scope admin."""
        reply = await self.send(calls.list_unanswered(space, limit=limit, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_receipts(
        self,
        space: str,
        *,
        actor: str | None = None,
        since: str | None = None,
        until: str | None = None,
        evidence: Literal['strong', 'weak', 'none', 'uncalibrated'] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ReceiptsReply:
        """List receipts of a space, newest first. A key with a category sees only receipts of keys with that category, as it does one by one. Needs the scope read."""
        reply = await self.send(calls.list_receipts(space, actor=actor, since=since, until=until, evidence=evidence, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def roll_back(
        self,
        space: str,
        body: types.RollBackBody,
        *,
        dry_run: bool | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.RolledBackReply | types.DryRunReply:
        """Restore the whole space as it was at a point. In one step, memories added since are ended, and memories changed or ended since are restored. Nothing is lost: histories keep all versions, and rolling back to the answer's `before` undoes it. Text that becomes current again passes the policy of the space as if it were new. Needs the scopes `write` and `delete`. Needs the scope delete."""
        reply = await self.send(calls.roll_back(space, body, dry_run=dry_run, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def search(
        self,
        space: str,
        body: types.SearchBody,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.SearchReply:
        """Find the memories that best answer a query. The filter applies before the ranking: the answer has up to `limit` hits, all of which pass the filter. Needs the scope read."""
        reply = await self.send(calls.search(space, body, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_sessions(
        self,
        space: str,
        *,
        limit: int | None = None,
        sort: Literal['-last_at', 'last_at', '-created_at', 'created_at', 'name', '-name'] | None = None,
        cursor: str | None = None,
        user: str | None = None,
        state: Literal['open', 'closed'] | None = None,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.SessionsReply:
        """List the sessions with their sizes, the newest first; `total` counts those on all pages. Needs the scope read."""
        reply = await self.send(calls.list_sessions(space, limit=limit, sort=sort, cursor=cursor, user=user, state=state, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def create_session(
        self,
        space: str,
        body: types.SessionBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.SessionReply:
        """Make a session. Streaming turns in makes a missing one, too. The key must read, as well. Needs the scope append."""
        reply = await self.send(calls.create_session(space, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_session(
        self,
        space: str,
        session: str,
        *,
        category: str | None = None,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.SessionReply:
        """Read a session with the sizes of its conversations. Needs the scope read."""
        reply = await self.send(calls.get_session(space, session, category=category, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def update_session(
        self,
        space: str,
        session: str,
        body: types.SessionPatch,
        *,
        category: str | None = None,
        dry_run: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.SessionReply | types.DryRunReply:
        """Change a session: title, users, metadata, tags, or its state. Conversations of a closed session take no turns. Needs the scope write."""
        reply = await self.send(calls.update_session(space, session, body, category=category, dry_run=dry_run, if_match=if_match, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_session(
        self,
        space: str,
        session: str,
        *,
        category: str | None = None,
        purge: bool | None = None,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.EndedReply | types.ErasureReply | types.DryRunReply:
        """Delete a session with its conversations, their topics and exchanges, as one step. Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is a signed report. Needs the scope delete."""
        reply = await self.send(calls.delete_session(space, session, category=category, purge=purge, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def summarise_session(
        self,
        space: str,
        session: str,
        body: types.SummariseBody,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.MadeSummariesReply:
        """Read the summary of a session, made from those of its conversations where it is missing or stale. Needs the scope write."""
        reply = await self.send(calls.summarise_session(space, session, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_stats(
        self,
        space: str,
        *,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.StatsReply:
        """Read the sizes and rates of a space. Needs the scope read."""
        reply = await self.send(calls.get_stats(space, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def summarise_space(
        self,
        space: str,
        *,
        category: str | None = None,
        idempotency_key: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.TaskReply:
        """Make the topics and summaries of all conversations that are missing or stale, as a task. Each conversation is an item; one that has nothing new is skipped. Summaries are extractive. Only conversations that the key sees count. Cancelled, the task ends after the conversation in work. Needs the scope write."""
        reply = await self.send(calls.summarise_space(space, category=category, idempotency_key=idempotency_key, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_tags(
        self,
        space: str,
        *,
        as_of: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.CountsReply:
        """Count the active memories of each tag. Needs the scope read."""
        reply = await self.send(calls.list_tags(space, as_of=as_of, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_tasks(
        self,
        space: str,
        *,
        state: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TasksReply:
        """List tasks, newest first. A key that does not see the whole space sees the tasks that it has asked for. Ended tasks are kept for 30 days. Needs a key."""
        reply = await self.send(calls.list_tasks(space, state=state, kind=kind, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def get_task(
        self,
        space: str,
        task_id: str,
        *,
        wait: float | None = None,
        after: int | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TaskReply:
        """Show how far a task is. With `wait` and `after` the answer comes when the task has changed since that revision, or is over, at the latest after so many seconds. It comes earlier when something keeps the process from working on tasks. Needs a key."""
        reply = await self.send(calls.get_task(space, task_id, wait=wait, after=after, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def cancel_task(
        self,
        space: str,
        task_id: str,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.TaskReply | types.DryRunReply:
        """Cancel a task. It is over when this is answered, and stores nothing more. What it has stored stays: `done` and the items that are `done` say what. A task that is over is returned as it is. Tasks of other keys need the scope `write`. Needs a key."""
        reply = await self.send(calls.cancel_task(space, task_id, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def follow_task(
        self,
        space: str,
        task_id: str,
        *,
        last_event_id: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> str:
        """Follow a task as a stream of events, until it is over. An event `progress`, and at last `end`, has the task as the read of it has, and its id is the task's revision. A client that reconnects with `Last-Event-ID` gets the next event when the task has changed since. Needs a key."""
        reply = await self.send(calls.follow_task(space, task_id, last_event_id=last_event_id, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def list_task_items(
        self,
        space: str,
        task_id: str,
        *,
        state: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.TaskItemsReply:
        """List the items of a task in their order, each with its error if it has failed. Needs a key."""
        reply = await self.send(calls.list_task_items(space, task_id, state=state, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def undo(
        self,
        space: str,
        body: types.UndoBody,
        *,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.UndoReply | types.DryRunReply:
        """Undo your last call, another request, or the last changes of memories of an author. Without `author` and `request` it is your last call as a whole, an import too; `last` limits it to so many of your changes. A last call that cannot be taken back, such as a purge, is refused by name. Undo is atomic. Each memory is restored as it was before the first of these changes; a memory that did not exist is deleted. Later changes by others prevent an undo. Text that becomes current again passes the policy of the space as if it were new. Needs the scopes `write` and `delete`. Needs the scope delete."""
        reply = await self.send(calls.undo(space, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_webhooks(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.WebhooksReply:
        """List the webhooks of a space, with the last change delivered to each and the failed deliveries. Needs the scope admin."""
        reply = await self.send(calls.list_webhooks(space, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
        return reply.data

    async def create_webhook(
        self,
        space: str,
        body: types.WebhookBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.WebhookReply:
        """Send the changes of a space to an address, from now on. The server must allow the host (MUISTI_WEBHOOK_HOSTS). Only this answer shows the secret with which messages are signed. Needs the scopes `admin` and `read`. Needs the scope admin."""
        reply = await self.send(calls.create_webhook(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def delete_webhook(
        self,
        space: str,
        webhook_id: str,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | None:
        """Delete a webhook. Needs the scope admin."""
        reply = await self.send(calls.delete_webhook(space, webhook_id, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def redeliver_webhook(
        self,
        space: str,
        webhook_id: str,
        body: types.RedeliverBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.WebhookReply | types.DryRunReply:
        """Deliver failed changes again, or all changes after one. All changes from there on are sent again, with the message ids that they had. A stopped webhook resumes. Needs the scope admin."""
        reply = await self.send(calls.redeliver_webhook(space, webhook_id, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

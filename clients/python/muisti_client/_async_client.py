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
        """Read metrics, for Prometheus. Of the whole server, as text; as OpenMetrics when `Accept` names that. Needs a key of all spaces, or the one of the setting `MUISTI_METRICS_KEY`, which opens nothing else. Needs the scope admin."""
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
        """Say whether the service can do its work. 503 when the database does not answer, or its file was deleted, moved or replaced while it was open; 500 when it is damaged. What runs is told to those with a key, or to all while there are none."""
        reply = await self.send(calls.get_readiness())
        return reply.data

    async def list_audit(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AuditReply:
        """Read the audit log, newest first. Who made or ended keys and spaces and who deleted memories, without content. Needs a key of all spaces. Needs the scope admin."""
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
        """Make a key. It may no more than the key that makes it, and ends with it. Its secret is in this answer and nowhere else. Needs a key."""
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
        """Revoke a key. It and those made with it open nothing from now on; other processes know it within a second. Needs a key."""
        reply = await self.send(calls.revoke_key(key_id))
        return reply.data

    async def rotate_key(
        self,
        key_id: str,
        body: types.RotateBody,
    ) -> types.MadeKeyReply:
        """Replace a key. The new one may what the old one may, which still opens for a while. Needs a key."""
        reply = await self.send(calls.rotate_key(key_id, body))
        return reply.data

    async def get_receipt(
        self,
        receipt_id: str,
    ) -> types.ReceiptReply:
        """Read what a search was asked and what it answered. Needs the scope read."""
        reply = await self.send(calls.get_receipt(receipt_id))
        return reply.data

    async def replay_receipt(
        self,
        receipt_id: str,
        *,
        then: bool | None = None,
    ) -> types.ReplayReply:
        """Ask a search again, and read what differs and why. As of now, unless the request named a `reference_time`; with `then` of the state that it saw, by the model of today. What it finds does not count as retrieved. Needs the scope read."""
        reply = await self.send(calls.replay_receipt(receipt_id, then=then))
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
        """List the spaces. Those that the key may touch. Needs a key."""
        reply = await self.send(calls.list_spaces())
        return reply.data

    async def create_space(
        self,
        body: types.SpaceBody,
        *,
        dry_run: bool | None = None,
    ) -> types.DryRunReply | types.SpaceReply:
        """Make a space. One that the key may touch. Needs the scope admin."""
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
        """Erase a space with all that is in it. The answer is a signed report of where it was looked for. The default space always exists and can only be emptied: `POST …/purge` with `everything`. Needs the scope admin."""
        reply = await self.send(calls.delete_space(space, confirm=confirm, dry_run=dry_run))
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
        """Read what has changed, oldest first, or listen to it. Every other parameter is a filter, as in a list; a change passes when its memory does, before or after. With `Accept: text/event-stream` the answer is a stream, which tells what comes until the client leaves; without a point to go on from it begins now. Needs the scope read."""
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
        """Name the point where the space stands. What stood there is kept until the checkpoint is deleted, whatever the retention says. Needs the scope write."""
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
        """Forget a checkpoint. Its point of history is kept no longer than any other. No memory changes. Needs the scope write."""
        reply = await self.send(calls.delete_checkpoint(space, checkpoint, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
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
        """Read what would come of merging another space into this one. Memory by memory, what each has changed since both were the same, in the order of the ids in the other space. Needs the scope read."""
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
        """List the conflicts that wait for a decision, newest first. They come from writes with `on_conflict` `review`. One closes by itself when either memory says something else, or stands no more. Needs the scope read."""
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
        """Decide a conflict. Both stay, the new memory supersedes the existing one and takes over its address when it has none, or the new one is deleted, which needs the scope `delete` too. Needs the scope write."""
        reply = await self.send(calls.decide_conflict(space, conflict_id, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
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
        """Read what changed between two points. Which memories were added, changed and ended, and what of them, field by field. What came and went in between is not there. A page may have fewer items than `limit`, and another follows all the same. Needs the scope read."""
        reply = await self.send(calls.diff_space(space, since=since, until=until, limit=limit, cursor=cursor, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
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
        """Store a memory at an address, in place of what is there. 201 when nothing was there. What is there keeps its id and gets a new version, with nothing of the old one left. Needs the scope write."""
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
        """Change the memory at an address. What is absent stays, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version. Needs the scope write."""
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
        """Delete the memory at an address. With `purge` it is erased with its history, and the answer is the signed report. A purge takes what is there now, expired or not, and never a memory that was there before: repeat it by the id that the report names. Needs the scope delete."""
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
        """Say that the memory at an address was useful, or that it was not. One verdict of each key counts, the last; null takes it back. Needs the scopes `read` and `append`. Needs the scope append."""
        reply = await self.send(calls.give_entry_feedback(space, category, key, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_entry_history(
        self,
        space: str,
        category: str,
        key: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.HistoryReply:
        """Read all versions of the memory at an address, and what each has changed. That is the memory that is there, expired or not, else the last that was there. Needs the scope read."""
        reply = await self.send(calls.get_entry_history(space, category, key, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
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
        """Restore an earlier version of the memory at an address. That is the memory that is there, expired or not, else the last that was there: a deleted one comes back. Needs the scope write."""
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
        """Read how often the memory at an address was retrieved, when last, and what callers said of it. Asking is no retrieval. Needs the scope read."""
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
        """Take a space out, with its history and its vectors. As lines of JSON, in the format of docs/export.md. They show one point of history, whatever is written meanwhile; a file without its last line, which counts the others, is not whole. Needs a key that sees all of the space. Needs the scope read."""
        return self.pieces(calls.export_space(space, vectors=vectors, compression=compression, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))

    async def fork_space(
        self,
        space: str,
        body: types.ForkBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.DryRunReply | types.SpaceReply:
        """Copy a space. All that lives in it stands in the new one as version 1, under an id of its own; vectors come along. What a memory was before is not copied, and neither are keys and quotas. The copy has the policy of the space, which is not asked again of what the space holds; its quota counts. Needs the scope admin."""
        reply = await self.send(calls.fork_space(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def import_memories(
        self,
        space: str,
        body: bytes | AsyncIterable[bytes],
        *,
        content_type: str = 'application/x-ndjson',
        atomic: bool | None = None,
        dry_run: bool | None = None,
        muisti_allow: str | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ImportReply:
        """Take in an export, or the memories of another system. The body is a file in the format of docs/export.md, as application/x-ndjson or application/zstd, of any size. A compressed file may grow to 500 times its size and 16 MB more. Ids that are here already are passed over. Into an empty space the whole history comes, as it was. Every line passes the policy of the space; what that refuses, `errors` or `failures` names. Needs a key that sees all of the space. Needs the scope write."""
        reply = await self.send(calls.import_memories(space, body, content_type=content_type, atomic=atomic, dry_run=dry_run, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_imports(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.ImportsReply:
        """List what was imported, newest first. Needs the scope read."""
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
        """Delete all that an import has brought. Unless others have changed some of it since. The same file can come in again afterwards. Needs the scopes `write` and `delete`. Needs the scope delete."""
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
        """Tell what is wrong with the memories of a space, and what would mend it. Duplicates, contradictions, secrets, memories that point nowhere, that are too large, that nobody asks for any more or never did. A page looks at `limit` memories, the oldest first, and may find nothing; `checked`, `found` and `score` are of all pages up to it. Nothing changes: each `fix` is a request, as a dry run. Needs the scope read."""
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
        """Add a memory. When the answer arrives the memory is on the disk, and every search finds it. One that says what a current memory says, or contradicts one, is refused unless `on_conflict` is `keep`; with `supersede` it takes the place of the closest of those, which needs the scope `write`. Needs the scope append."""
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
        """Add 1 to 1,000 memories. Atomic, all are stored or none: 201. With `atomic` false each for itself, and the answer tells what became of each: 200, also when some failed. As application/x-ndjson the body is one memory a line, and the choices are parameters. Needs the scope append."""
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
        """Change a memory. What is absent stays, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version. Needs the scope write."""
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
        """Delete a memory. Its versions stay in its history; with `purge` nothing does, and the answer is a signed report of where it was looked for. A purge may be repeated at will, needs no key for that, and takes whatever version there is. Needs the scope delete."""
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
        """Say that a memory was useful, or that it was not. One verdict of each key counts, the last; null takes it back. It moves where the memory ranks, within bounds, and makes neither a version nor a change. Needs the scopes `read` and `append`. Needs the scope append."""
        reply = await self.send(calls.give_feedback(space, memory_id, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def get_history(
        self,
        space: str,
        memory_id: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.HistoryReply:
        """Read all versions of a memory, of a deleted or superseded one too, and what each has changed. Needs the scope read."""
        reply = await self.send(calls.get_history(space, memory_id, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
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
        """Restore an earlier version of a memory. That makes a new version, so that nothing is lost. Deleted and superseded memories come back; one whose address belongs to another meanwhile is refused. An end that has passed is left out. Text that is not current in the memory passes the policy of the space as if it were new. Needs the scope write."""
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
        """Put a new memory in place of a current one. Both happen at once: the old one gets a last version that names the new in `superseded_by`, gives up its address and is found no more; the new one names the old in `supersedes`. A body without category and key takes over those of the old one. Needs the scope write."""
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
        """Read how often a memory was retrieved, when last, and what callers said of it. To ask is no retrieval. Needs the scope read."""
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
        """Take over what another space has changed since it was forked from this one, or merged into it last. All in one step, or nothing. What both have changed, and not alike, is refused unless there is a `strategy`. A space that is no fork is added; what says the same is not added twice. To repeat it takes over only what is new. What comes in passes the policy of this space as if it were new: when that refuses some of it, `errors` names the memories by their ids in the other space, and nothing is merged. Needs the scopes `write` and `delete`, and `read` in the other space. Needs the scope delete."""
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
        """Say what a space does with secrets, personal data and echoes, and how long it keeps what it holds. The first three hold for what is written from now on. What is too old already goes with the next sweep: history within the hour, memories within the day. `POST …/purge?dry_run=true` with `older_than_days` tells which. Needs the scope admin."""
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
        """Pin a question and what it should find. A memory by its id, or whatever stands at a category and key. Up to 500 a space. Needs the scope write."""
        reply = await self.send(calls.add_probe(space, body, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def run_probes(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
    ) -> types.RunReply:
        """Ask all questions, and keep where each found what it expects. Needs the scope write."""
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
        """Make candidates active that were retrieved often enough. Up to 500, the oldest first; `more` says to call again. Needs the scope write."""
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
        """Deprecate candidates that are old and were hardly retrieved. Never guards, nor what is of high importance; nothing is deleted. Up to 500, the oldest first; `more` says to call again. Needs the scope write."""
        reply = await self.send(calls.prune(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def purge(
        self,
        space: str,
        body: types.PurgeBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.ErasureReply | types.DryRunReply:
        """Erase memories for good: of an author, of a source, by a filter, by age, or everything. Rows with all versions, vectors, segments, answers to requests, the log and free space of the file. Then every place is asked again, and the answer is the signed report of that. `everything` needs the name of the space as `confirm`; the space stays, empty, with a new epoch. Needs the scope admin."""
        reply = await self.send(calls.purge(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def set_quota(
        self,
        space: str,
        body: types.QuotaBody,
        *,
        dry_run: bool | None = None,
        muisti_min_seq: str | None = None,
    ) -> types.QuotaReply | types.DryRunReply:
        """Say what a space may hold. What it holds already stays. Needs a key of all spaces; the quota belongs to the name and outlives the space. Needs the scope admin."""
        reply = await self.send(calls.set_quota(space, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
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
        """Let the whole space stand as it stood at a point. In one step: what came since ends, what changed or ended since stands again. Nothing is lost: the answer's `before` is where to roll back to undo it, and histories have it all. Text that becomes current again passes the policy of the space as if it were new. Needs the scopes `write` and `delete`. Needs the scope delete."""
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
        """Find the memories that best answer a query. The filter acts before the ranking: up to `limit` hits, all of which pass it. Needs the scope read."""
        reply = await self.send(calls.search(space, body, muisti_min_seq=muisti_min_seq, muisti_freshness=muisti_freshness))
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
        """Take back the last changes: of a request, of memories of an author, or your own. All or none. Each memory stands again as it stood before the first of them; what did not exist is deleted. Changes by others that came upon them are in the way. Text that becomes current again passes the policy of the space as if it were new. Needs the scopes `write` and `delete`. Needs the scope delete."""
        reply = await self.send(calls.undo(space, body, dry_run=dry_run, idempotency_key=idempotency_key, muisti_allow=muisti_allow, muisti_min_seq=muisti_min_seq))
        return reply.data

    async def list_webhooks(
        self,
        space: str,
        *,
        muisti_min_seq: str | None = None,
        muisti_freshness: str | None = None,
    ) -> types.WebhooksReply:
        """List the webhooks of a space, with how far each was told and what it could not be told. Needs the scope admin."""
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
        """Send the changes of a space to an address, from now on. Only to hosts that the server allows (MUISTI_WEBHOOK_HOSTS). The answer shows the secret with which messages are signed, once. Needs the scopes `admin` and `read`. Needs the scope admin."""
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
        """Tell an address nothing more. Needs the scope admin."""
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
        """Tell again what could not be told, or all after a change. All changes from there on are told once more, with the ids that they had; one that had stopped goes on. Needs the scope admin."""
        reply = await self.send(calls.redeliver_webhook(space, webhook_id, body, dry_run=dry_run, muisti_min_seq=muisti_min_seq))
        return reply.data

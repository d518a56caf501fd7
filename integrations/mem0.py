"""A memory in the shape of mem0's `Memory` (2.x) that needs no language model: `Memory`."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from muisti import Conflict, NotFound
from muisti.integrations.calls import Handle, Operation, need_sync, run
from muisti.integrations.entries import drop, hits_of, listed
from muisti.integrations.mem0_filters import IDS, need_scope, scope, translated
from muisti.integrations.mem0_shapes import day_of, end_of, events, item

CATEGORY = "mem0"
_HITS_MAX = 100
_UNSET: Any = object()


class Memory:
    """The methods of mem0's `Memory` on a space of Muisti, with the results that mem0 gives.

    No model reads or rewrites anything. With `infer=False` each message is a memory, as in mem0. With `infer=True`
    too, but what a memory of the same user, agent and run already says is not stored again: its event is `NONE`.
    """

    def __init__(self, memory: Handle) -> None:
        need_sync(memory, "muisti.integrations.mem0.Memory")
        self._memory = memory

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | None = None,
        infer: bool = True,
    ) -> dict[str, Any]:
        """Store messages, those of the role `system` left out. Raises ValueError without any of the ids."""
        ids = scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not ids:
            raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        said = [messages] if isinstance(messages, Mapping) else messages
        listed = [{"role": "user", "content": said}] if isinstance(said, str) else said
        base = {name: value for name, value in (metadata or {}).items() if name not in (*IDS, "actor_id")} | ids
        return {"results": run(self._add(listed, base, day_of(expiration_date), infer))}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float = 0.1,
        explain: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """Find memories. `filters` name a user, an agent or a run, and may have mem0's operators."""
        others.pop("rerank", None)
        asked = translated(need_scope(filters, "search", others))
        options = {"limit": max(1, min(top_k, _HITS_MAX)), "min_score": threshold, "explain": explain}
        found = run(hits_of(self._memory, query, category=CATEGORY, filter=asked, **options))
        details = [{"score_details": hit.explain} if explain else {} for hit in found]
        shown = [item(hit.memory) | {"score": hit.score} for hit in found]
        return {"results": [one | more for one, more in zip(shown, details, strict=True)]}

    def get_all(self, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, **others: Any) -> dict[str, Any]:
        """List memories, newest first."""
        asked = translated(need_scope(filters, "get_all", others))
        found = run(listed(self._memory, category=CATEGORY, filter=asked, limit=top_k))
        return {"results": [item(one) for one in found]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, or None."""
        try:
            return item(self._memory.get(memory_id)) | {"score": None}
        except NotFound:
            return None

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory. Its earlier text stays in its history."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        before = self._found(memory_id).metadata
        given = {name: value for name, value in (metadata or {}).items() if name not in (*IDS, "actor_id")}
        fields: dict[str, Any] = {"metadata": {**before, **given}}
        if expiration_date is not _UNSET:
            day = day_of(expiration_date)
            fields["metadata"]["expiration_date"], fields["expires_at"] = day, end_of(day)
        self._memory.update(memory_id, **fields, **({} if text is None else {"content": text}))
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory; its history stays. Raises ValueError when there is none."""
        self._memory.forget(self._found(memory_id).id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete the memories of a user, an agent or a run."""
        ids = scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not ids:
            raise ValueError("At least one filter is required to delete all memories. Or use reset().")
        run(self._drop(translated(ids)))
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what happened to a memory, oldest first; nothing for an id that is not known."""
        try:
            return list(events(memory_id, self._memory.history(memory_id)))
        except NotFound:
            return []

    def reset(self) -> None:
        """Delete all memories of this class in the space."""
        run(self._drop(None))

    def _found(self, memory_id: str) -> Any:
        try:
            return self._memory.get(memory_id)
        except NotFound:
            raise ValueError(f"Memory with id {memory_id} not found") from None

    def _add(
        self, messages: Sequence[Mapping[str, Any]], base: dict[str, Any], day: str | None, infer: bool
    ) -> Operation[list[dict[str, Any]]]:
        results: list[dict[str, Any]] = []
        for message in messages:
            role, content, actor = message.get("role"), message.get("content"), message.get("name")
            if not role or content is None or role == "system":
                continue
            more = {"role": role, "actor_id": actor, "expiration_date": day}
            fields = {
                "category": CATEGORY,
                "author": actor or role,
                "metadata": base | {name: value for name, value in more.items() if value},
                "on_conflict": "reject" if infer else "keep",
            } | ({"expires_at": end_of(day)} if day else {})
            event, identity = yield from self._store(content, fields)
            results.append({"id": identity, "memory": content, "event": event, "actor_id": actor, "role": role})
        return results

    def _store(self, content: str, fields: dict[str, Any]) -> Operation[tuple[str, str]]:
        """Store a text, unless it may not repeat what its scope has. Return the event and the id."""
        try:
            return "ADD", (yield self._memory.remember(content, **fields)).id
        except Conflict as conflict:
            for one in conflict.conflicts:
                there = yield self._memory.get(one["id"])
                if one["kind"] == "duplicate" and scope(there.metadata) == scope(fields["metadata"]):
                    return "NONE", there.id
        return "ADD", (yield self._memory.remember(content, **fields | {"on_conflict": "keep"})).id

    def _drop(self, condition: dict[str, Any] | None) -> Operation[None]:
        more = {} if condition is None else {"filter": condition}
        for one in (yield from listed(self._memory, category=CATEGORY, **more)):
            yield from drop(self._memory, one.id)

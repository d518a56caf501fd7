"""A store of LangGraph whose items are memories: `MuistiStore`."""

import math
from collections.abc import Iterable
from typing import Any, Literal

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from muisti.integrations.calls import Handle, Operation, need_sync, run, run_anywhere
from muisti.integrations.entries import category, drop, find, hits_of, listed, names, pack, put, under, unpack
from muisti.integrations.filters import passes

_HITS_MAX = 100  # hits of one search
_FIELD_MAX = 200  # characters of a field by which the service itself filters
_UNINDEXED = "metadata.unindexed"


class MuistiStore(BaseStore):
    """A store of LangGraph in a space of Muisti.

    An item is a memory: its namespace is the category, below `root`, and every `put` is a version. `fields` are the
    paths of a value that searches read, `["$"]` for all of it. Muisti has its own embedding model, so there is no
    `dims` or `embed`; `index=False` stores nothing for searches by text. `ttl` is LangGraph's, in minutes.

    The methods that are not awaited need a synchronous handle. Those that are awaited take either kind, and work on
    a thread for a synchronous one.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Handle,
        *,
        fields: list[str] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        root: str = "store",
    ) -> None:
        self.memory, self.root, self.ttl_config = memory, root, ttl
        self.fields = ["$"] if fields is None else fields

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations: what reads sees the state before the batch, and the last `put` of a key counts.

        Raises: TypeError when the handle is asynchronous; muisti.MuistiError when the service refuses.
        """
        need_sync(self.memory, "MuistiStore.batch")
        return run(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations as `batch` does, without blocking the event loop."""
        listed = list(ops)
        return await run_anywhere(self.memory, lambda: self._batch(listed))

    def _batch(self, ops: list[Op]) -> Operation[list[Result]]:
        answers: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
        for op in ops:
            if isinstance(op, GetOp):
                answers.append((yield from self._get(op)))
            elif isinstance(op, SearchOp):
                answers.append((yield from self._search(op)))
            elif isinstance(op, ListNamespacesOp):
                answers.append((yield from self._list_namespaces(op)))
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                answers.append(None)
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        for op in puts.values():
            yield from self._put(op)
        return answers

    def _category(self, namespace: tuple[str, ...]) -> str:
        return category((self.root, *namespace))

    def _get(self, op: GetOp) -> Operation[Item | None]:
        memory = yield from find(self.memory, self._category(op.namespace), op.key)
        if memory is None:
            return None
        yield from self._refresh([memory], op.refresh_ttl)
        return Item(**_item(memory))

    def _put(self, op: PutOp) -> Operation[None]:
        at = self._category(op.namespace)
        if op.value is None:
            if (memory := (yield from find(self.memory, at, op.key))) is not None:
                yield from drop(self.memory, memory.id)
            return
        text = self._text(op)
        fields = pack(op.value, text)
        fields["metadata"]["is"] = _filterable(op.value)
        if not text:
            fields["metadata"]["unindexed"] = True
        if op.ttl is not None:
            fields["metadata"]["ttl"], fields["ttl"] = op.ttl, _seconds(op.ttl)
        yield from put(self.memory, at, op.key, {"expires_at": None, **fields} if op.ttl is None else fields)

    def _text(self, op: PutOp) -> str:
        paths = self.fields if op.index is None else op.index
        if not paths or op.value is None or self.fields is False:
            return ""
        found = (
            [_words(op.value)] if path == "$" else get_text_at_path(op.value, tokenize_path(path)) for path in paths
        )
        return "\n".join(text for texts in found for text in texts if text)

    def _search(self, op: SearchOp) -> Operation[list[SearchItem]]:
        wanted = op.offset + op.limit
        where: dict[str, Any] = {"and": [under(self._category(op.namespace_prefix)), *_asked(op.filter)]}
        found: dict[str, tuple[Any, float | None]] = {}
        if op.query and self.fields is not False:
            limit = _HITS_MAX if op.filter else max(1, min(wanted, _HITS_MAX))
            indexed = {"and": [where, {_UNINDEXED: {"exists": False}}]}
            hits = yield from hits_of(self.memory, op.query, limit=limit, filter=indexed)
            found = {hit.memory.id: (hit.memory, hit.score) for hit in hits if self._has(hit.memory, op)}
        if len(found) < wanted:
            most = None if op.filter else wanted + len(found)
            others = yield from listed(self.memory, filter=where, sort="-updated_at", limit=most)
            rest = ((memory, None) for memory in others if self._has(memory, op))
            found |= {memory.id: (memory, score) for memory, score in rest if memory.id not in found}
        page = list(found.values())[op.offset : wanted]
        yield from self._refresh([memory for memory, _ in page], op.refresh_ttl)
        return [SearchItem(**_item(memory), score=score) for memory, score in page]

    def _has(self, memory: Any, op: SearchOp) -> bool:
        return not op.filter or passes(unpack(memory), op.filter)

    def _list_namespaces(self, op: ListNamespacesOp) -> Operation[list[tuple[str, ...]]]:
        items = yield from listed(self.memory, filter=under(category((self.root,))))
        found = {names(one)[1:] for one in {memory.category for memory in items}}
        matching = (one for one in found if all(_matches(one, match) for match in op.match_conditions or ()))
        cut = {one if op.max_depth is None else one[: op.max_depth] for one in matching}
        return sorted(cut)[op.offset : op.offset + op.limit]

    def _refresh(self, memories: list[Any], refresh: bool) -> Operation[None]:
        """Restart the time to live of entries that were read."""
        for memory in memories:
            if refresh and (minutes := memory.metadata.get("ttl")) is not None:
                yield self.memory.update(memory.id, ttl=_seconds(minutes))


def _item(memory: Any) -> dict[str, Any]:
    return {
        "value": unpack(memory),
        "key": memory.key,
        "namespace": names(memory.category)[1:],
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def _seconds(minutes: float) -> int:
    return max(1, math.ceil(minutes * 60))


def _filterable(value: dict[str, Any]) -> dict[str, str]:
    """Return the short texts of a value, by which the service filters before it ranks."""
    return {
        name: text
        for name, text in value.items()
        if isinstance(text, str) and len(text) <= _FIELD_MAX and name.isidentifier() and "\0" not in text
    }


def _asked(wanted: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the conditions of a filter that the service checks itself; `passes` checks all of them."""
    equal = {name: want.get("$eq") if isinstance(want, dict) else want for name, want in (wanted or {}).items()}
    return [{f"metadata.is.{name}": {"eq": text}} for name, text in _filterable(equal).items()]


def _words(value: Any) -> str:
    """Return a value as lines that an embedding model and a search by words can read."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_words(part)}" for name, part in value.items())
    return ", ".join(map(_words, value)) if isinstance(value, list | tuple) else str(value)


def _matches(namespace: tuple[str, ...], match: MatchCondition) -> bool:
    part = namespace[: len(match.path)] if match.match_type == "prefix" else namespace[-len(match.path) :]
    return len(part) == len(match.path) and all(
        want in ("*", name) for want, name in zip(match.path, part, strict=True)
    )

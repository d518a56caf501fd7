"""A storage of CrewAI whose records are memories: `MuistiStorage`, and `muisti_embedder`, which goes with it."""

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from crewai.memory.types import MemoryRecord, ScopeInfo

from muisti.integrations.calls import Handle, Operation, need_sync, run, run_anywhere
from muisti.integrations.entries import category as name_of
from muisti.integrations.entries import drop, find, hits_of, listed, pack, put, unpack

_HITS_MAX = 100  # hits of one search
_LEAST = 128  # numbers of a vector
_FILLING = 300.0  # beyond the numbers of bytes


def muisti_embedder(texts: Sequence[str]) -> list[list[float]]:
    """Write texts as vectors that a `MuistiStorage` reads back, because CrewAI hands a storage only vectors.

    A number is a byte with a sign. The signs depend on the whole text, so vectors of other texts are not alike.
    """
    return [_written(text) for text in texts]


class MuistiStorage:
    """A storage for `Memory(storage=MuistiStorage(memory), embedder=muisti_embedder)`.

    A record is a memory in one category of a space, and every change a version; Muisti's own model finds it. The
    handle is synchronous.
    """

    def __init__(self, memory: Handle, *, category: str = "crewai") -> None:
        need_sync(memory, "MuistiStorage")
        self._memory, self._category = memory, category

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records; one of the same id is replaced."""
        for record in records:
            run(self._put(record))

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that answer a text, best first, with their scores."""
        filtered = categories or metadata_filter or (scope_prefix or "").strip("/")
        most = _HITS_MAX if filtered else max(1, min(limit, _HITS_MAX))
        hits = run(hits_of(self._memory, _read(query_embedding), category=self._category, limit=most))
        found = [(_record(hit.memory), min(1.0, hit.score)) for hit in hits]
        wanted = (scope_prefix, categories, metadata_filter)
        return [(one, score) for one, score in found if score >= min_score and _passes(one, *wanted)][:limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that meet all conditions, and return how many. Histories keep them."""
        return run(self._delete(scope_prefix, categories, record_ids, older_than, metadata_filter))

    def update(self, record: MemoryRecord) -> None:
        """Replace the record of the same id."""
        run(self._put(record))

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, or None."""
        found = run(find(self._memory, self._category, name_of([record_id])))
        return None if found is None else _record(found)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Return the records of a scope and those below it, newest first."""
        found = [one for one in map(_record, run(self._all())) if _passes(one, scope_prefix)]
        return sorted(found, key=_created, reverse=True)[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what a scope holds."""
        found = [one for one in map(_record, run(self._all())) if _passes(one, scope)]
        times = sorted(map(_created, found))
        return ScopeInfo(
            path=scope,
            record_count=len(found),
            categories=sorted({word for one in found for word in one.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes immediately below one."""
        above = f"{parent.rstrip('/')}/"
        below = (one.scope.removeprefix(above) for one in map(_record, run(self._all())) if one.scope.startswith(above))
        return sorted({f"{above}{rest.partition('/')[0]}" for rest in below if rest})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records of a scope have each category."""
        counts = dict[str, int]()
        for one in map(_record, run(self._all())):
            for word in one.categories if _passes(one, scope_prefix) else ():
                counts[word] = counts.get(word, 0) + 1
        return counts

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope holds."""
        return sum(_passes(_record(one), scope_prefix) for one in run(self._all()))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete the records of a scope, or all."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Store records as `save` does."""
        for record in records:
            await run_anywhere(self._memory, lambda record=record: self._put(record))

    async def asearch(self, query_embedding: list[float], **options: Any) -> list[tuple[MemoryRecord, float]]:
        """Search as `search` does."""
        return await asyncio.to_thread(self.search, query_embedding, **options)

    async def adelete(self, **conditions: Any) -> int:
        """Delete as `delete` does."""
        return await asyncio.to_thread(self.delete, **conditions)

    def _all(self) -> Operation[list[Any]]:
        return (yield from listed(self._memory, category=self._category))

    def _put(self, record: MemoryRecord) -> Operation[None]:
        fields = pack(record.model_dump(mode="json", exclude={"embedding"}), record.content)
        yield from put(self._memory, self._category, name_of([record.id]), fields)

    def _delete(
        self, scope: str | None, words: Any, ids: list[str] | None, older_than: datetime | None, metadata: Any
    ) -> Operation[int]:
        deleted = 0
        for memory in (yield from self._all()):
            one = _record(memory)
            is_old = older_than is None or _created(one) < _aware(older_than)
            if is_old and (ids is None or one.id in ids) and _passes(one, scope, words, metadata):
                deleted += yield from drop(self._memory, memory.id)
        return deleted


def _passes(one: MemoryRecord, scope: str | None = None, words: Any = None, metadata: Any = None) -> bool:
    prefix = (scope or "").rstrip("/")
    within = not prefix or one.scope == prefix or one.scope.startswith(f"{prefix}/")
    tagged = not words or any(word in one.categories for word in words)
    return within and tagged and all(one.metadata.get(name) == value for name, value in (metadata or {}).items())


def _record(memory: Any) -> MemoryRecord:
    return MemoryRecord.model_validate(unpack(memory))


def _created(record: MemoryRecord) -> datetime:
    return _aware(record.created_at)


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)  # CrewAI's own times are UTC without a zone


def _written(text: str) -> list[float]:
    written = text.encode("utf-8", "surrogatepass")
    chance, numbers = random.Random(written), [float(byte + 1) for byte in written]
    numbers += [_FILLING] * (_LEAST - len(numbers))
    return [number if chance.random() < 0.5 else -number for number in numbers]


def _read(vector: Sequence[float]) -> str:
    return bytes(round(abs(one)) - 1 for one in vector if abs(one) < _FILLING).decode("utf-8", "surrogatepass")

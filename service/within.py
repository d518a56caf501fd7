"""Memories as a caller sees them who may not see all of a space: those of one category, or none but his own."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol, TypeVar

from core.engine import Engine
from core.errors import AddressTaken, NotFound, QuotaExceeded, Similar, Stale
from core.filters import And, Filter, Leaf
from core.query import Query
from core.text import fold
from core.values import (
    LOCAL,
    Answer,
    Counts,
    Draft,
    Found,
    History,
    Likeness,
    Memory,
    OnConflict,
    Page,
    RequestKey,
    Stats,
    Written,
)
from core.writing import TRIES, IfMatch
from service.access import Access
from service.errors import HttpError

T = TypeVar("T")


class Memories(Protocol):
    """What the engine offers within a space."""

    def add(
        self,
        space: str,
        drafts: Sequence[Draft],
        *,
        on_conflict: OnConflict = "reject",
        request: RequestKey | None = None,
        path: str = "$",
    ) -> Written: ...
    def update(
        self,
        space: str,
        memory_id: str,
        changes: Mapping[str, object],
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written: ...
    def put_entry(
        self, space: str, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None
    ) -> Written: ...
    def delete(
        self,
        space: str,
        memory_id: str,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
        by: str = LOCAL,
    ) -> Written: ...
    def delete_entry(
        self,
        space: str,
        category: str,
        key: str,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
        by: str = LOCAL,
    ) -> Written: ...
    def get(self, space: str, memory_id: str) -> Found: ...
    def get_entry(self, space: str, category: str, key: str) -> Found: ...
    def list_memories(
        self, space: str, *, filter: Filter | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page: ...
    def history(self, space: str, memory_id: str) -> History: ...
    def search(self, space: str, query: Query, max_age: float = 0.0) -> Answer: ...
    def search_at_once(self, space: str, query: Query, max_age: float = 0.0) -> Answer | None: ...
    def categories(self, space: str) -> Counts: ...
    def tags(self, space: str) -> Counts: ...
    def stats(self, space: str) -> Stats: ...


def seen_by(access: Access, engine: Engine) -> Memories:
    """The memories that a caller may see."""
    if access.grant.category is None and access.may("read"):
        return engine
    return Within(engine, access.grant.category, reads=access.may("read"))


@contextmanager
def discreet() -> Generator[None]:
    """What a whole space holds is told to those who see all of it."""
    try:
        yield
    except QuotaExceeded as refusal:
        raise QuotaExceeded(refusal.space, None) from None


class Within:
    """The engine for one category, or for a caller who may add but not read. As `Memories`."""

    def __init__(self, engine: Engine, category: str | None, *, reads: bool) -> None:
        self._engine, self._category, self._reads = engine, category, reads
        self._folded = None if category is None else fold(category)

    def add(
        self,
        space: str,
        drafts: Sequence[Draft],
        *,
        on_conflict: OnConflict = "reject",
        request: RequestKey | None = None,
        path: str = "$",
    ) -> Written:
        """What is like a memory that the caller may not see is stored beside it, as if that were not there."""
        own = [self._own(draft) for draft in drafts]
        try:
            with discreet():
                written = self._engine.add(space, own, on_conflict=on_conflict, request=request, path=path)
        except Similar as refusal:
            if refusal.found and not any(self._shows(one.category) for one in refusal.found):
                return self.add(space, own, on_conflict="keep", request=request, path=path)
            raise self._told(refusal) from None
        except AddressTaken as refusal:
            if self._reads:
                raise
            raise AddressTaken(refusal.category, refusal.key, (), refusal.position, hidden=True) from None
        return replace(written, similar=self._shown(written.similar))

    def update(
        self,
        space: str,
        memory_id: str,
        changes: Mapping[str, object],
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        if "category" in changes:
            self._check(changes["category"])
        with discreet():
            return self._guarded(
                space,
                memory_id,
                if_match,
                lambda match: self._engine.update(space, memory_id, changes, if_match=match, request=request),
            )

    def put_entry(
        self, space: str, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None
    ) -> Written:
        self._check(draft.category)
        with discreet():
            return self._engine.put_entry(space, draft, if_match=if_match, request=request)

    def delete(
        self,
        space: str,
        memory_id: str,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
        by: str = LOCAL,
    ) -> Written:
        return self._guarded(
            space,
            memory_id,
            if_match,
            lambda match: self._engine.delete(space, memory_id, if_match=match, request=request, by=by),
        )

    def delete_entry(
        self,
        space: str,
        category: str,
        key: str,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
        by: str = LOCAL,
    ) -> Written:
        self._seek(category, key)
        return self._engine.delete_entry(space, category, key, if_match=if_match, request=request, by=by)

    def get(self, space: str, memory_id: str) -> Found:
        found = self._engine.get(space, memory_id)
        if not self._shows(found.memory.category):
            raise NotFound("memory", memory_id)
        return found

    def get_entry(self, space: str, category: str, key: str) -> Found:
        self._seek(category, key)
        return self._engine.get_entry(space, category, key)

    def list_memories(
        self, space: str, *, filter: Filter | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page:
        return self._engine.list_memories(space, filter=self._only(filter), limit=limit, cursor=cursor)

    def history(self, space: str, memory_id: str) -> History:
        history = self._engine.history(space, memory_id)
        if not self._shows(history.versions[0].memory.category):
            raise NotFound("memory", memory_id)
        versions = tuple(version for version in history.versions if self._shows(version.memory.category))
        return replace(history, versions=versions)

    def search(self, space: str, query: Query, max_age: float = 0.0) -> Answer:
        return self._engine.search(space, replace(query, filter=self._only(query.filter)), max_age)

    def search_at_once(self, space: str, query: Query, max_age: float = 0.0) -> Answer | None:
        return self._engine.search_at_once(space, replace(query, filter=self._only(query.filter)), max_age)

    def categories(self, space: str) -> Counts:
        return self._engine.categories(space, category=self._category)

    def tags(self, space: str) -> Counts:
        return self._engine.tags(space, category=self._category)

    def stats(self, space: str) -> Stats:
        return self._engine.stats(space, category=self._category)

    def _own(self, draft: Draft) -> Draft:
        if self._category is None:
            return draft
        if draft.category is not None:
            self._check(draft.category)
        return replace(draft, category=self._category)

    def _check(self, category: object) -> None:
        if not self._shows(category):
            raise HttpError("forbidden", f"this key works in category {self._category!r} only; leave it out")

    def _seek(self, category: str, key: str) -> None:
        if not self._shows(category):
            raise NotFound("entry", f"{category}/{key}")

    def _shows(self, category: object) -> bool:
        return self._folded is None or (isinstance(category, str) and fold(category) == self._folded)

    def _shown(self, found: Iterable[Likeness]) -> tuple[Likeness, ...]:
        return tuple(one for one in found if self._reads and self._shows(one.category))

    def _told(self, refusal: Similar) -> Similar:
        shown = self._shown(refusal.found)
        hidden = bool(refusal.found) and not shown
        return type(refusal)(shown, refusal.position, other=refusal.other, checked_at=refusal.checked_at, hidden=hidden)

    def _only(self, filter: Filter | None) -> Filter | None:
        if self._folded is None:
            return filter
        own = Leaf("category", "eq", self._folded)
        return own if filter is None else And((own, filter))

    def _guarded(self, space: str, memory_id: str, if_match: IfMatch, change: Callable[[IfMatch], T]) -> T:
        """Change a memory that is the caller's in the very version that was looked at."""
        for last in (False,) * (TRIES - 1) + (True,):
            memory = self._newest(space, memory_id)
            try:
                return change((memory.etag,) if if_match is None else if_match)
            except Stale:
                if last or if_match is not None:
                    raise
        raise AssertionError("the last try returns or raises")

    def _newest(self, space: str, memory_id: str) -> Memory:
        """Of a deleted memory too: a repeated request wants its first answer."""
        return self.history(space, memory_id).versions[0].memory

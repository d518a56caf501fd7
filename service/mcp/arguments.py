"""What the tools take, as types. An argument that is not named here is an error."""

from typing import Any

from msgspec import Struct

from core.errors import InvalidInput
from core.terms import Verdict
from service.decode import decode, prepare
from service.schemas import fields
from service.schemas.requests import AddBody, EntryBody, PatchBody, SearchBody, SupersedeBody


class InSpace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every tool takes. The space is None when the caller names none."""

    space: str | None = None


class Remember(AddBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    space: str | None = None
    replace: bool = False
    supersedes: str | None = None
    idempotency_key: str | None = None

    def successor(self) -> SupersedeBody:
        return SupersedeBody(**{name: getattr(self, name) for name in SupersedeBody.__struct_fields__})

    def entry(self, category: str, key: str) -> Any:
        given = {name: getattr(self, name) for name in EntryBody.__struct_fields__}
        return EntryBody(**given).entry(category, key)


class Recall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: fields.QueryText
    space: str | None = None
    limit: fields.Limit = 10
    max_tokens: int = 2000
    category: str | None = None
    tags: list[str] = []
    filter: fields.FilterJson | None = None
    mode: fields.ModeName = "hybrid"
    min_evidence: fields.MinEvidence | None = None
    as_of: fields.AsOf | None = None
    no_touch: bool = False

    def search(self) -> SearchBody:
        checked(self.max_tokens)
        return SearchBody(
            query=self.query,
            limit=self.limit,
            mode=self.mode,
            filter=narrowed(self.filter, self.category, self.tags),
            min_evidence=self.min_evidence,
            as_of=self.as_of,
            no_touch=self.no_touch,
        )


class OneMemory(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str | None = None
    category: str | None = None
    key: str | None = None
    no_touch: bool = False


class ListMemories(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: int = 20
    cursor: str | None = None
    max_tokens: int = 2000
    category: str | None = None
    tags: list[str] = []
    filter: fields.FilterJson | None = None


class UpdateMemory(PatchBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    space: str | None = None
    feedback: Verdict | None = None
    if_version: int | None = None
    idempotency_key: str | None = None

    def patch(self) -> PatchBody:
        return PatchBody(**{name: getattr(self, name) for name in PatchBody.__struct_fields__})


class History(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    limit: fields.Limit = 10


class Restore(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    version: int | None = None
    if_version: int | None = None
    idempotency_key: str | None = None


class Forget(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    if_version: int | None = None
    idempotency_key: str | None = None


class ImportMemories(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ndjson: str
    dry_run: bool = False


ALL = (InSpace, Remember, Recall, OneMemory, ListMemories, UpdateMemory, Forget, History, Restore, ImportMemories)
for _kind in ALL:
    prepare(_kind)


def read(raw: bytes, kind: Any) -> Any:
    """Raises `InvalidInput` or `HttpError`."""
    return decode(raw, kind)


def checked(max_tokens: int) -> int:
    """Raises `InvalidInput`."""
    if not 200 <= max_tokens <= 100_000:
        raise InvalidInput.at("$.max_tokens", f"{max_tokens} is not between 200 and 100,000")
    return max_tokens


def narrowed(filter: Any, category: str | None, tags: list[str]) -> Any:
    """One filter of all that is asked; None when nothing is."""
    short = {
        **({"category": category} if category is not None else {}),
        **({"tags": {"any": tags}} if tags else {}),
    }
    if filter is not None and short:
        return {"and": [filter, short]}
    return filter if filter is not None else short or None

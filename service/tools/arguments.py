"""The arguments of the tools on memories, as types. An argument that is not named is an error.

Those of other tools are beside their functions. `service.tools.catalog` derives the JSON Schemas that clients read.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct
from msgspec.structs import replace

from muisti.core.conversations.context.counting import ENCODINGS, USUAL
from muisti.core.conversations.context.request import Request
from muisti.core.model.choices import APPLIES as LEAST
from muisti.core.model.choices import INSTRUCTIONS_MAX, SORTS, Scope, Verdict
from muisti.core.model.context import SectionName
from muisti.core.model.context import Wanted as SectionWanted
from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Address, Name
from muisti.core.query import filters
from muisti.core.query.filter_fields import moment
from muisti.core.query.filters import And, Filter, Leaf
from muisti.core.query.query import Query
from muisti.core.text.when.zones import zone_of
from muisti.service.schemas import fields
from muisti.service.schemas.copying import copied
from muisti.service.schemas.requests import AddBody, EntryBody, PatchBody, SupersedeBody
from muisti.service.schemas.search_requests import RecencyBody, SearchBody

WRITING: Mapping[str, Scope] = {  # scopes of actions that do more than read
    **{"rename": "write", "move": "write", "close": "write", "reopen": "write"},
    **{"topic": "append", "delete": "delete"},
}
Wanted = Literal["none", "weak", "strong"]  # the least evidence with which memories are returned
NewStatus = Annotated[str, Meta(extra_json_schema={"enum": ["active", "candidate"]})]
Order = Annotated[str, Meta(extra_json_schema={"enum": list(SORTS)})]

TOKENS_MIN, TOKENS_MAX = 200, 100_000
CONTENTS_MAX = 50  # memories of one call of `remember`
UNDO_MOST = 1_000  # changes of one call of `undo`


class NoArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No arguments."""


class InSpace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The space in which a tool works, None when the caller names none."""

    space: str | None = None


class OneMemory(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory, named by its id, or by its category and key."""

    id: str | None = None
    category: str | None = None
    key: str | None = None

    def name(self, own: str | None) -> Name:
        """Return the memory that is named. `own`: the only category of the caller.

        Raises:
            InvalidInput: none is named, or two.
        """
        if self.id is not None:
            if self.category is not None or self.key is not None:
                raise InvalidInput.at("$.id", f"goes without {_address(own)}: name the memory in one way")
            return self.id
        return _named(self.category, self.key, own)


class Change(OneMemory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change to one memory."""

    if_version: int | None = None
    idempotency_key: str | None = None
    dry_run: bool = False


class Narrow(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which memories are meant: those that meet all that is given."""

    category: str | None = None
    tags: list[str] = []
    author: str | None = None
    changed_after: str | None = None
    changed_before: str | None = None
    filter: fields.FilterJson | None = None

    def narrowed(self) -> Filter | None:
        """Return one filter of all that is given, None when nothing is.

        Raises:
            InvalidInput: something in it cannot be read.
        """
        parts = [*self._parts()]
        return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None

    def _parts(self) -> Iterator[Filter]:
        if self.filter is not None:
            yield filters.parse(self.filter)
        given = {"category": self.category, "author": self.author, "tags": self.tags or None}
        yield from (filters.parse({name: value}, "$") for name, value in given.items() if value is not None)
        yield from _changed("changed_after", "gte", self.changed_after)
        yield from _changed("changed_before", "lt", self.changed_before)


class Remember(AddBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    content: fields.Content = ""
    contents: list[str] = []
    anchors: list[str] = []  # pyright: ignore[reportIncompatibleVariableOverride]  # tools take the short form
    status: NewStatus = "active"
    space: str | None = None
    replace: bool = False
    supersedes: str | None = None
    idempotency_key: str | None = None
    dry_run: bool = False

    def each(self) -> tuple["Remember", ...]:
        """Return the arguments for each of several contents; those of a single one as they are.

        Raises:
            InvalidInput: there is no content, there are too many, or what is about one memory goes with several.
        """
        if not self.contents:
            if not self.content:
                raise InvalidInput.at("$.content", "is required; contents takes several")
            return (self,)
        if self.content:
            raise InvalidInput.at("$.contents", "goes without content: give one of them")
        if self.key is not None or self.replace or self.supersedes is not None:
            raise InvalidInput.at("$.contents", "goes without key, replace and supersedes, which are about one memory")
        if len(self.contents) > CONTENTS_MAX:
            raise InvalidInput.at("$.contents", f"has {len(self.contents)} texts; {CONTENTS_MAX} is the most at a time")
        return tuple(replace(self, content=text, contents=[]) for text in self.contents)

    def successor(self) -> SupersedeBody:
        return copied(SupersedeBody, self)

    def entry(self, category: str, key: str) -> Any:
        return copied(EntryBody, self).entry(category, key)


class Recall(Narrow, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: fields.QueryText
    limit: fields.Limit = 10
    max_tokens: int = 2000
    full: bool = False
    mode: fields.ModeName = "hybrid"
    match: fields.MatchName = "any"
    min_evidence: Wanted | None = None
    applies: float = LEAST
    facts: bool = False
    recency_weight: float | None = None
    half_life_days: float | None = None
    as_of: fields.AsOf | None = None
    time_zone: fields.TimeZone | None = None
    no_touch: bool = False
    instructions: fields.InstructionsMost = INSTRUCTIONS_MAX

    def search(self) -> Query:
        """Raises `InvalidInput`."""
        checked(self.max_tokens)
        plain = SearchBody(
            query=self.query,
            limit=self.limit,
            mode=self.mode,
            match=self.match,
            recency=self._recency(),
            min_evidence=None if self.min_evidence == "none" else self.min_evidence,
            applies=0.0 if self.min_evidence == "none" else self.applies,
            facts=self.facts,
            as_of=self.as_of,
            time_zone=self.time_zone,
            no_touch=self.no_touch,
            instructions=self.instructions,
        )
        return replace(plain.to_query(), filter=self.narrowed())

    def _recency(self) -> RecencyBody | None:
        if self.recency_weight is None and self.half_life_days is None:
            return None
        body = RecencyBody(half_life_days=UNSET if self.half_life_days is None else self.half_life_days)
        return body if self.recency_weight is None else replace(body, weight=self.recency_weight)


class GetContext(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: str = ""
    handoff: bool = False
    max_tokens: int = 1000
    encoding: Annotated[str, Meta(extra_json_schema={"enum": list(ENCODINGS)})] = USUAL
    conversation: str | None = None
    time_zone: fields.TimeZone | None = None
    profile: int = 0

    def request(self) -> Request:
        """Return the context that is asked for: the profile, the last turns of the conversation, and memories."""
        sections: dict[SectionName, SectionWanted] = {}
        if self.profile:
            sections["profile"] = SectionWanted(max_tokens=self.profile)
        if self.conversation is not None:
            sections["recent"] = SectionWanted(max_tokens=max(self.max_tokens // 3, 1))
        sections["memories"] = SectionWanted()
        return Request(
            query=self.query,
            token_budget=self.max_tokens,
            encoding=self.encoding,
            conversation=self.conversation,
            time_zone=zone_of(self.time_zone, None),
            sections=sections,
            instructions=True,
        )


class GetMemory(OneMemory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    as_of: fields.AsOf | None = None
    no_touch: bool = False


class ListMemories(Narrow, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sort: Order | None = None
    limit: int = 20
    cursor: str | None = None
    max_tokens: int = 2000
    full: bool = False
    as_of: fields.AsOf | None = None


class UpdateMemory(Change, frozen=True, kw_only=True, forbid_unknown_fields=True):
    changes: PatchBody = PatchBody()
    feedback: Verdict | None = None


class History(OneMemory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: fields.Limit = 10
    cursor: str | None = None


class UndoChanges(Change, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int | None = None
    last: int | None = None

    @property
    def of_one(self) -> bool:
        """Tell whether one memory is named, so that its changes are undone and not those of the caller."""
        return self.id is not None or self.category is not None or self.key is not None

    def which(self) -> Undo:
        """Return the changes of the caller that are undone.

        Raises:
            InvalidInput: an argument about one memory is given and no memory named, or `last` is out of range.
        """
        for name in ("version", "if_version"):
            if getattr(self, name) is not None:
                raise InvalidInput.at(f"$.{name}", "is about one memory: name it")
        if self.last is not None and not 1 <= self.last <= UNDO_MOST:
            raise InvalidInput.at("$.last", f"{self.last} is not between 1 and {UNDO_MOST:,}")
        return Undo(last=self.last)


class Overview(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    since: str | None = None

    def changed_after(self, usual: str) -> Filter:
        """Return the condition on memories that count as new; `usual` is the point when none is given.

        Raises:
            InvalidInput: `since` is no time.
        """
        (condition,) = _changed("since", "gte", usual if self.since is None else self.since)
        return condition


class Search(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question of a connector's `search`, which takes nothing else."""

    query: fields.QueryText


class Fetch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The id of a result of `search`."""

    id: str


class ImportMemories(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ndjson: str
    dry_run: bool = False


def checked(max_tokens: int) -> int:
    """Raises `InvalidInput`."""
    if not TOKENS_MIN <= max_tokens <= TOKENS_MAX:
        raise InvalidInput.at("$.max_tokens", f"{max_tokens} is not between {TOKENS_MIN} and {TOKENS_MAX:,}")
    return max_tokens


def _changed(name: str, operator: Literal["gte", "lt"], value: str | None) -> Iterator[Filter]:
    """Yield the condition on the time of the last change."""
    if value is not None:
        try:
            yield Leaf("updated_at", operator, moment(value))
        except ValueError as problem:
            raise InvalidInput.at(f"$.{name}", str(problem)) from None


def _named(category: str | None, key: str | None, own: str | None) -> Address:
    where = category if own is None else category or own
    if where is None or key is None:
        raise InvalidInput.at("$.id", f"give an id, or {_address(own)}")
    return Address(where, key)


def _address(own: str | None) -> str:
    return "category and key" if own is None else "key"

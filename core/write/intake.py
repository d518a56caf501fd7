"""Check text before it is stored in a space: caller, validation, policy and provenance are checked only here.

Every write that makes text current gets an `Accepted` from here, and memories are built only from that. Only `Intake`
creates an `Accepted` (a test reads the syntax tree). So no path can skip a check.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.embedding.models import Models
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, Problem, SensitiveContent
from muisti.core.model.fields import STATED
from muisti.core.model.ids import id_text
from muisti.core.model.messages import restated, sound
from muisti.core.model.outcomes import Flag
from muisti.core.model.spaces import check_open
from muisti.core.model.values import TRUST, Draft, Memory
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql import bulk_replace, inserting, memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import count_tokens
from muisti.core.write.calls import Call
from muisti.core.write.echoes import EchoCheck
from muisti.core.write.prepare import canonical, changed, draft_of, new_memory, ready
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions
from muisti.core.write.validate import check_alone, check_stays

# Compute the trust of a memory: that of its source class, and at most that of the memories it is derived from


class Lineage(msgspec.Struct, frozen=True):
    """The trust of a version in percent, flags for the caller, and statements that guard the trust in the batch."""

    trust: int
    flags: tuple[Flag, ...] = ()
    statements: tuple[Statement, ...] = ()


class Provenance(msgspec.Struct, frozen=True):
    """Read the memories that drafts are derived from. Instances are thread-safe."""

    database: Database

    def of_new(self, space: SpaceRow, draft: Draft, caller: Caller, path: str = "$") -> Lineage:
        """Return the lineage of a new memory, or of one that replaces another. `path` locates the draft in the request.

        Raises:
            InvalidInput: the draft is derived from a memory that does not exist.
        """
        ids = canonical(draft.derived_from) if draft.derived_from else ()
        if not ids:
            return Lineage(TRUST[draft.source_class])
        return _lineage(space, draft, self._living(space, ids, caller, path), path, {})

    def of_changed(self, space: SpaceRow, draft: Draft, before: Memory, caller: Caller) -> Lineage:
        """Return the lineage of a changed memory. Its sources stay, even when they were deleted or erased.

        Raises:
            InvalidInput: the draft drops a source, or names a memory that does not exist.
        """
        ids = canonical(draft.derived_from)
        if draft.source_class == before.source_class and ids == before.derived_from:
            return Lineage(before.trust)
        lost = [one for one in before.derived_from if one not in ids]
        if lost:
            raise InvalidInput.at("$.derived_from", f"lacks {lost[0]}; a source of a memory cannot be removed")
        fresh = [one for one in ids if one not in before.derived_from]
        living = self._living(space, fresh, caller, "$") if fresh else {}
        return _lineage(space, draft, living, "$", self._last(space, before))

    def lowered(self, space: SpaceRow, memory: Memory, echo: Sequence[Flag], path: str) -> tuple[int, tuple[Flag, ...]]:
        """Return the trust of a memory that repeats others, and a flag if that is lower than before."""
        ids = [one for flag in echo for one in flag.ids]
        (rows,) = self.database.read([memories.trusts(space, ids, living=True)]) if ids else ([],)
        found = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in rows}
        trust = min(found.values(), default=memory.trust)
        if trust >= memory.trust:
            return memory.trust, ()
        lowest = tuple(one for one, trusted in found.items() if trusted == trust)
        return trust, (Flag(code="trust_lowered", path=f"{path}.derived_from", kind=memory.source_class, ids=lowest),)

    def check_parent(self, space: SpaceRow, draft: Draft, caller: Caller, path: str = "$") -> None:
        """Raise `InvalidInput` when the caller names a parent that it may not read, as if there were none.

        The batch refuses a parent that does not exist.
        """
        named = () if draft.parent_id is None or caller.sees_all else canonical((draft.parent_id,))
        if not named:
            return
        (rows,) = self.database.read([memories.trusts(space, named, living=True)])
        if not any(caller.may_read(row[2]) for row in rows):
            raise InvalidInput.at(f"{path}.parent_id", f"no memory {named[0]} in this space")

    def _living(self, space: SpaceRow, ids: Sequence[str], caller: Caller, path: str) -> dict[str, int]:
        (rows,) = self.database.read([memories.trusts(space, ids, living=True)])
        found = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in rows if caller.may_read(row[2])}
        missing = [one for one in ids if one not in found]
        if missing:
            raise InvalidInput([Problem(f"{path}.derived_from", f"no memory {one} in this space") for one in missing])
        return found

    def _last(self, space: SpaceRow, before: Memory) -> dict[str, int]:
        """Return the trust of the sources of a memory. An erased source counts with the trust of the memory itself."""
        if not before.derived_from:
            return {}
        (rows,) = self.database.read([memories.trusts(space, before.derived_from, living=False)])
        found = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in rows}
        return {one: found.get(one, before.trust) for one in before.derived_from}


def _lineage(space: SpaceRow, draft: Draft, living: dict[str, int], path: str, earlier: dict[str, int]) -> Lineage:
    sources = living | earlier
    trust = min([TRUST[draft.source_class], *sources.values()])
    statements = (inserting.refuse_less_trusted(space, list(living), trust),) if living else ()
    if trust == TRUST[draft.source_class]:
        return Lineage(trust, (), statements)
    lowest = tuple(one for one, trusted in sources.items() if trusted == trust)
    flag = Flag(code="trust_lowered", path=f"{path}.derived_from", kind=draft.source_class, ids=lowest)
    return Lineage(trust, (flag,), statements)


NO_FLAGS: tuple[Flag, ...] = ()
Cited = Callable[[SpaceRow, Draft, Caller, int], Draft]  # returns a draft with the hashes of what its anchors name


class Accepted(msgspec.Struct, frozen=True):
    """A draft that may be stored. Its `statements` belong to the batch; they refuse it when a source is gone."""

    draft: Draft
    flags: tuple[Flag, ...]
    trust: int
    statements: tuple[Statement, ...] = ()

    def first(self, space: SpaceRow, memory_id: str, now: int, supersedes: str | None = None) -> Memory:
        """Return the first version of a new memory."""
        return new_memory(self.draft, space.space.name, memory_id, now, self.trust, supersedes)

    def next(self, before: Memory, now: int) -> Memory:
        """Return the version that follows `before`."""
        return changed(before, self.draft, now, self.trust)


class Intake(msgspec.Struct, frozen=True):
    """Decide what may be stored. Instances are thread-safe."""

    screener: Screener
    echoes: EchoCheck
    provenance: Provenance
    cited: Cited

    def new(
        self,
        space: SpaceRow,
        draft: Draft,
        call: Call,
        path: str = "$",
        *,
        echoes: bool = True,
        hierarchy: bool = False,
    ) -> Accepted:
        """Accept a draft for a new memory. `path` is its place in the request.

        With `echoes` False, no echo check is made: the draft replaces a memory that the caller names and may repeat it.
        With `hierarchy`, the draft may be an exchange or an object of the hierarchy of conversations.

        Raises:
            InvalidInput, SensitiveContent, Forbidden, Echo.
        """
        check_open(space.space)
        draft = call.caller.own(draft)
        if draft.key is not None:
            call.caller.check_reads("leave key out")
        if draft.status == "deprecated":  # an imported memory may be
            raise InvalidInput.at(f"{path}.status", "a new memory is active or candidate; it can be deprecated later")
        if not hierarchy:
            check_alone(draft, path)
            if draft.parent_id is not None:
                self.provenance.check_parent(space, draft, call.caller, path)
        draft = self.cited(space, draft, call.caller, call.now)
        draft, redactions = self.screener.screened(space, draft, call, path)
        draft, echo = self.echoes.marked(space, draft, call, path) if echoes else (draft, NO_FLAGS)
        lineage = self.provenance.of_new(space, draft, call.caller, path)
        return Accepted(draft, (*redactions, *echo, *lineage.flags), lineage.trust, lineage.statements)

    def batch(
        self,
        space: SpaceRow,
        drafts: Sequence[Draft],
        call: Call,
        places: Sequence[str],
        *,
        echoes: bool,
        hierarchy: bool = False,
    ) -> list[Accepted]:
        """Accept drafts for new memories, all or none; the flags are those of `new`.

        Raises:
            InvalidInput, Forbidden, Echo: of the first draft that cannot be stored.
            SensitiveContent: the policy refuses some drafts; each of them is named.
        """
        accepted: list[Accepted] = []
        refused: list[SensitiveContent] = []
        for draft, place in zip(drafts, places, strict=True):
            try:
                accepted.append(self.new(space, draft, call, place, echoes=echoes, hierarchy=hierarchy))
            except SensitiveContent as refusal:
                refused.append(refusal)
        if refused:
            problems = [problem for refusal in refused for problem in refusal.problems]
            raise SensitiveContent(problems, len(refused), len(drafts))
        return accepted

    def replacing(self, space: SpaceRow, draft: Draft, before: Memory, call: Call, *, is_over: bool) -> Accepted:
        """Accept a draft that replaces a whole memory. Text that is current in the memory passes the policy.

        A turn keeps its place in the conversation, and the division of its text.

        `is_over`: the memory has expired, and the draft becomes a new memory in its place.

        Raises:
            InvalidInput, SensitiveContent, Forbidden, Echo.
        """
        check_open(space.space)
        if is_over:
            return self.new(space, draft, call)
        draft = call.caller.own(draft)
        check_alone(draft)
        draft = _in_place(draft, draft_of(before))
        if draft.parent_id != before.parent_id:
            self.provenance.check_parent(space, draft, call.caller)
        draft = self.cited(space, draft, call.caller, call.now)
        draft, redactions = self.screener.screened(space, draft, call, before=draft_of(before))
        return _accepted(draft, redactions, self.provenance.of_new(space, draft, call.caller))

    def changed(self, space: SpaceRow, draft: Draft, before: Memory, call: Call) -> Accepted:
        """Accept the draft of a changed memory. Text that is current in the memory passes the policy.

        Raises:
            InvalidInput, SensitiveContent, Forbidden.
        """
        check_open(space.space)
        stated = draft_of(before)
        draft = call.caller.changed(draft, stated)
        if draft == stated:
            return Accepted(draft, NO_FLAGS, before.trust)
        check_stays(draft, stated)
        if draft.parent_id != stated.parent_id:
            self.provenance.check_parent(space, draft, call.caller)
        if draft.anchors != stated.anchors:
            draft = self.cited(space, draft, call.caller, call.now)
        draft, redactions = self.screener.screened(space, draft, call, before=stated)
        if draft == stated:
            return Accepted(draft, redactions, before.trust)
        return _accepted(draft, redactions, self.provenance.of_changed(space, draft, before, call.caller))

    def brought(
        self, space: SpaceRow, memory: Memory, current: Memory | None, call: Call, path: str = "$", *, is_new: bool
    ) -> tuple[Memory, tuple[Flag, ...]]:
        """Accept an earlier memory: a restored, merged or imported one, or one of an earlier point of history.

        Text of `current`, the current version of the same memory, passes. `is_new`: the space never had the memory, so
        it may be an echo. Source class and trust stay, or trust drops to that of the memories that it repeats.

        Raises:
            InvalidInput: the text is not valid after a secret was redacted.
            SensitiveContent, Echo.
        """
        check_open(space.space)
        stated = draft_of(memory)
        draft, redactions = self.screener.cleaned(
            space, sound(stated), call, path, None if current is None else draft_of(current)
        )
        draft, echo = self.echoes.marked(space, draft, call, path) if is_new else (draft, NO_FLAGS)
        if draft == stated:
            return memory, (*redactions, *echo)
        values = {name: getattr(draft, name) for name in STATED if getattr(draft, name) != getattr(stated, name)}
        trust, lowered = self.provenance.lowered(space, memory, echo, path)
        accepted = structs.replace(memory, **values, trust=trust, tokens=count_tokens(draft.content))
        return accepted, (*redactions, *echo, *lowered)

    def text(self, space: SpaceRow, text: str, call: Call, path: str) -> str:
        """Accept a text that is stored beside memories; see `Screener.text`."""
        check_open(space.space)
        return self.screener.text(space, text, call, path)

    def name(self, space: SpaceRow, name: str, call: Call, path: str) -> None:
        """Accept a name that is stored beside memories; see `Screener.name`."""
        check_open(space.space)
        self.screener.name(space, name, call, path)

    def asks_nothing(self, space: SpaceRow, call: Call) -> bool:
        """Return whether the space accepts every earlier memory unchanged, so that none needs to be read.

        Raises:
            InvalidInput: the space is archived.
        """
        check_open(space.space)
        return self.screener.asks_nothing(space, call) and self.echoes.asks_nothing(space)


def _in_place(draft: Draft, before: Draft) -> Draft:
    """Return the draft that replaces another, as a turn where that is one."""
    if before.conversation is None:
        return draft
    text = restated(before, {"content": draft.content})
    place = {name: getattr(before, name) for name in ("kind", "session", "conversation", "topic", "turn", "structure")}
    return structs.replace(draft, **{**place, **text})


def _accepted(draft: Draft, flags: tuple[Flag, ...], lineage: Lineage) -> Accepted:
    return Accepted(draft, (*flags, *lineage.flags), lineage.trust, lineage.statements)


def place_of(memory_id: str) -> str:
    """Return the path that names a memory in a problem or flag, when the request does not contain the memory."""
    return f"$.memories[{memory_id}]"


# Merges and roll-backs make many memories current together, by copying rows inside the database. A version that the
# policy redacts is copied from a staging space, which the batch deletes.

PAGE = 500  # versions in one read
NAMED = 100  # memories listed in a refusal


class Allowed(msgspec.Struct, frozen=True):
    """Statements to run after those of the plan, statements that end the batch, and the flags of redacted text."""

    plan: Sequence[Statement] = ()
    end: Sequence[Statement] = ()
    flags: tuple[Flag, ...] = ()


def allowed(
    store: Transactions, intake: Intake, space: SpaceRow, planned: Sequence[Statement], call: Call, *, are_new: bool
) -> Allowed:
    """Return the statements that apply the policy to a plan.

    `are_new`: memories that are not current in the space were never in it.

    Raises:
        SensitiveContent: the policy refuses text that would become current; the paths name the memories.
        Echo: the policy refuses echoes, and one of the memories repeats what the caller has just found.
        Refused: the plan is no longer valid.
    """
    if intake.asks_nothing(space, call):
        return Allowed()
    rows = store.database.rehearse([*planned, bulk_replace.planned()])[-1]
    problems, flags, changed = list[Problem](), list[Flag](), list[tuple[int, Memory]]()
    for source, memory, current in _read(store.database, space, rows):
        is_new = are_new and current is None
        try:
            accepted, redactions = intake.brought(space, memory, current, call, place_of(memory.id), is_new=is_new)
        except SensitiveContent as refusal:
            problems += refusal.problems
            continue
        flags += redactions
        if accepted is not memory:
            changed.append((source, accepted))
    if problems:
        raise SensitiveContent(problems[:NAMED])
    seen = bulk_replace.refuse_others(cast(list[tuple[int, int | None]], rows))
    return Allowed(
        [seen, *_staged(space, changed, store.models)], bulk_replace.clear_arrivals() if changed else [], tuple(flags)
    )


def _read(database: Database, space: SpaceRow, rows: Rows) -> Iterator[tuple[int, Memory, Memory | None]]:
    """Yield for each memory the source row, the version that would become current, and the current one or None."""
    for start in range(0, len(rows), PAGE):
        page = cast(list[tuple[int, int | None]], rows[start : start + PAGE])
        wanted = sorted({row for pair in page for row in pair if row is not None})
        (read,) = database.read([memories.by_rows(wanted)])
        found = {cast(int, row[0]): version_rows.memory(row, space.space.name) for row in read}
        for source, living in page:
            if source in found:
                yield source, found[source], None if living is None else found.get(living)


def _staged(space: SpaceRow, changed: Sequence[tuple[int, Memory]], models: Models) -> Iterator[Statement]:
    if not changed:
        return
    made = ready([memory for _, memory in changed], space, models)
    yield from bulk_replace.begin_arrivals(space)
    for number, ((source, _), new) in enumerate(zip(changed, made, strict=True)):
        yield from bulk_replace.instead(space, source, new, number)

"""The one door for text into a space: caller, validation, policy and provenance are asked here and nowhere else.

Every write that makes text current in a space takes what it stores from here. `Accepted` is the only thing that
memories are made from, and only `Intake` makes it (a test reads the syntax tree), so that no path can forget a check.
"""

from collections.abc import Sequence

import msgspec
from msgspec import structs

from muisti.core.model.errors import SensitiveContent
from muisti.core.model.fields import STATED
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Draft, Memory
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import count_tokens
from muisti.core.write.begun import Call
from muisti.core.write.echo_check import EchoCheck
from muisti.core.write.prepare import changed, draft_of, new_memory
from muisti.core.write.provenance import Lineage, Provenance
from muisti.core.write.screening import Screener
from muisti.core.write.validate import check_alone, check_new, check_stays

NO_FLAGS: tuple[Flag, ...] = ()


class Accepted(msgspec.Struct, frozen=True):
    """A draft as a space takes it. `statements` belong into its batch: they hold only while its sources do."""

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


class Intake:
    """Decides what may be stored. Thread-safe."""

    def __init__(self, screener: Screener, echoes: EchoCheck, provenance: Provenance) -> None:
        self._screener, self._echoes, self._provenance = screener, echoes, provenance

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

        `echoes` False: the draft takes the place of a memory that the caller names, which it may well repeat.
        `hierarchy`: the draft may be an exchange or an object of the hierarchy of conversations.

        Raises:
            InvalidInput, SensitiveContent, Forbidden, Echo.
        """
        draft = call.caller.own(draft)
        check_new(draft, path)
        if not hierarchy:
            check_alone(draft, path)
        draft, told = self._screener.screened(space, draft, call, path)
        draft, echo = self._echoes.marked(space, draft, call, path) if echoes else (draft, NO_FLAGS)
        return _accepted(draft, (*told, *echo), self._provenance.of_new(space, draft, call.caller, path))

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
            SensitiveContent: some hold what the space refuses; each of them is named.
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
        """Accept a draft that replaces the whole of a memory; text that is current there passes the policy.

        `is_over`: that memory has expired, and the draft is a new one in its place.

        Raises:
            InvalidInput, SensitiveContent, Forbidden, Echo.
        """
        if is_over:
            return self.new(space, draft, call)
        draft = call.caller.own(draft)
        check_alone(draft)
        draft, told = self._screener.screened(space, draft, call, before=draft_of(before))
        return _accepted(draft, told, self._provenance.of_new(space, draft, call.caller))

    def changed(self, space: SpaceRow, draft: Draft, before: Memory, call: Call) -> Accepted:
        """Accept the draft of a changed memory; text that is current there passes the policy.

        Raises:
            InvalidInput, SensitiveContent, Forbidden.
        """
        stated = draft_of(before)
        draft = call.caller.changed(draft, stated)
        if draft == stated:
            return Accepted(draft, NO_FLAGS, before.trust)
        check_stays(draft, stated)
        draft, told = self._screener.screened(space, draft, call, before=stated)
        if draft == stated:
            return Accepted(draft, told, before.trust)
        return _accepted(draft, told, self._provenance.of_changed(space, draft, before, call.caller))

    def brought(
        self, space: SpaceRow, memory: Memory, current: Memory | None, call: Call, path: str = "$", *, is_new: bool
    ) -> tuple[Memory, tuple[Flag, ...]]:
        """Accept a memory that was written before: restored, merged, imported, or of an earlier point of history.

        Text of `current`, which is current under the same id, passes. `is_new`: the space has never had the memory, so
        that it may be an echo. Its source class and trust stay, or sink to those of the memories that it repeats.

        Raises:
            InvalidInput: what is left after taking out a secret cannot be stored.
            SensitiveContent, Echo.
        """
        stated = draft_of(memory)
        draft, told = self._screener.cleaned(space, stated, call, path, None if current is None else draft_of(current))
        draft, echo = self._echoes.marked(space, draft, call, path) if is_new else (draft, NO_FLAGS)
        if draft == stated:
            return memory, (*told, *echo)
        values = {name: getattr(draft, name) for name in STATED if getattr(draft, name) != getattr(stated, name)}
        trust, lowered = self._provenance.lowered(space, memory, echo, path)
        accepted = structs.replace(memory, **values, trust=trust, tokens=count_tokens(draft.content))
        return accepted, (*told, *echo, *lowered)

    def asks_nothing(self, space: SpaceRow, call: Call) -> bool:
        """Whether whatever was written before may be current in the space, so that nothing need be read."""
        return self._screener.asks_nothing(space, call) and self._echoes.asks_nothing(space)


def _accepted(draft: Draft, flags: tuple[Flag, ...], lineage: Lineage) -> Accepted:
    return Accepted(draft, (*flags, *lineage.flags), lineage.trust, lineage.statements)


def place_of(memory_id: str) -> str:
    """Return the path under which a problem or a flag names a memory that no request body has."""
    return f"$.memories[{memory_id}]"

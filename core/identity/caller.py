"""The caller of a read or a write, and which memories of a space the caller may see."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import force_setattr, replace

from muisti.core.model.choices import SourceClass
from muisti.core.model.collisions import Similar
from muisti.core.model.errors import Forbidden
from muisti.core.model.fields import FIELDS
from muisti.core.model.outcomes import Likeness
from muisti.core.model.values import LOCAL, TRUST, Draft
from muisti.core.query.filters import And, Filter, Leaf
from muisti.core.text.terms import fold

_WORDED = tuple(field.name for field in FIELDS if field.worded)


class Caller(msgspec.Struct, frozen=True):
    """Identity and limits of a caller.

    `category` is the only category that the caller sees and writes; None for all. Without `reads` a caller sees only
    what it adds. `actor` is written to the audit log. It is also recorded with each change, beside `request`, the id
    of the HTTP request.

    `allows` names checks of a space's policy that do not apply to the caller: `secrets`, `personal_data`.
    `source_class` is the highest trust that the caller may claim; None for any.

    The last two follow from the others, whatever is given: `own_category` is the category, folded, and `sees_all` says
    that nothing is hidden.
    """

    actor: str = LOCAL
    category: str | None = None
    reads: bool = True
    request: str | None = None
    allows: frozenset[str] = frozenset()
    source_class: SourceClass | None = None
    own_category: str | None = None
    sees_all: bool = True

    def __post_init__(self) -> None:
        force_setattr(self, "own_category", None if self.category is None else fold(self.category))
        force_setattr(self, "sees_all", self.category is None and self.reads)

    def shows(self, category: object) -> bool:
        """Return whether the caller may see memories of this category. `reads` is not considered."""
        return self.own_category is None or (isinstance(category, str) and fold(category) == self.own_category)

    def may_read(self, category: object) -> bool:
        """Return whether the caller may read memories of this category."""
        return self.reads and self.shows(category)

    def check(self, category: object) -> None:
        """Raise `Forbidden` when the caller may not write to this category."""
        if not self.shows(category):
            raise Forbidden(f"this key works in category {self.category!r} only; leave category out")

    def own(self, draft: Draft) -> Draft:
        """Return the draft with the caller's category and source class.

        Raises:
            Forbidden: the draft names another category, or claims more trust than the caller has.
        """
        if self.source_class is not None:
            draft = self._from(draft, self.source_class)
        if self.category is None:
            return draft
        if draft.category is not None:
            self.check(draft.category)
        return replace(draft, category=self.category)

    def changed(self, draft: Draft, before: Draft) -> Draft:
        """Return the draft of a change, with the caller's source class where the caller is trusted less.

        Only a change of a `worded` field lowers the trust of a memory.

        Raises:
            Forbidden: the change would make the memory more trusted.
        """
        own = self.source_class
        if own is None or own == "user":
            return draft
        if TRUST[draft.source_class] > TRUST[before.source_class]:
            raise Forbidden(f"this key speaks for {own!r} and cannot set a more trusted source class")
        says = any(getattr(draft, name) != getattr(before, name) for name in _WORDED)
        return replace(draft, source_class=min(own, draft.source_class, key=TRUST.__getitem__)) if says else draft

    def _from(self, draft: Draft, own: SourceClass) -> Draft:
        if draft.source_class == "unknown":
            return replace(draft, source_class=own)
        if TRUST[draft.source_class] > TRUST[own]:
            raise Forbidden(f"this key speaks for {own!r}, and may not claim to be {draft.source_class!r}")
        return draft

    def only(self, filter: Filter | None) -> Filter | None:
        """Return the filter, limited to the caller's category."""
        if self.own_category is None:
            return filter
        own = Leaf("category", "eq", self.own_category)
        return own if filter is None else And((own, filter))

    def shown(self, found: Iterable[Likeness]) -> tuple[Likeness, ...]:
        """Return the similar memories that the caller may see."""
        return tuple(one for one in found if self.may_read(one.category))

    def redacted(self, refusal: Similar) -> Similar:
        """Return the refusal without the memories that the caller may not see."""
        shown = self.shown(refusal.found)
        hidden = bool(refusal.found) and not shown
        return type(refusal)(shown, refusal.position, other=refusal.other, checked_at=refusal.checked_at, hidden=hidden)

    def check_reads(self, what: str) -> None:
        """Raise `Forbidden` when the caller may not read. It learns from no answer which names are taken."""
        if not self.reads:
            raise Forbidden(f"a key without the scope read may not name what could be there already: {what}")

    def check_whole(self) -> None:
        """Raise `Forbidden` unless the caller sees all of a space."""
        if not self.sees_all:
            raise Forbidden("this needs a key that sees the whole space; this key sees a part of it")


OWNER = Caller()  # for code that opens the database itself

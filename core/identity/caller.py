"""Who reads and writes, and what of a space is theirs."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import force_setattr, replace

from muisti.core.model.errors import AddressTaken, Forbidden, Similar
from muisti.core.model.fields import FIELDS
from muisti.core.model.outcomes import Likeness
from muisti.core.model.terms import SourceClass
from muisti.core.model.values import LOCAL, TRUST, Draft
from muisti.core.query.filters import And, Filter, Leaf
from muisti.core.text.terms import fold

_WORDED = tuple(field.name for field in FIELDS if field.worded)


class Caller(msgspec.Struct, frozen=True):
    """`category` is the only one there is for them, None for all; without `reads` they see nothing but what they add.

    `actor` stands in the audit log, and with `request`, the id of the HTTP request, beside each change. `allows` names
    what the policy of a space would refuse or redact, and they may store: `secrets`, `personal_data`. What they say is
    trusted no more than `source_class`; None: as they say.
    """

    actor: str = LOCAL
    category: str | None = None
    reads: bool = True
    request: str | None = None
    allows: frozenset[str] = frozenset()
    source_class: SourceClass | None = None
    _folded: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "_folded", None if self.category is None else fold(self.category))

    @property
    def sees_all(self) -> bool:
        return self.category is None and self.reads

    @property
    def own_category(self) -> str | None:
        """The only category there is for them, without case; None for all."""
        return self._folded

    def shows(self, category: object) -> bool:
        """Whether a memory of this category is one of theirs."""
        return self._folded is None or (isinstance(category, str) and fold(category) == self._folded)

    def check(self, category: object) -> None:
        """Raise `Forbidden` when what is written would not be one of theirs."""
        if not self.shows(category):
            raise Forbidden(f"this key works in category {self.category!r} only; leave it out")

    def own(self, draft: Draft) -> Draft:
        """The draft, in their category.

        Raises:
            Forbidden: it names another.
        """
        draft = self._from(draft)
        if self.category is None:
            return draft
        if draft.category is not None:
            self.check(draft.category)
        return replace(draft, category=self.category)

    def changed(self, draft: Draft, before: Draft) -> Draft:
        """The draft of a change. Words that they put into a memory make it theirs, if they are trusted less.

        Raises:
            Forbidden: the change would make the memory more trusted.
        """
        own = self.source_class
        if own is None or own == "user":
            return draft
        if TRUST[draft.source_class] > TRUST[before.source_class]:
            raise Forbidden(f"this key speaks for {own!r}, and may not say that a memory comes from a better source")
        says = any(getattr(draft, name) != getattr(before, name) for name in _WORDED)
        return replace(draft, source_class=min(own, draft.source_class, key=TRUST.__getitem__)) if says else draft

    def _from(self, draft: Draft) -> Draft:
        own = self.source_class
        if own is None:
            return draft
        if draft.source_class == "unknown":
            return replace(draft, source_class=own)
        if TRUST[draft.source_class] > TRUST[own]:
            raise Forbidden(f"this key speaks for {own!r}, and may not claim to be {draft.source_class!r}")
        return draft

    def only(self, filter: Filter | None) -> Filter | None:
        """The filter, and of what passes it only what is theirs."""
        if self._folded is None:
            return filter
        own = Leaf("category", "eq", self._folded)
        return own if filter is None else And((own, filter))

    def shown(self, found: Iterable[Likeness]) -> tuple[Likeness, ...]:
        """What they may be told of."""
        return tuple(one for one in found if self.reads and self.shows(one.category))

    def told(self, refusal: Similar) -> Similar:
        """The refusal without what they may not see."""
        shown = self.shown(refusal.found)
        hidden = bool(refusal.found) and not shown
        return type(refusal)(shown, refusal.position, other=refusal.other, checked_at=refusal.checked_at, hidden=hidden)

    def told_of_address(self, refusal: AddressTaken) -> AddressTaken:
        """The same for an address; whose category that is they know."""
        if self.reads:
            return refusal
        return AddressTaken(refusal.category, refusal.key, (), refusal.position, hidden=True)


OWNER = Caller()  # whoever has the database itself

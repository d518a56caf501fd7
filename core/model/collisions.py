"""Conflicts of a new memory with those that are stored; see `core.model.errors` for all errors."""

from collections.abc import Sequence
from typing import ClassVar

from muisti.core.model.errors import NAMED, Conflict
from muisti.core.model.outcomes import Likeness
from muisti.core.model.values import Seq


class Similar(Conflict):
    """Current memories are too much like a new one: `found`, the most alike first, of the kind that the class names.

    `position` is the place of the new memory in its batch. `other` is the place of the memory in the batch that it is
    like, None when it is like stored ones. The check has seen all changes up to `checked_at`.
    """

    says: ClassVar[str]

    def __init__(
        self,
        found: Sequence[Likeness],
        position: int = 0,
        *,
        other: int | None = None,
        checked_at: Seq | None = None,
        hidden: bool = False,
    ) -> None:
        """Compose the message; `hidden` says that the stored memory is one that the caller may not see."""
        self.found, self.position, self.other, self.checked_at = tuple(found), position, other, checked_at
        self._hidden = hidden
        super().__init__(f"{self._what()}; {self._advice()}")

    def _what(self) -> str:
        if self.other is not None:
            return f"memory {self.position} of this batch {self.says} memory {self.other} of it{self._differs()}"
        if self._hidden:
            return f"the new memory {self.says} one that is stored"
        if not self.found:
            return f"memory {self.position} of this batch {self.says} another of it"
        return f"the new memory {self.says} {self.found[0].id}{self._differs()}"

    def _differs(self) -> str:
        differs = self.found[0].differs[:3] if self.found else ()
        parts = [f"{d.kind}: {d.existing or '-'} there, {d.new or '-'} here" for d in differs]
        return f" ({'; '.join(parts)})" if parts else ""

    def _advice(self) -> str:
        if self.other is not None or not self.found:
            return "nothing was stored: send on_conflict=keep to store both"
        return (
            "nothing was stored: PATCH that one to change it, or send on_conflict=supersede to put this in its place, "
            "or on_conflict=keep to store both"
        )


class Duplicate(Similar):
    """A current memory says the same as the new one, in the same words or nearly."""

    code = "duplicate"
    says = "says the same as"


class Contradiction(Similar):
    """A current memory says the contrary of the new one, or gives another value for the same thing."""

    code = "contradiction"
    says = "contradicts"


class AddressTaken(Conflict):
    """Another current memory has this category and key: `found`, or one of the same batch."""

    code = "address_taken"

    def __init__(self, category: str, key: str, found: Sequence[Likeness], position: int = 0) -> None:
        """Compose the message."""
        where = f"belong to memory {', '.join(one.id for one in found)}" if found else "occur twice in this batch"
        super().__init__(f"category {category!r} and key {key!r} {where}; update that one or PUT the entry")
        self.category, self.key = category, key
        self.found, self.position = tuple(found), position


class Echo(Conflict):
    """A new memory only repeats memories that its author has just retrieved: `ids`, the most repeated first."""

    code = "echo"

    def __init__(self, ids: Sequence[str], path: str) -> None:
        """Compose the message; `path` is the JSON path of the memory in the request."""
        self.ids, self.path = tuple(ids), path
        super().__init__(
            f"the new memory only repeats memories that you have just found ({', '.join(ids[:NAMED])}); nothing was "
            "stored: PATCH or supersede that one to change it, or name it in derived_from"
        )

"""Items in an order, each a memory with a number for its key, in one category. Several processes may append."""

from collections.abc import Sequence
from typing import Any

from muisti import Conflict
from muisti.integrations.calls import Handle, Operation
from muisti.integrations.entries import drop, listed, unpack

_ATTEMPTS = 20  # at writing after others
BATCH_MAX = 1_000


class Items:
    """The items of one category, as values that `entries.pack` has packed."""

    def __init__(self, memory: Handle, category: str) -> None:
        self._memory, self._category = memory, category

    def newest(self, limit: int | None = None) -> Operation[list[Any]]:
        """Return the values of all items, or of the last ones, oldest first."""
        return [unpack(memory) for memory in (yield from self._newest(limit))]

    def append(self, fields: Sequence[dict[str, Any]]) -> Operation[None]:
        """Append items of these fields, at most `BATCH_MAX`: all of them, or none and an error."""
        for attempt in range(_ATTEMPTS):
            last = yield from self._newest(1)
            first = _number(last[0]) + 1 if last else 1
            drafts = [
                {"category": self._category, "key": f"{number:012}", **one} for number, one in enumerate(fields, first)
            ]
            try:
                yield self._memory.remember_many(drafts, on_conflict="keep", atomic=True)
            except Conflict as conflict:  # somebody else has written these numbers
                if conflict.code != "address_taken" or attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def pop(self) -> Operation[Any]:
        """Remove the last item and return its value, or None when there is none."""
        while last := (yield from self._newest(1)):
            if (yield from drop(self._memory, last[0].id)):
                return unpack(last[0])
        return None

    def clear(self) -> Operation[None]:
        """Remove all items."""
        for memory in (yield from self._newest()):
            yield from drop(self._memory, memory.id)

    def _newest(self, limit: int | None = None) -> Operation[list[Any]]:
        found = yield from listed(self._memory, category=self._category, sort="-created_at", limit=limit)
        return sorted(found, key=_number)


def _number(memory: Any) -> int:
    return int(memory.key)

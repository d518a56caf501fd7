"""Batches of memories: decoded one by one, then stored all together or each for itself."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from muisti.core.model.choices import BATCH_MAX, OnConflict
from muisti.core.model.collisions import AddressTaken, Echo, Similar
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import Forbidden, InvalidInput, MuistiError, Problem, QuotaExceeded, TooLarge
from muisti.core.model.outcomes import Flag, Plan, Written
from muisti.core.model.values import Draft, Memory, Seq
from muisti.core.views.write import Write
from muisti.service.http.decode import decode
from muisti.service.schemas.errors import HttpError, problem_of
from muisti.service.schemas.policy import flagged
from muisti.service.schemas.replies import ItemReply, ItemsReply, MemoryReply, suggestions_of
from muisti.service.schemas.requests import DraftBody

PATH = "$.memories"

Refusal = MuistiError | HttpError


decoder(DraftBody)  # items are read on worker threads


def read_items(raws: Sequence[msgspec.Raw]) -> list[Draft | Refusal]:
    """Return each item as a draft, or the refusal that says what is wrong with it.

    Raises:
        InvalidInput: there are too few or too many.
    """
    if not 1 <= len(raws) <= BATCH_MAX:
        many = f"more than {BATCH_MAX:,}" if raws else "no"
        raise InvalidInput.at(PATH, f"has {many} memories; 1 to {BATCH_MAX:,} are allowed")
    return [_read(raw, f"{PATH}[{place}]") for place, raw in enumerate(raws)]


def all_or_none(items: Sequence[Draft | Refusal]) -> list[Draft]:
    """Return the drafts, when all items are good.

    Raises:
        HttpError, InvalidInput: an item is not.
    """
    problems: list[Problem] = []
    for item in items:
        if isinstance(item, HttpError):
            raise item
        if isinstance(item, InvalidInput):
            problems.extend(item.problems)
    if problems:
        raise InvalidInput(problems)
    return [item for item in items if isinstance(item, Draft)]


def add_each(
    write: Write, space: str, items: Sequence[Draft | Refusal], on_conflict: OnConflict
) -> tuple[ItemsReply, Plan | None]:
    """Store what can be stored, and report on each item. A dry run also gives the plan, unless all items would fail.

    Raises:
        MuistiError: nothing was stored, for a reason that is no item's fault.
    """
    adding = _Adding(write, space, items, on_conflict)
    adding.add([place for place, item in enumerate(items) if isinstance(item, Draft)])
    return adding.reply(), adding.plan


class _Adding:
    """Adds all items in one try, and when that is refused, each half by itself.

    A dry run stores nothing. Each try therefore includes what earlier tries would have stored, to find its conflicts.
    """

    def __init__(self, write: Write, space: str, items: Sequence[Draft | Refusal], on_conflict: OnConflict) -> None:
        self._write, self._space, self._items = write, space, items
        self._on_conflict: OnConflict = on_conflict
        self._replies: dict[int, ItemReply] = {}
        self._seq: Seq | None = None
        self._tried: list[int] = []  # in a dry run, the places that would be stored
        self.plan: Plan | None = None
        self._flags: list[Flag] = []
        self._degraded: tuple[str, ...] = ()
        self._stored: list[Memory] = []
        for place, item in enumerate(items):
            if not isinstance(item, Draft):
                self._fail(place, item)

    def add(self, places: Sequence[int]) -> None:
        if not places:
            return
        try:
            written = self._try(places)
        except (InvalidInput, Similar, Echo, AddressTaken, QuotaExceeded, TooLarge, Forbidden) as refusal:
            if len(places) == 1:
                self._fail(places[0], self._moved(refusal, places))
                return
            middle = len(places) // 2
            self.add(places[:middle])
            self.add(places[middle:])
        except MuistiError as failure:
            if self._seq is None:
                raise
            for place in places:
                self._fail(place, failure)
        else:
            self._seq = written.seq
            self._degraded = written.degraded
            self._stored = [*written.memories] if written.plan is not None else [*self._stored, *written.memories]
            stored = [*self._tried, *places]
            flags = [replace(flag, path=_of_all(flag.path, stored)) for flag in written.flags]
            self._flags = flags if written.plan is not None else [*self._flags, *flags]
            if written.plan is not None:
                self.plan, self._tried = written.plan, stored
            for place, memory in zip(stored, written.memories, strict=True):
                self._replies[place] = ItemReply(index=place, status="created", memory=MemoryReply.of(memory))

    def reply(self) -> ItemsReply:
        items = [self._replies[place] for place in range(len(self._items))]
        created = sum(item.status == "created" for item in items)
        seq = None if self._seq is None else str(self._seq)
        return ItemsReply(
            items=items,
            created=created,
            failed=len(items) - created,
            flags=flagged(self._flags),
            seq=seq,
            degraded=list(self._degraded) or UNSET,
            suggestions=suggestions_of(self._stored),
        )

    def _try(self, places: Sequence[int]) -> Written:
        drafts = [item for place in [*self._tried, *places] if isinstance(item := self._items[place], Draft)]
        return self._write.add(self._space, drafts, on_conflict=self._on_conflict, path=PATH)

    def _moved(self, refusal: Refusal, places: Sequence[int]) -> Refusal:
        """Return a refusal of items that were tried together, with paths and places in the whole batch."""
        tried = [*self._tried, *places]
        if isinstance(refusal, InvalidInput):
            return type(refusal)([Problem(_of_all(one.path, tried), one.message) for one in refusal.problems])
        if isinstance(refusal, Echo):
            return Echo(refusal.ids, _of_all(refusal.path, tried))
        if isinstance(refusal, Similar) and self._tried:
            other = None if refusal.other is None else self._tried[refusal.other]
            return type(refusal)(refusal.found, places[0], other=other, checked_at=refusal.checked_at)
        return refusal

    def _fail(self, place: int, refusal: Refusal) -> None:
        self._replies[place] = ItemReply(index=place, status="failed", problem=problem_of(refusal))


def _read(raw: msgspec.Raw, path: str) -> Draft | Refusal:
    try:
        return decode(raw, DraftBody, path).draft(path)
    except (HttpError, InvalidInput) as refusal:
        return refusal


def _of_all(path: str, places: Sequence[int]) -> str:
    """Turn a path within the items that were tried together into a path of the whole batch.

    >>> _of_all("$.memories[1].content", [4, 7])
    '$.memories[7].content'
    """
    place, _, rest = path.removeprefix(f"{PATH}[").partition("]")
    return f"{PATH}[{places[int(place)]}]{rest}"

"""Decide what happens to each memory of a file."""

from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import structs
from msgspec.structs import replace

from muisti.core.model.ids import id_text
from muisti.core.model.times import to_us
from muisti.core.operations.transfer.importing.incoming import Incoming, Item
from muisti.core.operations.transfer.importing.renames import Names
from muisti.core.operations.transfer.records import ChangeLine
from muisti.core.store.database import Rows
from muisti.core.store.sql.version_rows import raw


class Plan:
    """Decisions for the memories of a batch, given what the database has already."""

    def __init__(self, file: Incoming, names: Names, staged: Rows) -> None:
        """`names` maps ids of the file to ids in the space. `staged` are the ids of new memories of earlier batches."""
        self._file, self._names = file, names
        self._twice = {id_text(cast(bytes, row[0])) for row in staged}

    def item(self, item: Item) -> Item | None:
        """Return the item as it is to be stored, or None when it is skipped."""
        reason = self._passed(item.memory.id)
        if reason is None and item.is_new:
            reason = "twice" if self._names.of(item.memory.id) in self._twice else None
            self._twice.add(self._names.of(item.memory.id))
        if reason is None:
            version = item.memory.version + self._shift(item.memory.id)
            return replace(item, memory=structs.replace(self._names.renamed(item.memory), version=version))
        if item.died is None and reason != "failed":
            self._file.tally.skipped[reason] += 1
        return None

    def changes(self, changes: Sequence[ChangeLine]) -> Iterator[tuple[int, tuple[str | int | bytes | None, ...]]]:
        """Yield the number and the values of the changes to store."""
        for one in changes:
            if one.id is None:
                if self._file.is_restored:
                    yield one.seq, (one.kind, None, None, to_us(one.at), one.actor, one.request, one.undone)
            elif self._passed(one.id) is None:
                version = None if one.version is None else one.version + self._shift(one.id)
                values = (
                    one.kind,
                    raw(self._names.of(one.id)),
                    version,
                    to_us(one.at),
                    one.actor,
                    one.request,
                    one.undone,
                )
                yield one.seq, values

    def _passed(self, memory_id: str) -> str | None:
        """Return why a memory is skipped, or None."""
        if memory_id in self._file.lost:
            return "failed"
        known = self._names.last.get(self._names.of(memory_id))
        if known is None:
            return None
        _, _, _, lifecycle, was_undone = known
        if lifecycle:
            return "exists"
        return None if was_undone else "deleted"

    def _shift(self, memory_id: str) -> int:
        """Return the last version number that an undone memory had in the space, else 0."""
        known = self._names.last.get(self._names.of(memory_id))
        return 0 if known is None else cast(int, known[2])

"""Decide what happens to each memory of a file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import cast

import msgspec
from msgspec import structs
from msgspec.structs import replace

from muisti.core.model.fields import LINKS
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.times import to_us
from muisti.core.model.values import Memory
from muisti.core.operations.transfer.importing.lines import Incoming, Item
from muisti.core.operations.transfer.records import ChangeLine
from muisti.core.store.database import Database, Row, Rows
from muisti.core.store.sql import imports
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import raw
from muisti.core.text.forms import same_text_hash

# Rename ids of a file that another space has already

CHUNK = 500  # ids in one query
_TEXTS = ("memory", "exchange")  # kinds whose text is their own; those of objects are titles
MASKED = 7  # bytes of an id that change; the bytes before hold its time, version and variant


class Names(msgspec.Struct, frozen=True):
    """Ids in the space for memories of a file. `last` has their last versions there, by id."""

    changed: Mapping[str, str]
    last: Mapping[str, Row]

    def of(self, memory_id: str) -> str:
        """Return the id in the space."""
        known = canonical(memory_id)
        return self.changed.get(known, known)

    def renamed(self, memory: Memory) -> Memory:
        """Return the memory with the ids of the space, its own and those of its links."""
        if not self.changed:
            return memory
        return structs.replace(
            memory,
            id=self.of(memory.id),
            derived_from=tuple(map(self.of, memory.derived_from)),
            **{link: self._link(getattr(memory, link)) for link in LINKS},
        )

    def _link(self, memory_id: str | None) -> str | None:
        return None if memory_id is None else self.of(memory_id)


def ids_in(memory: Memory) -> Iterator[str]:
    """Yield the id of a memory and the ids of its links."""
    links = (getattr(memory, link) for link in LINKS)
    return chain([memory.id], filter(None, links), memory.derived_from)


def names_of(database: Database, target: SpaceRow, ids: Iterable[str]) -> Names:
    """Return the ids that the space has, or will have, for memories of a file."""
    changed, last = dict[str, str](), dict[str, Row]()
    asked = {one: one for one in map(canonical, ids)}  # id in the file, by the id that is tried
    attempt = 0
    while asked:
        taken: list[str] = []
        for row in _last_versions(database, target, sorted(asked)):
            name = id_text(cast(bytes, row[0]))
            if row[1]:
                last[name] = row
            else:
                taken.append(asked[name])
        attempt += 1
        changed |= {one: masked(target, one, attempt) for one in taken}
        asked = {changed[one]: one for one in taken}
    return Names(changed, last)


def told_apart(database: Database, target: SpaceRow, items: Sequence[Item]) -> Sequence[Item]:
    """Return the items; one whose id belongs to a memory that never had its text gets an id of its own.

    Other systems use an id again, and people edit their notes: neither text may be passed over for the other.
    """
    new = [item for item in items if item.is_new and item.memory.kind in _TEXTS]
    names = names_of(database, target, [item.memory.id for item in new])
    known = [item for item in new if names.of(item.memory.id) in names.last]
    hashes = {item.line: same_text_hash(item.memory.content) for item in known}
    asked = [imports.had_text(names.of(item.memory.id), item.memory.kind, hashes[item.line]) for item in known]
    others = {item.line for item, rows in zip(known, database.read(asked) if asked else (), strict=True) if not rows}
    return [_varied(item, hashes[item.line]) if item.line in others else item for item in items] if others else items


def _varied(item: Item, content_hash: bytes) -> Item:
    """Return an item with an id that follows from its own and from its text."""
    own = raw(item.memory.id)
    varied = own[:-MASKED] + blake2b(own + content_hash, digest_size=MASKED).digest()
    return replace(item, memory=structs.replace(item.memory, id=id_text(varied)))


def original(database: Database, target: SpaceRow, memory_id: str) -> str:
    """Return the id in the file of a memory that may have been renamed."""
    mask = masked(target, memory_id, 1)
    return mask if names_of(database, target, [mask]).changed.get(mask) == memory_id else memory_id


def masked(target: SpaceRow, memory_id: str, attempt: int) -> str:
    """Return the new id for an id in a space. Applied twice, it returns the first id again."""
    raw = id_bytes(memory_id)
    assert raw is not None
    mask = blake2b(f"{target.id} {attempt}".encode(), digest_size=MASKED).digest()
    return id_text(raw[:-MASKED] + bytes(one ^ other for one, other in zip(raw[-MASKED:], mask, strict=True)))


def canonical(memory_id: str) -> str:
    """Return an id as it is stored."""
    raw = id_bytes(memory_id)
    return memory_id if raw is None else id_text(raw)


def _last_versions(database: Database, target: SpaceRow, ids: list[str]) -> Iterator[Row]:
    ask = [imports.last_versions(target, ids[start : start + CHUNK]) for start in range(0, len(ids), CHUNK)]
    return chain.from_iterable(database.read(ask))


class Plan:
    """Decisions for the memories of a batch, given what the database has already."""

    def __init__(self, file: Incoming, names: Names, staged: Rows) -> None:
        """`names` maps ids of the file to ids in the space. `staged` are new memories of earlier batches, or processes.

        Each is an id with the change of the file that has brought it.
        """
        self._file, self._names = file, names
        self._brought = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in staged}

    def item(self, item: Item) -> Item | None:
        """Return the item as it is to be stored, or None when it is skipped."""
        reason = self._passed(item.memory.id)
        if reason is None and item.is_new:
            first = self._brought.setdefault(self._names.of(item.memory.id), item.born)
            reason = "twice" if first < item.born else None
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

"""Rename ids of a file that another space has already.

An error about such an id would reveal that another space has it. The new id is derived from the old one and the space,
so that a file imported twice is recognised.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.model.fields import LINKS
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import imports
from muisti.core.store.sql.spaces import SpaceRow

CHUNK = 500  # ids in one query
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

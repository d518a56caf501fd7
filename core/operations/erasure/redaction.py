"""Erase the text of one earlier version of a memory. That it was there, when and by whom, stays in the history.

The version becomes a memory of its own and is erased as that, in one batch, so that everything which an erasure reaches
is reached. What was derived from the memory while the version was current may tell of it, and is erased as a whole.
"""

import uuid
from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.errors import Conflict, NotFound
from muisti.core.model.ids import id_bytes
from muisti.core.model.operations import Erasure
from muisti.core.model.times import Clock
from muisti.core.operations.erasure.eraser import AT_ONCE, Eraser
from muisti.core.operations.erasure.progress import Work
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import erasure, imports, operations, redaction, spaces
from muisti.core.store.sql.spaces import SpaceRow


class Redaction:
    """Redact versions. Instances are thread-safe."""

    def __init__(self, database: Database, indexes: Indexes, eraser: Eraser, clock: Clock) -> None:
        self._database, self._indexes, self._eraser, self._clock = database.primary, indexes, eraser, clock

    def version(self, space: str, memory_id: str, number: int, caller: Caller) -> Erasure:
        """Erase the text of a version that is not current.

        Raises:
            NotFound: there is no such version, or it was redacted before.
            Conflict: the version is current.
        """
        began, found, work = self._clock(), find_space(self._database, space), Work()
        raw = id_bytes(memory_id) or b""
        (rows,) = self._database.read([redaction.version(found, raw, number)])
        if not rows or not caller.shows(rows[0][3]):
            raise NotFound("version", f"{memory_id}.{number}")
        row, born, died = cast(tuple[int, int, int | None], rows[0][:3])
        if died is None:
            raise Conflict("this version is current; change or delete the memory first")
        self._eraser.end_imports(imports.holding(found, "substr(v.memory_id, 1, 16) = ?", (raw,)), work)
        (derived,) = self._database.read([redaction.derived(found, raw, memory_id, (born, died))])
        for start in range(0, len(derived), AT_ONCE):
            few = [cast(bytes, one[0]) for one in derived[start : start + AT_ONCE]]
            self._eraser.erase(found, few, caller, work)
        self._redact(found, raw, number, row, caller, work)
        return self._eraser.finished(found, {"memory": memory_id, "version": number}, caller, began, work)

    def _redact(self, space: SpaceRow, raw: bytes, number: int, row: int, caller: Caller, work: Work) -> None:
        twin, now, name = uuid.uuid4().bytes, self._clock(), space.space.name
        texts = self._database.read(redaction.texts(row))
        target = f"{raw.hex()}.{number}"
        head = [spaces.guard(space), redaction.detach(row, twin), erasure.refuse_other(space, [twin], [row])]
        batch = [
            *head,
            *spaces.advance(space, 2, now),
            redaction.record(space, raw, number, caller),
            *([] if self._database.local else erasure.overwrite(space, [twin])),
            *erasure.erase(space, [twin], caller),
            *erasure.forget_answers(space, [raw]),
            operations.audit(now, caller.actor, "memory_erased", space=name, target=target),
        ]
        try:
            results = self._database.write(batch)
        except Refused as refused:
            raise NotFound("version", target) from refused
        work.number = cast(int, results[len(head) + 1][0][0])
        self._indexes.note(space, work.number)
        for rows in texts:
            work.traces.add(*(cast("str | bytes | None", value) for one in rows for value in one))
        work.memories.append(twin)
        work.versions.append(row)
        work.count("versions", 1)

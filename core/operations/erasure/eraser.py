"""Erase memories for good: rows, index, segments, stored answers, log and free space. Then verify that nothing is left.

A deleted memory keeps its history. An erased one does not.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
import numpy as np

from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.index.packing import repack
from muisti.core.model.choices import BATCH_MAX
from muisti.core.model.errors import Conflict, NotFound, StoreUnavailable
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.operations import ELSEWHERE, Erasure
from muisti.core.model.outcomes import Plan, Planned
from muisti.core.model.places import DocumentName, ObjectName
from muisti.core.model.spaces import DEFAULT
from muisti.core.model.times import Clock, from_us
from muisti.core.model.values import Address, Json, Name, Seq
from muisti.core.operations.erasure.progress import OfCounts, Work, unfenced
from muisti.core.operations.transfer.importing.moving import stop_imports
from muisti.core.query.filters import Subject
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import home, namespace, resolved
from muisti.core.read.reading import find_space, missing
from muisti.core.store.database import Database, Refusal, Refused, Statement
from muisti.core.store.sql import (
    chunks,
    derived,
    erasure,
    erasure_selection,
    hierarchy,
    imports,
    memories,
    operations,
    spaces,
    tables,
)
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.memo import forget_texts
from muisti.core.tasks.claim import over
from muisti.core.write.derived_texts import rewritten, statements

AT_ONCE = 100  # memories in one batch
OVERWRITTEN_MAX = 10_000  # versions that a server can overwrite and delete in one transaction
TRIES = 16


class Eraser:
    """Erase memories, subjects and spaces. Instances are thread-safe."""

    def __init__(self, database: Database, indexes: Indexes, clock: Clock) -> None:
        self._database = database
        self._indexes = indexes
        self._clock = clock

    def memory(self, space: str, name: Name, caller: Caller) -> Erasure:
        """Erase a memory with its history. Erasing an id again is harmless: every place is searched again.

        An address means the memory that has it now, expired or not, and never an earlier one.

        Raises:
            NotFound: the caller never had such a memory.
        """
        began, found, work = self._clock(), find_space(self._database.primary, space), Work()
        raw, is_there = self._known(found, name, caller)
        self.end_imports(imports.holding(found, "substr(v.memory_id, 1, 16) = ?", (raw,)), work)
        if is_there:
            self.erase(found, [raw], caller, work)
        else:
            work.memories.append(raw)
        return self.finished(found, {"memory": id_text(raw)}, caller, began, work)

    def subject(
        self, space: str, subject: Subject, what: Mapping[str, Json], caller: Caller, *, most: int | None = None
    ) -> Erasure:
        """Erase all memories that meet a condition, a hundred at a time, until none is left or `most` are erased."""
        return self._erased(space, subject, what, caller, Work(), most)

    def _erased(
        self,
        space: str,
        subject: Subject,
        what: Mapping[str, Json],
        caller: Caller,
        work: Work,
        most: int | None = None,
    ) -> Erasure:
        began, found = self._clock(), find_space(self._database.primary, space)
        subject = self._meant(found, subject)
        self.end_imports(imports.holding(found, *erasure_selection.where(subject)), work)
        where, args = erasure_selection.chosen(found, subject)
        while most is None or len(work.memories) < most:
            few = AT_ONCE if most is None else min(AT_ONCE, most - len(work.memories))
            (rows,) = self._database.primary.read([erasure_selection.some(found, where, args, few)])
            if not rows:
                break
            self.erase(found, [cast(bytes, row[0]) for row in rows], caller, work)
        return self.finished(found, what, caller, began, work)

    def chosen(self, space: str, subject: Subject) -> list[bytes]:
        """Return the ids of the memories that `subject` would erase, and end the imports that hold one."""
        found = find_space(self._database.primary, space)
        subject = self._meant(found, subject)
        self.end_imports(imports.holding(found, *erasure_selection.where(subject)), Work())
        where, args = erasure_selection.chosen(found, subject)
        return [
            cast(bytes, row[0])
            for row in self._database.primary.read([erasure_selection.some(found, where, args, -1)])[0]
        ]

    def plan(self, space: str, subject: Subject) -> Plan:
        """Return what `subject` would erase: the last version of each memory."""
        found = find_space(self._database.primary, space)
        subject = self._meant(found, subject)
        chosen = erasure_selection.chosen(found, subject)
        (rows,) = self._database.primary.read([erasure_selection.plan(found, *chosen, BATCH_MAX)])
        items = (Planned("erased", id_text(cast(bytes, memory)), cast(int, version)) for memory, version, _ in rows)
        return Plan(cast(int, rows[0][2]) if rows else 0, tuple(items))

    def conversation(self, space: str, name: ObjectName, caller: Caller) -> Erasure:
        """Erase a session, conversation or topic with all that belongs or belonged to it, deleted or not.

        Raises:
            NotFound: there is none, and none that was deleted.
            Forbidden, Conflict: the name is one of another category, or of several.
        """
        found = find_space(self._database.primary, space)
        name = home(self._database.primary, found, name, caller, Point(None, self._clock()))
        members = self._members(found, name)
        staged = {"conversation": "v.conversation = ?", "session": "v.session = ?", "topic": "v.topic = ?"}[name.level]
        self.end_imports(imports.holding(found, staged, (name.name,)), Work())
        what: dict[str, Json] = {name.level: str(name)}
        return self.subject(space, Subject(among=members), what, caller)

    def plan_conversation(self, space: str, name: ObjectName, caller: Caller) -> Plan:
        """Plan what `conversation` would erase; raise what it would."""
        found = find_space(self._database.primary, space)
        name = home(self._database.primary, found, name, caller, Point(None, self._clock()))
        return self.plan(space, Subject(among=self._members(found, name)))

    def _members(self, space: SpaceRow, name: ObjectName) -> tuple[bytes, ...]:
        """Return the ids of all that belongs to an object or belonged to it when it was deleted."""
        belongs = hierarchy.members(space, name.level, (name.name, name.conversation), name.category, ended=True)
        (rows,) = self._database.primary.read([hierarchy.erasable(belongs)])
        if not rows:
            raise NotFound(name.level, str(name))
        return tuple(cast(bytes, row[0]) for row in rows)

    def document(self, space: str, name: DocumentName, caller: Caller) -> Erasure:
        """Erase a document with all chunks that it has or had, deleted or not.

        Raises:
            NotFound: there is none, and none that was deleted.
            Forbidden: the caller works in another category only.
        """
        found = find_space(self._database.primary, space)
        members = self._parts(found, name, caller)
        ids = json.dumps([one.hex() for one in members])
        staged = "v.parent_id IN (SELECT unhex(value) FROM json_each(?)) OR v.document = ?"
        work = Work()
        self.end_imports(imports.holding(found, staged, (ids, name.name)), work)
        return self._erased(space, Subject(among=members), {"document": name.name}, caller, work)

    def plan_document(self, space: str, name: DocumentName, caller: Caller) -> Plan:
        """Plan what `document` would erase; raise what it would."""
        found = find_space(self._database.primary, space)
        return self.plan(space, Subject(among=self._parts(found, name, caller)))

    def _parts(self, space: SpaceRow, name: DocumentName, caller: Caller) -> tuple[bytes, ...]:
        """Return the ids of a document and its chunks, deleted ones too."""
        category, raw = namespace(caller, name.category), id_bytes(name.name)
        (rows,) = self._database.primary.read([chunks.erasable(space, category, name.name, raw)])
        if not rows:
            raise NotFound("document", name.name)
        return tuple(cast(bytes, row[0]) for row in rows)

    def _meant(self, space: SpaceRow, subject: Subject) -> Subject:
        """Return the subject with conversations and turns in place of sessions and topics."""
        filter = resolved(self._database.primary, space, subject.filter, Point(None, self._clock()))
        return msgspec.structs.replace(subject, filter=filter)

    def plan_memory(self, space: str, name: Name, caller: Caller) -> Plan:
        """Return what `memory` would erase. Raises what `memory` would raise."""
        found = find_space(self._database.primary, space)
        return self.plan(space, Subject(memory=self._known(found, name, caller)[0]))

    def plan_space(self, name: str, *, keep: bool) -> Plan:
        """Return the plan of `space`. It lists no memory, because the history is erased with the space."""
        _check_space(name, keep=keep)
        find_space(self._database.primary, name)
        return Plan(0, ())

    def space(self, name: str, caller: Caller, *, keep: bool) -> Erasure:
        """Erase a space with everything in it. With `keep`, an empty space with its settings remains.

        It gets a new epoch, so earlier points of history are invalid.

        Raises:
            Conflict: the default space cannot be erased, only emptied.
        """
        _check_space(name, keep=keep)
        began, found = self._clock(), find_space(self._database.primary, name)
        work = Work(whole=True)
        self.end_imports(imports.of_space(found), work)
        action = "space_cleared" if keep else "space_deleted"
        total = f"(SELECT count({{}}) FROM versions WHERE space_id = {found.id})"
        ask = [Statement(f"SELECT {total.format('DISTINCT memory_id')}"), Statement(f"SELECT {total.format('*')}")]
        batch = [
            *ask,
            spaces.guard(found),
            *self._overwritten(found, total.format("*")),
            *erasure.erase_space(found, str(uuid.uuid4()) if keep else None, began),
            operations.audit(began, caller.actor, action, space=name),
        ]
        try:
            ((memories,),), ((versions,),), *_ = self._database.primary.write(batch)
        except Refused as refused:
            raise NotFound("space", name) from refused
        self._indexes.drop(name)
        work.count("memories", cast(int, memories))
        work.count("versions", cast(int, versions))
        work.traces.everything()
        what: dict[str, Json] = {"space": name, "kept": keep}
        return self.finished(found, what, caller, began, work)

    def _overwritten(self, space: SpaceRow, versions: str) -> list[Statement]:
        """Return the statements that overwrite a space, if they are needed and fit in one transaction."""
        if self._database.local:
            return []
        (rows,) = self._database.primary.read([Statement(f"SELECT {versions}")])
        return erasure.overwrite_space(space) if cast(int, rows[0][0]) <= OVERWRITTEN_MAX else []

    def end_imports(self, which: Statement, work: Work) -> None:
        """Stop imports into the space, because their staged lines are hidden copies of text."""
        stopped = stop_imports(self._database.primary, which)
        if stopped:
            work.count("imports stopped", stopped)
            work.traces.everything()  # the staged text is not known

    def _known(self, space: SpaceRow, name: Name, caller: Caller) -> tuple[bytes, bool]:
        """Return the stored id, and whether any version exists; if none does, the memory was erased before.

        Raises:
            NotFound: the caller never had such a memory.
            Conflict: it is a part of a document.
        """
        if isinstance(name, Address):
            (rows,) = self._database.primary.read([memories.at_address(space, name.category, name.key)])
            if not rows or not caller.shows(name.category):
                raise missing(name)
            return cast(bytes, rows[0][1]), True
        raw = id_bytes(name)
        if raw is None:
            raise missing(name)
        rows, before = self._database.primary.read([erasure.of_memory(space, raw), erasure.was_erased(space, raw)])
        if rows and not caller.shows(rows[-1][2]) or not rows and not (before and caller.sees_all):
            raise missing(name)
        if rows and rows[-1][3] is not None:
            raise Conflict(f"this is a part of document {rows[-1][3]!r}; purge the document")
        return raw, bool(rows)

    def erase(
        self, space: SpaceRow, memories: Sequence[bytes], caller: Caller, work: Work, fenced: OfCounts = unfenced
    ) -> None:
        """Erase up to a hundred memories and the summaries that may tell of them in one batch.

        `fenced` returns what the batch commits for a task, given the number of erased rows by table.
        """
        named = memories
        for _ in range(TRIES):
            memories = [
                cast(bytes, row[0])
                for row in self._database.primary.read([erasure_selection.completed(space, named)])[0]
            ]
            versions, *hanging = self._database.primary.read(erasure.known(space, memories))
            ids = [cast(int, row[0]) for row in versions]
            alive = sorted({cast(bytes, row[1]) for row in versions})
            related, ((names,),), ((blobs,),) = self._database.primary.read([
                erasure_selection.relatives(space, memories), erasure.names(space, memories),
                derived.blobs(space, memories),
            ])  # fmt: skip
            texts, now = self._texts(space, memories), self._clock()
            changed = rewritten(self._database.primary, space, memories, now)
            texts += [kept.memory.content for one in changed for kept in one.before]
            counts = {"memories": len(alive), "versions": len(ids)} if alive else {}
            if alive:
                rows = zip(tables.parts(), hanging, strict=True)
                counts |= {table.name: cast(int, more) for table, ((more,),) in rows} | {"entities": cast(int, names)}
                if blobs:
                    counts["uploaded files"] = cast(int, blobs)
                    work.traces.everything()  # their bytes were not read
                for kind in {one.kind for one in changed}:
                    counts[f"titles of {kind}s written again"] = sum(one.kind == kind for one in changed)
            of_task = fenced(counts)
            if not alive:
                of_task.commit(self._database.primary)
                return
            target = id_text(alive[0]) if len(alive) == 1 else f"{len(alive)} memories"
            batch = [
                spaces.guard(space),
                erasure.refuse_other(space, alive, ids),
                *spaces.advance(space, len(alive) + sum(one.current is not None for one in changed), now),
                *statements(space, changed, caller, now, len(alive), overwritten=not self._database.local),
                *derived.forget_tasks(space, alive, overwritten=not self._database.local),
                *([] if self._database.local else erasure.overwrite(space, alive)),
                *erasure.erase(space, alive, caller),
                operations.audit(self._clock(), caller.actor, "memory_erased", space=space.space.name, target=target),
            ]
            begin = len(of_task.before)
            try:
                results = self._database.primary.write([*of_task.before, *batch, *of_task.after])
            except Refused as refused:
                if refused.code == Refusal.STALE:
                    continue
                raise over(refused) or NotFound("space", space.space.name) from refused
            work.number = cast(int, results[begin + 3][0][0])
            self._indexes.note(space, work.number)
            work.traces.add(*texts)
            work.memories += alive
            work.versions += ids
            work.relatives |= {cast(bytes, row[0]) for row in related}
            for name, more in counts.items():
                work.count(name, more)
            return
        raise StoreUnavailable("others change the same memories all the time; try again")

    def _texts(self, space: SpaceRow, memories: Sequence[bytes]) -> list[str | bytes | None]:
        """Return the texts that must not remain in the free space of a file."""
        if not self._database.local:
            return []
        answers = self._database.primary.read(erasure.texts(space, memories))
        return [cast("str | bytes | None", value) for rows in answers for row in rows for value in row]

    def finished(self, space: SpaceRow, what: Mapping[str, Json], caller: Caller, began: int, work: Work) -> Erasure:
        """Clean up after the rows, then count what each place still holds."""
        forget_texts()
        if work.versions or work.memories:
            work.count("segments rewritten", repack(self._database.primary, space))
        if work.versions:
            self._database.primary.write([erasure.rebuild_names()])
        scrubbed = self._database.scrub(work.traces)
        left = erasure.left_of_space(space) if work.whole else erasure.left(space, work.memories, work.versions)
        found = {**self._rows_left(left), **scrubbed.found}
        if unswept := self._indexes.sweep():
            found["files with an index"] = unswept
        if work.versions:
            found["index of this process"] = self._indexed(space, work.versions)
        return Erasure(
            id=str(uuid.uuid4()),
            space=space.space.name,
            what=what,
            by=caller.actor,
            began_at=from_us(began),
            ended_at=from_us(self._clock()),
            engine=self._database.engine,
            seq=None if work.number is None else Seq(space.space.epoch, work.number),
            erased=work.erased,
            found=found,
            unchecked={**scrubbed.unchecked, **ELSEWHERE},
            relatives=tuple(sorted(id_text(one) for one in work.relatives - set(work.memories))),
        )

    def _rows_left(self, left: Sequence[tuple[str, Statement]]) -> dict[str, int]:
        """Count the rows left in the primary database, and in the replica that is read, if there is one."""
        found: dict[str, int] = {}
        readers = {"": self._database.primary} | ({} if self._database.local else {", as read here": self._database})
        for suffix, reader in readers.items():
            answers = reader.read([statement for _, statement in left])
            found |= {f"{place}{suffix}": cast(int, rows[0][0]) for (place, _), rows in zip(left, answers, strict=True)}
        return found

    def _indexed(self, space: SpaceRow, versions: Sequence[int]) -> int:
        """Count the rows of the erased versions in the index of this process, visible or not."""
        name = space.space.name
        if not self._indexes.is_open(name):
            return 0
        try:
            _, snapshot = self._indexes.fresh(name)
        except NotFound:
            return 0
        return int(np.count_nonzero(np.isin(snapshot.rows.version.view(), versions)))


def _check_space(name: str, *, keep: bool) -> None:
    """Raise `Conflict` when the space must not be erased."""
    if name == DEFAULT and not keep:
        raise Conflict(f"the space {DEFAULT!r} always exists; empty it instead")

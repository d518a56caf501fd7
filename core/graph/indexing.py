"""Keep the graph of a space: read the versions that have come since the last time.

Row numbers of changes grow, so a space needs one mark: all versions up to the change `through` are read. No write,
fork, import or rollback needs a step of its own, and what is read goes with its version.
"""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import TypeVar, cast

import msgspec

from muisti.core.graph.extraction import Reader, Source
from muisti.core.graph.model import Extension, Unread
from muisti.core.graph.sql import graph_rows
from muisti.core.graph.sql.graph_rows import Gathered
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import NotFound, StoreUnavailable
from muisti.core.model.spaces import Policy
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Row
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.meters import GraphMeters
from muisti.core.support.waiting import Locks, refuse_long
from muisti.core.tasks.claim import CRASHED, UNFENCED, Claim, FencedCommit, over
from muisti.core.tasks.tasks import Tasks

KIND = "graph"
MANY = 2_000  # versions that a task reads, and not small steps


class GraphWork:
    """Read all pending versions of a space, and those about which the chosen recogniser gave no answer.

    The position of the task is the change up to which all is read.

    Each batch commits its rows together with the progress, so that a task which goes on after a crash reads no version
    twice.
    """

    name = KIND
    crashed = CRASHED

    def __init__(self, database: Database, index: "GraphIndex") -> None:
        self._database, self._index = database, index

    def run(self, claim: Claim) -> object:
        """Read until nothing is pending, and return how much this process has read and found.

        Raises:
            NotFound: the space was erased meanwhile.
        """
        finished = claim.task.finished

        def fenced(through: int, versions: int) -> FencedCommit:
            nonlocal finished
            finished += versions
            return claim.fenced(position=str(through), done=versions, total=max(finished, claim.task.total))

        if not self._index.is_on(find_space(self._database, claim.task.space)):
            return {"read": 0, "mentions": 0, "relations": 0, "off": True}
        mended = self._index.mend(claim.task.space, claim.check, fenced) if self._index.waits else Extension()
        found = self._index.extend(claim.task.space, None, claim.check, fenced).then(mended)
        told = {"read": found.read, "mentions": found.mentions, "relations": found.relations, "off": False}
        return {**told, "fallbacks": found.fallbacks, "dropped": found.dropped} if self._index.waits else told


def step(tasks: Tasks, index: "GraphIndex", space: str, versions: int) -> bool:
    """Read some versions of a space, or make a task when many are pending, or a model elsewhere reads them.

    Return whether more are left to read. After a task that was cancelled or has failed, many versions wait for a
    question or a further task. So do all those that a model elsewhere would read.

    Raises:
        NotFound: there is no such space.
    """
    pending = index.pending(find_space(index.database, space))
    if not pending:
        return False
    if pending <= MANY and not index.waits:
        return index.extend(space, versions).pending > 0
    last = tasks.list(space, OWNER, kinds=[KIND], limit=1).items
    if not last or last[0].state in ("succeeded", "partial"):
        tasks.submit(space, KIND, {"again": False}, OWNER, total=pending)
    return False


TOGETHER = 200  # versions in one batch
WAITED_FOR = 40  # versions in one batch when a model elsewhere reads them
CHARACTERS = 100_000  # of the texts of a batch, roughly: adds wait while the batch is written
CATCH_UP = 500  # versions that a question reads before it is answered
PATIENCE = 0.2  # seconds that a question waits for another one that reads the same space; it never waits for a task
TRIES = 8
DROPPED = 500  # entities deleted in one transaction

T = TypeVar("T")
OfProgress = Callable[[int, int], FencedCommit]
"""Make what a batch commits for a task, of the change up to which all is read, and the versions in the batch."""


def unfenced(through: int, versions: int) -> FencedCommit:
    return UNFENCED


class GraphIndex:
    """Thread-safe. Threads of one process read a space batch by batch in turns; other processes are noticed."""

    def __init__(
        self, database: Database, reader: Callable[[], Reader], default: Policy, meters: GraphMeters | None = None
    ) -> None:
        """`reader` is made when it is first needed. `default` is the policy of spaces that say nothing."""
        self.database, self._make, self._default = database, reader, default
        self._meters = meters or GraphMeters()
        self._made: Reader | None = None
        self._locks = Locks()
        self._tasks: list[str] = []  # the space of each call that reads until nothing is pending

    @property
    def recogniser(self) -> str:
        """Name of what reads: when it changes, all is read again."""
        return self._reader.identity

    @property
    def waits(self) -> bool:
        """Whether reading waits for a model elsewhere, so that only tasks read."""
        return self._reader.waits

    @property
    def _reader(self) -> Reader:
        if self._made is None:
            self._made = self._make()
        return self._made

    def close(self) -> None:
        """Close the connections of what reads."""
        if self._made is not None:
            self._made.close()

    def is_on(self, space: SpaceRow) -> bool:
        """Return whether the space has a graph, by its policy or that of the server."""
        return (space.space.policy.graph or self._default.graph or "on") == "on"

    def lagging(self) -> list[Unread]:
        """Return the spaces with a graph that have changed since they were read."""
        (rows,) = self.database.read([graph_rows.lagging(self.recogniser)])
        default = self._default.graph or "on"
        return [
            Unread(cast(str, name), cast(int, seq), cast(int, behind))
            for name, policy, seq, behind in rows
            if (cast("str | None", json.loads(str(policy)).get("graph")) or default) == "on"
        ]

    def pending(self, space: SpaceRow, category: str | None = None) -> int:
        """Return how many versions of a folded category, or of all, are not read yet."""
        (rows,) = self.database.read([graph_rows.pending(space.space.name, self.recogniser, category)])
        return cast(int, rows[0][0])

    def extend(
        self,
        name: str,
        most: int | None = None,
        alive: Callable[[], None] = lambda: None,
        fenced: OfProgress = unfenced,
    ) -> Extension:
        """Read versions of a space, at most about `most` when it is given.

        `alive` is called between the batches, and may raise. `fenced` makes what each batch commits for a task.

        Raises:
            NotFound: there is no such space.
            StoreUnavailable: other processes read the same space all the time.
            TaskOver: the task is over, or another process has it.
        """
        refuse_long()
        total, together, lock = Extension(), self._together, self._locks.of(name)
        with self._reading_all(name) if most is None else nullcontext():
            while True:
                size = together if most is None else min(together, most - total.read)
                with lock:
                    space, step = self._retried(name, lambda space, size=size: self._step(space, size, fenced))
                total = total.then(step)
                if not step.pending or (most is not None and total.read >= most):
                    return msgspec.structs.replace(total, pending=self.pending(space) if step.pending else 0)
                alive()

    def catch_up(self, name: str) -> None:
        """Read what has come since, before a question is answered: at most about `CATCH_UP` versions, if any.

        Nothing is read while a task reads the space, or another thread does for longer than `PATIENCE`.

        Raises:
            What `extend` does.
            Busy: the database takes no more writes.
        """
        refuse_long()
        if name in self._tasks:
            return
        left = CATCH_UP
        with self._locks.of(name).within(PATIENCE) as is_held:
            while is_held and left > 0:
                size = min(self._together, left)
                _, step = self._retried(name, lambda space, size=size: self._step(space, size, unfenced))
                left = left - size if step.pending and step.read == size else 0

    def mend(self, name: str, alive: Callable[[], None] = lambda: None, fenced: OfProgress = unfenced) -> Extension:
        """Read again, each once, versions about which the chosen recogniser gave no answer. Arguments as in `extend`.

        Raises:
            What `extend` does.
        """
        refuse_long()
        total, after, together, lock = Extension(), 0, self._together, self._locks.of(name)
        with self._reading_all(name):
            while True:
                with lock:
                    _, (step, last) = self._retried(
                        name, lambda space, after=after: self._mend(space, after, together, fenced)
                    )
                total = total.then(step)
                if step.read < together:
                    return total
                after = last
                alive()

    def fallbacks(self, space: SpaceRow) -> int:
        """Return how many versions something else than the chosen recogniser has read."""
        (rows,) = self.database.read([graph_rows.fallbacks(space)])
        return cast(int, rows[0][0])

    def foretell(self, name: str) -> Extension:
        """Return what reading the next versions would find, and store nothing. No model elsewhere is asked.

        Raises:
            NotFound: there is no such space.
        """
        space = find_space(self.database, name)
        through, *_ = self._state(space)
        (rows,) = self.database.read([graph_rows.unread(space, through, TOGETHER)])
        found = self._reader.read(map(_source, rows), ask=False)
        return _counted(len(rows), found, self.pending(space))

    def forget(self, name: str) -> None:
        """Let all be read again, as after a change of the recogniser. What is known stays until then.

        Raises:
            NotFound: there is no such space.
        """
        space = find_space(self.database, name)
        self.database.write([graph_rows.forget_space(space)])

    def drop(self, name: str) -> int:
        """Delete the graph of a space, which is read again when it is asked for; return the number of entities.

        Raises:
            NotFound: there is no such space.
        """
        space, total = find_space(self.database, name), 0
        self.database.write([graph_rows.forget_space(space)])
        while True:
            gone, _ = self.database.write([graph_rows.some(space, DROPPED), graph_rows.drop(space, DROPPED)])
            total += cast(int, gone[0][0])
            if not gone[0][0]:
                return total

    def _state(self, space: SpaceRow) -> tuple[int, int, int]:
        """Return the change up to which this recogniser has read a space, the revision, and the seq of the space."""
        (rows,) = self.database.read([graph_rows.state(space)])
        if not rows:
            raise NotFound("space", space.space.name)
        through, recogniser, revision, seq = cast(tuple[int, str, int, int], rows[0])
        return through if recogniser == self.recogniser else 0, revision, seq

    @property
    def _together(self) -> int:
        return WAITED_FOR if self.waits else TOGETHER

    def _retried(self, name: str, attempt: Callable[[SpaceRow], T]) -> tuple[SpaceRow, T]:
        """Return the outcome of an attempt on a space, which is repeated when another process was faster."""
        for _ in range(TRIES):
            space = find_space(self.database, name)
            try:
                return space, attempt(space)
            except Refused as refused:
                ended = over(refused)
                if ended is not None or refused.code != Refusal.STALE:
                    raise ended or NotFound("space", name) from refused
        raise StoreUnavailable("others read this space all the time; try again")

    def _mend(self, space: SpaceRow, after: int, most: int, fenced: OfProgress) -> tuple[Extension, int]:
        """Read a batch again; return its outcome, and the row of its last version."""
        through, revision, _ = self._state(space)
        (rows,) = self.database.read([graph_rows.fallen(space, through, after, most)])
        if not rows:
            return Extension(), after
        return self._commit(space, rows, (revision, through), fenced), cast(int, rows[-1][0])

    @contextmanager
    def _reading_all(self, name: str) -> Generator[None]:
        """Note that all versions of a space are being read, so that questions leave that work to this thread."""
        self._tasks.append(name)
        try:
            yield
        finally:
            self._tasks.remove(name)

    def _step(self, space: SpaceRow, most: int, fenced: OfProgress) -> Extension:
        """Read the next versions in one batch; `pending` is 1 when there may be more."""
        through, revision, seq = self._state(space)
        if through >= seq:
            return Extension()
        # The seq was read before, so that a version which comes meanwhile is read the next time.
        (rows,) = self.database.read([graph_rows.unread(space, through, most)])
        rows = _within(rows, CHARACTERS)
        is_last = len(rows) < most and sum(len(cast(str, row[3])) for row in rows) <= CHARACTERS
        upto = max(cast(int, rows[-1][1]) if rows else 0, seq) if is_last else cast(int, rows[-1][1])
        return self._commit(space, rows, (revision, upto), fenced, 0 if is_last else 1)

    def _commit(
        self, space: SpaceRow, rows: list[Row], state: tuple[int, int], fenced: OfProgress, pending: int = 0
    ) -> Extension:
        """Read versions and store what is found; `state` is the revision before, and the change up to which all is."""
        revision, upto = state
        found = self._reader.read(map(_source, rows))
        of_task = fenced(upto, len(rows))
        batch = [*graph_rows.advance(space, revision, upto, self.recogniser)]
        batch += graph_rows.store(space, [cast(int, row[0]) for row in rows], found) if rows else []
        self.database.write([*of_task.before, *batch, *of_task.after])
        self._meters.versions.add("chosen", by=len(rows) - len(found.fallbacks))
        self._meters.versions.add("fallback", by=len(found.fallbacks))
        self._meters.dropped.add(by=found.dropped)
        return _counted(len(rows), found, pending)


def _within(rows: list[Row], most: int) -> list[Row]:
    """Return the first rows whose texts are not longer than `most` characters together; at least one."""
    length = 0
    for place, row in enumerate(rows):
        length += len(cast(str, row[3]))
        if length > most:
            return rows[: place + 1]
    return rows


def _source(row: Row) -> Source:
    id_, _, kind, content, author, structure, metadata = cast(
        tuple[int, int, str, str, str | None, str, str | None], row
    )
    return Source(
        id_, kind, content, author, json.loads(structure) if structure != "{}" else {}, json.loads(metadata or "{}")
    )


def _counted(read: int, found: Gathered, pending: int) -> Extension:
    return Extension(
        read=read,
        mentions=len(found.mentions),
        relations=len(found.relations),
        pending=pending,
        fallbacks=len(found.fallbacks),
        dropped=found.dropped,
    )

"""Make tasks from a list of items, or in pieces as a request brings them."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, NotFound, RequestReused
from muisti.core.model.tasks import NewItem, Task, TooManyTasks
from muisti.core.model.values import RequestKey
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Statement
from muisti.core.store.sql import spaces
from muisti.core.tasks.claim import PIECE
from muisti.core.tasks.sql import task_rows, tasks
from muisti.core.tasks.sql.tasks import New

ITEMS_AT_ONCE = 1_000


class Limits(msgspec.Struct, frozen=True):
    """Limits of submissions: `queued` tasks of a space may wait, 0 for any number; a request may pause `lease_us`."""

    queued: int
    lease_us: int


class Blob:
    """Bytes of a task in the making. They are stored in pieces; `close` stores the last one."""

    def __init__(self, store: Callable[[int, bytes], None]) -> None:
        self._store, self._waiting, self._part = store, bytearray(), 0

    def write(self, data: bytes) -> None:
        """Append bytes. Raises what `Submission.add_blob` raises."""
        self._waiting += data
        while len(self._waiting) >= PIECE:
            self._next()

    def close(self) -> None:
        """Store what is left."""
        if self._waiting or not self._part:
            self._next()

    def _next(self) -> None:
        self._store(self._part, bytes(self._waiting[:PIECE]))
        self._part += 1
        del self._waiting[:PIECE]


class Submission:
    """A task in the making. No process claims it before `end`. `known` is the task of an earlier request, or None.

    A process that crashes meanwhile leaves a task that fails when its lease is over. Used by one thread at a time.
    """

    def __init__(self, database: Database, id_: str, lease_us: int, submitted: Callable[[], None]) -> None:
        self.id = id_
        self._database, self._lease_us, self._submitted = database, lease_us, submitted

    def add_items(self, items: Iterable[NewItem]) -> None:
        """Append items.

        Raises:
            Conflict: the task was cancelled, or its request took too long.
        """
        for some in _pieces(items, ITEMS_AT_ONCE):
            self._write(tasks.add_items(self.id, some))

    def add_blob(self, name: str, data: Iterable[bytes]) -> None:
        """Store bytes under a name, in pieces as they come.

        Raises:
            Conflict: the task was cancelled, or its request took too long.
        """
        blob = self.blob(name)
        for some in data:
            blob.write(some)
        blob.close()

    def add_files(self, files: Iterable[tuple[str, Iterable[bytes], NewItem]]) -> None:
        """Store the bytes of files under their names, and append their items. Small files share a transaction.

        Raises:
            Conflict: the task was cancelled, or its request took too long.
        """
        batch: list[Statement] = []
        size = 0
        for name, data, item in files:
            for part, piece in enumerate(_parts(data)):
                batch.append(tasks.add_blob(self.id, name, part, piece))
                size += len(piece)
                if size >= PIECE:
                    self._write(batch)
                    batch, size = [], 0
            batch += tasks.add_items(self.id, [item])
        self._write(batch)

    def blob(self, name: str) -> "Blob":
        """Return a blob to write into, for bytes that come from outside."""
        return Blob(lambda part, data: self._write([tasks.add_blob(self.id, name, part, data)]))

    def end(self, total: int | None = None) -> Task:
        """Let a process claim the task, and return it. `total` is the amount of work where it has no items."""
        self._write([tasks.open_up(self.id, total)])
        self._submitted()
        (rows,) = self._database.read([task_rows.by_text_id(self.id)])
        if not rows:
            raise NotFound("task", self.id)
        return task_rows.task(rows[0])

    def abandon(self) -> None:
        """Delete the task. Harmless after `end`."""
        self._database.write([tasks.drop_new(self.id)])

    def _write(self, batch: Sequence[Statement]) -> None:
        try:
            self._database.write([tasks.guard_new(self.id), *batch, tasks.keep_new(self.id, self._lease_us)])
        except Refused as refused:
            if refused.code != Refusal.TASK_LOST:
                raise
            raise Conflict("the task was cancelled, or its request took too long; send it again") from refused


def begin(
    database: Database,
    space: str,
    kind: str,
    asked: object,
    caller: Caller,
    request: RequestKey | None,
    limits: Limits,
    submitted: Callable[[], None],
) -> Submission | Task:
    """Begin a task. Return the task of an earlier request with the same key instead, when there is one.

    Raises:
        NotFound: there is no such space.
        TooManyTasks: as many tasks of the space wait as may wait.
        RequestReused: the key belongs to a request with another body.
    """
    found = find_space(database, space)
    known = None if request is None else f"{request.scope} {request.key}"
    new = New(
        id=str(uuid.uuid4()),
        kind=kind,
        asked=json.dumps(msgspec.to_builtins(asked), ensure_ascii=False),
        actor=caller.actor,
        caller=msgspec.json.encode(caller).decode(),
        owner="",
        idempotency=known,
        body_hash=None if request is None else request.body_hash,
    )
    try:
        database.write([spaces.guard(found), *tasks.insert(found, new, limits.lease_us, limits.queued)])
    except Refused as refused:
        if refused.code == Refusal.NO_SPACE:
            raise NotFound("space", space) from refused
        if refused.code == Refusal.INCOMPLETE:
            raise TooManyTasks(space, limits.queued) from refused
        if refused.code != Refusal.REQUEST_KNOWN or request is None or known is None:
            raise
        return _repeated(database, request, known)
    return Submission(database, new.id, limits.lease_us, submitted)


def _repeated(database: Database, request: RequestKey, known: str) -> Task:
    rows, hashes = database.read(task_rows.by_request(known))
    if not rows or hashes[0][0] != request.body_hash:
        raise RequestReused(request.key)
    return task_rows.task(rows[0])


def _parts(data: Iterable[bytes]) -> Iterator[bytes]:
    """Yield bytes in pieces as `Blob` stores them."""
    found: list[bytes] = []
    blob = Blob(lambda _, piece: found.append(piece))
    for some in data:
        blob.write(some)
        yield from found
        found.clear()
    blob.close()
    yield from found


def _pieces(items: Iterable[NewItem], most: int) -> Iterator[list[NewItem]]:
    left = iter(items)
    while some := list(islice(left, most)):
        yield some

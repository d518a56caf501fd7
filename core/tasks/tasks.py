"""The tasks of a database: make, list, cancel and forget them."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import cast, get_args

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import TaskState
from muisti.core.model.errors import Conflict, InvalidInput, MuistiError, NotFound, RequestReused
from muisti.core.model.tasks import OVER, Failing, ItemPage, ItemState, NewItem, Task, TaskPage, TooManyTasks
from muisti.core.model.values import LIMIT_MAX, RequestKey
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Statement
from muisti.core.store.sql import spaces
from muisti.core.support.meters import TaskMeters
from muisti.core.tasks.claim import PIECE, Kind
from muisti.core.tasks.sql import task_rows, tasks
from muisti.core.tasks.sql.tasks import New

# Make tasks from a list of items, or in pieces as a request brings them

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


REQUEST_US = 60_000_000  # that a request may pause before its task counts as broken off
DEATHS = 5  # claims without progress before a task is failed, or counts as failing when it is never given up
FAILING_MAX = 20  # failing tasks that are named
FORGOTTEN = 20  # ended tasks deleted in one transaction, each with its items
BROKEN_OFF = "task.incomplete"
_TOLD = "the request that made this task broke off before all of it had come; send it again"


class Tasks:
    """The tasks of a database. Instances are thread-safe.

    A caller who sees the whole space sees all of its tasks; others see the tasks that they asked for.
    """

    def __init__(self, database: Database, meters: TaskMeters, queued_max: int) -> None:
        """`queued_max` tasks of a space may wait; 0 is no limit."""
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._database, self.meters = database, meters
        self._limits = Limits(queued_max, REQUEST_US)
        self._kinds: dict[str, Kind] = {}
        self._obstacle: MuistiError | None = None

    @property
    def kinds(self) -> list[str]:
        """Names of the kinds of work that this process can do."""
        return sorted(self._kinds)

    def register(self, kind: Kind) -> None:
        """Add a kind of work that this process can do."""
        self._kinds[kind.name] = kind
        self.meters.know(kind.name, OVER)

    def kind(self, name: str) -> Kind:
        return self._kinds[name]

    def listen(self, ring: Callable[[], None]) -> None:
        """Call `ring` whenever this process submits a task, on the thread that does; it must not block."""
        self._listeners = (*self._listeners, ring)

    def ignore(self, ring: Callable[[], None]) -> None:
        self._listeners = tuple(one for one in self._listeners if one != ring)

    def ring(self) -> None:
        """Let this process look for tasks to run."""
        for one in self._listeners:
            one()

    @property
    def obstacle(self) -> MuistiError | None:
        """The error that keeps this process from working on tasks, such as a full disk; None when nothing does."""
        return self._obstacle

    def hinder(self, error: MuistiError) -> None:
        """Note an error that keeps this process from working on tasks until a person acts."""
        self._obstacle = error
        self.meters.blocked.put({(error.code,): 1})

    def unhinder(self) -> None:
        """Note that nothing keeps this process from working on tasks any more."""
        if self._obstacle is not None:
            self._obstacle = None
            self.meters.blocked.put({})

    def failing(self) -> list[Failing]:
        """Return the first tasks of all spaces that are never given up and keep failing, and count all of them."""
        rows, counts = self._database.primary.read(tasks.failing(FAILING_MAX, DEATHS))
        found = cast(list[tuple[str, int]], counts)
        self.meters.failing.put({(kind,): 0 for kind in self._kinds} | {(kind,): count for kind, count in found})
        return [Failing(*cast(tuple[str, str, str, int], row)) for row in rows]

    def begin(
        self, space: str, kind: str, asked: object, caller: Caller, request: RequestKey | None = None
    ) -> Submission | Task:
        """Begin a task whose items and bytes come in pieces; `asked` is stored as JSON.

        Return the task of an earlier request with the same key instead, when there is one.

        Raises:
            NotFound: there is no such space.
            RequestReused: the key belongs to a request with another body.
            TooManyTasks: as many tasks of the space wait as may wait.
        """
        return begin(self._database, space, kind, asked, caller, request, self._limits, self.ring)

    def submit(
        self,
        space: str,
        kind: str,
        asked: object,
        caller: Caller,
        items: Iterable[NewItem] = (),
        *,
        total: int | None = None,
        request: RequestKey | None = None,
    ) -> Task:
        """Make a task. `total` is the amount of work where it has no items.

        Raises:
            NotFound, RequestReused, TooManyTasks.
        """
        begun = self.begin(space, kind, asked, caller, request)
        if isinstance(begun, Task):
            return begun
        begun.add_items(items)
        return begun.end(total)

    def get(self, space: str, id_: str, caller: Caller) -> Task:
        """Return a task. Raises `NotFound` when there is none that the caller may see."""
        found = find_space(self._database.primary, space)
        (rows,) = self._database.primary.read([task_rows.by_id(found, id_)])
        task = task_rows.task(rows[0]) if rows else None
        if task is None or not (caller.sees_all or task.actor == caller.actor):
            raise NotFound("task", id_)
        return task

    def list(
        self,
        space: str,
        caller: Caller,
        *,
        states: Sequence[str] = (),
        kinds: Sequence[str] = (),
        limit: int = 50,
        cursor: str | None = None,
    ) -> TaskPage:
        """Return a page of tasks, newest first, in some states and of some kinds where these are given.

        Raises:
            InvalidInput: there is no such state, the limit is out of range, or the cursor is not one of ours.
        """
        _check_page(limit, cursor)
        _check_states(states, get_args(TaskState))
        found = find_space(self._database.primary, space)
        actor = None if caller.sees_all else caller.actor
        before = None if cursor is None else int(cursor)
        ask = task_rows.listed(found, actor, cast(Sequence[TaskState], states), kinds, before, limit + 1)
        (rows,) = self._database.primary.read([ask])
        page = tuple(map(task_rows.task, rows[:limit]))
        return TaskPage(page, str(page[-1].number) if len(rows) > limit else None)

    def items(
        self,
        space: str,
        id_: str,
        caller: Caller,
        *,
        states: Sequence[str] = (),
        limit: int = 50,
        cursor: str | None = None,
    ) -> ItemPage:
        """Return a page of the items of a task in their order, in some states where these are given.

        Raises:
            NotFound, InvalidInput.
        """
        _check_page(limit, cursor)
        _check_states(states, get_args(ItemState))
        number = self.get(space, id_, caller).number
        ask = task_rows.items(number, cast(Sequence[ItemState], states), int(cursor or 0), limit + 1)
        (rows,) = self._database.primary.read([ask])
        page = tuple(map(task_rows.item, rows[:limit]))
        return ItemPage(page, str(page[-1].number) if len(rows) > limit else None)

    def cancel(self, space: str, id_: str, caller: Caller) -> Task:
        """Cancel a task, and return it with what it has done; what it has stored stays. Harmless when it is over.

        Raises:
            NotFound: there is no such task that the caller may see.
        """
        before = self.get(space, id_, caller)
        self._database.write(tasks.cancel(before.number))
        after = self.get(space, id_, caller)
        if after.state == "cancelled" and not before.is_over:
            self.meters.ended.add(after.kind, after.state)
        return after

    def forget(self) -> bool:
        """Delete some tasks that ended long ago; return whether more are left. Fail those whose request broke off."""
        old, broken = self._database.primary.read([tasks.expired(FORGOTTEN), tasks.broken_off()])
        if old:
            self._database.write([tasks.forget([cast(int, row[0]) for row in old])])
        for (number,) in broken:
            self._database.write(tasks.fail_broken_off(cast(int, number), BROKEN_OFF, _TOLD))
        return len(old) == FORGOTTEN


def _check_page(limit: int, cursor: str | None) -> None:
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 18):
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")


def _check_states(states: Sequence[str], known: Sequence[str]) -> None:
    for one in states:
        if one not in known:
            raise InvalidInput.at("$.state", f"{one[:40]!r} is no state; there are {', '.join(known)}")

"""The one object that the service holds: opens the store, delegates, closes."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from core import auditing, facets
from core.calibration import Calibration
from core.embed import Encoder
from core.errors import AlreadyExists, Conflict, EpochGone, InvalidInput, NotFound, NotYetReplicated
from core.filters import Filter
from core.ids import id_bytes
from core.index.cache import Indexes
from core.kernels import bake
from core.keys import Keys
from core.listing import page, page_of
from core.query import Query
from core.reembed import Progress, reembed
from core.search import Searcher
from core.store import audit, memories, quotas, spaces
from core.store.database import Database, Ended, Outcome, Refused, Rows, Statement
from core.store.migrate import migrate
from core.store.spaces import SpaceRow, space_row
from core.validate import check_query, check_quota, check_settings
from core.values import (
    LOCAL,
    Answer,
    AuditPage,
    Counts,
    Draft,
    Found,
    History,
    OnConflict,
    Page,
    Quota,
    RequestKey,
    Seq,
    Space,
    SpaceSettings,
    Stats,
    Usage,
    Written,
)
from core.writing import Begun, Call, IfMatch, Writer

DAY_HOURS = 24
HOUR_US = 3_600_000_000
MEMORY = 512 << 20  # bytes

Clock = Callable[[], int]  # microseconds since 1970, UTC


class Engine:
    """Remember and recall. Synchronous and thread-safe; callers own the threads.

    Every method that names a space raises `NotFound` when there is none of that name. Bad values raise `InvalidInput`,
    and a database that does not answer `StoreUnavailable`.
    """

    def __init__(
        self,
        database: Database,
        encoder: Encoder | None,
        clock: Clock,
        *,
        index_memory: int = MEMORY,
        retention_hours: float = DAY_HOURS,
        calibration: Calibration | None = None,
        quota: Quota | None = None,
    ) -> None:
        """Bring the database to this schema. `encoder` None means that embeddings are off.

        `index_memory` is in bytes; `retention_hours` is how long the answers of requests with a key are kept.
        `calibration` None knows no model: answers are `uncalibrated` but for search by keyword. `quota` is that of
        spaces that have none of their own.

        Raises:
            SchemaTooNew: a newer Muisti wrote the database.
        """
        self._database = database
        self._encoder = encoder
        self._clock = clock
        self._quota = quota or Quota()
        migrate(database.primary, clock())
        self._indexes = Indexes(database, memory=index_memory, vectors=encoder is not None)
        self._writer = Writer(database.primary, self._indexes, encoder, int(retention_hours * HOUR_US), self._quota)
        self._searcher = Searcher(database, self._indexes, encoder, calibration or Calibration())
        self.keys = Keys(database)
        self.ensure_space(spaces.DEFAULT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the waiting writes and let go of the database."""
        self._indexes.close()
        self._database.close()

    def settle(self) -> None:
        """Wait for what is done in the background."""
        self._indexes.settle()

    def warm(self) -> None:
        """Load what the first search would wait for: the compiled loops and the model."""
        bake()
        if self._encoder is not None:
            self._encoder.encode_query("warm")

    def now(self) -> int:
        """The time, in microseconds since 1970."""
        return self._clock()

    @property
    def store(self) -> str:
        """Name and version of the database engine."""
        return self._database.engine

    @property
    def model(self) -> str | None:
        """Name of the embedding model, None when embeddings are off."""
        return None if self._encoder is None else self._encoder.name

    @property
    def index_bytes(self) -> int:
        """Memory that the indexes take."""
        return self._indexes.nbytes

    @property
    def indexes_evicted(self) -> int:
        """How often the index of a space was forgotten to stay within the memory."""
        return self._indexes.evicted

    def list_spaces(self) -> list[Space]:
        (rows,) = self._database.read([spaces.all_spaces()])
        return [space_row(row).space for row in rows]

    def get_space(self, name: str) -> Space:
        return self._space(name).space

    def create_space(self, name: str, settings: SpaceSettings | None = None, *, by: str = LOCAL) -> Space:
        """Make an empty space.

        Raises:
            AlreadyExists: there is one of this name.
        """
        spaces.check_name(name)
        settings = settings or SpaceSettings()
        check_settings(settings)
        now = self._clock()
        made = spaces.insert(name, str(uuid.uuid4()), settings, now)
        try:
            self._database.write([*made, audit.note(now, by, "space_created", space=name)])
        except Refused as refused:
            raise AlreadyExists(f"a space {name!r} exists already") from refused
        return self._space(name).space

    def ensure_space(self, name: str) -> Space:
        """The space, made when it is missing."""
        try:
            return self._space(name).space
        except NotFound:
            pass
        try:
            return self.create_space(name)
        except AlreadyExists:  # another process was faster
            return self._space(name).space

    def delete_space(self, name: str, *, by: str = LOCAL) -> None:
        """Erase a space with all that is in it.

        Raises:
            Conflict: it is the default space.
        """
        if name == spaces.DEFAULT:
            raise Conflict(f"the space {spaces.DEFAULT!r} always exists; delete its memories instead")
        found = self._space(name)
        try:
            self._database.write(
                [
                    spaces.guard(found),
                    *spaces.delete(name),
                    audit.note(self._clock(), by, "space_deleted", space=name),
                ]
            )
        except Refused as refused:
            raise NotFound("space", name) from refused
        self._indexes.drop(name)

    def add(
        self,
        space: str,
        drafts: Sequence[Draft],
        *,
        on_conflict: OnConflict = "reject",
        request: RequestKey | None = None,
        path: str = "$",
    ) -> Written:
        """Store all drafts or none; see `Writer.add`."""
        return self._writer.add(space, drafts, on_conflict, self._call(request), path)

    def begin_add(self, space: str, draft: Draft, on_conflict: OnConflict, ended: Ended) -> Begun | None:
        """Store a draft without waiting for the disk, when the rest takes a millisecond or two; else None.

        `ended` is told the outcome by another thread. It belongs to `end_add`.

        Raises:
            InvalidInput, Duplicate, Contradiction.
        """
        begun = self._writer.begin_add(space, draft, on_conflict, self._call(None))
        return begun if begun is not None and self._database.primary.queue(begun.batch, ended) else None

    def end_add(self, begun: Begun, outcome: Outcome) -> Written | None:
        """What `add` would give or raise; None when the space changed meanwhile, and the draft is to be added anew."""
        return self._writer.end_add(begun, outcome)

    def update(
        self,
        space: str,
        memory_id: str,
        changes: Mapping[str, object],
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Change the given fields of a memory; see `Writer.update`."""
        return self._writer.update(space, memory_id, changes, if_match, self._call(request))

    def put_entry(
        self, space: str, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None
    ) -> Written:
        """Store a draft at its category and key; see `Writer.put`."""
        return self._writer.put(space, draft, if_match, self._call(request))

    def delete(
        self,
        space: str,
        memory_id: str,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
        by: str = LOCAL,
    ) -> Written:
        """End a memory; see `Writer.delete`."""
        return self._writer.delete(space, memory_id, if_match, self._call(request, by))

    def delete_entry(
        self,
        space: str,
        category: str,
        key: str,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
        by: str = LOCAL,
    ) -> Written:
        """End the memory at a category and key; see `Writer.delete_entry`."""
        return self._writer.delete_entry(space, category, key, if_match, self._call(request, by))

    def get(self, space: str, memory_id: str) -> Found:
        """A current memory.

        Raises:
            NotFound: there is none, it is deleted or has expired.
        """
        raw = id_bytes(memory_id)
        if raw is None:
            raise NotFound("memory", memory_id)
        found, (rows,) = self._read(space, lambda row: [memories.current(row, raw, self._clock())])
        if not rows:
            raise NotFound("memory", memory_id)
        return Found(memory=memories.memory(rows[0], space), seq=found.seq)

    def get_entry(self, space: str, category: str, key: str) -> Found:
        """The current memory at an address.

        Raises:
            NotFound: there is none.
        """
        found, (rows,) = self._read(space, lambda row: [memories.at_address(row, category, key)])
        memory = memories.memory(rows[0], space) if rows else None
        if memory is None or memories.is_expired(memory, self._clock()):
            raise NotFound("entry", f"{category}/{key}")
        return Found(memory=memory, seq=found.seq)

    def list_memories(
        self, space: str, *, filter: Filter | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page:
        """Current memories, newest first."""
        found, (rows,) = self._read(space, lambda row: [page_of(row, filter, limit, cursor, self._clock())])
        return page(found, rows, limit)

    def history(self, space: str, memory_id: str) -> History:
        """All versions of a memory, of a deleted one too.

        Raises:
            NotFound: there never was one.
        """
        raw = id_bytes(memory_id)
        if raw is None:
            raise NotFound("memory", memory_id)
        found, (rows,) = self._read(space, lambda row: [memories.history(row, raw)])
        if not rows:
            raise NotFound("memory", memory_id)
        return History(versions=tuple(memories.version(row, space) for row in rows), seq=found.seq)

    def search(self, space: str, query: Query, max_age: float = 0.0) -> Answer:
        """The memories that best answer a query; see `Searcher.search`."""
        check_query(query)
        return self._searcher.search(space, query, self._clock(), max_age)

    def search_at_once(self, space: str, query: Query, max_age: float = 0.0) -> Answer | None:
        """The same, when that takes a millisecond or two and waits for nobody; else None."""
        check_query(query)
        return self._searcher.search_at_once(space, query, self._clock(), max_age)

    def categories(self, space: str, *, category: str | None = None) -> Counts:
        """Categories of active memories; only this one when one is given."""
        found, (rows,) = self._read(space, lambda row: [facets.categories(row, self._clock(), category)])
        return facets.counts(found, rows)

    def tags(self, space: str, *, category: str | None = None) -> Counts:
        """Tags of active memories, of all or of one category."""
        found, (rows,) = self._read(space, lambda row: [facets.tags(row, self._clock(), category)])
        return facets.counts(found, rows)

    def stats(self, space: str, *, category: str | None = None) -> Stats:
        """Sizes and rates of a space, or of one category of it."""
        found, results = self._read(space, lambda row: facets.sizes(row, self._clock(), self._quota, category))
        return facets.stats(found, results, whole=category is None)

    def set_quota(self, space: str, changes: Mapping[str, int | None], *, by: str = LOCAL) -> tuple[Usage, Seq]:
        """Let a space hold so many `memories` or `bytes` and no more; None: the default. What it holds already stays.

        The quota belongs to the name: a space that is made anew has it too.
        """
        check_quota(changes)
        found = self._space(space)
        told = audit.note(self._clock(), by, "quota_set", space=space)
        self._database.write([*quotas.grant(space, changes), told])
        (rows,) = self._database.primary.read([quotas.usage(found, self._quota)])
        if not rows:
            raise NotFound("space", space)
        return quotas.used(rows[0]), found.seq

    def audit(self, *, limit: int = 50, cursor: str | None = None) -> AuditPage:
        """Who administered or deleted what, newest first."""
        (rows,) = self._database.read([auditing.page_of(limit, cursor)])
        return auditing.page(rows, limit)

    def reembed(self, space: str, progress: Progress) -> Space:
        """Embed a space anew with the model that runs; see `core.reembed`."""
        if self._encoder is None:
            raise InvalidInput.at("$.embeddings", "embeddings are off; there is no model to embed with")
        reembed(self._database.primary, self._space(space), self._encoder, self._clock, progress)
        self._indexes.drop(space)
        return self._space(space).space

    def require(self, space: str, at: Seq) -> None:
        """Raise unless this store has reached a point of history.

        Raises:
            EpochGone: the point is of a space that has been made anew since.
            NotYetReplicated: the point has not arrived here.
        """
        try:
            here = self._space(space).seq
        except NotFound:
            here = None  # where this is read it may not have arrived
        if here is not None and here.epoch == at.epoch and here.number >= at.number:
            return
        here = self.catch_up(space).at
        if here.epoch != at.epoch:
            raise EpochGone(f"space {space!r} has been made anew since {at}; forget that point and read again")
        if here.number < at.number:
            raise NotYetReplicated(f"space {space!r} is at {here}, not yet at {at}; try again")

    def catch_up(self, space: str) -> Space:
        """The space as it stands where it is written. What is read here later has come as far."""
        found = self._space(space, self._database.primary)
        self._indexes.note(found, found.seq.number)
        return found.space

    def _call(self, request: RequestKey | None, by: str = LOCAL) -> Call:
        return Call(self._clock(), request, by)

    def _space(self, name: str, database: Database | None = None) -> SpaceRow:
        (rows,) = (database or self._database).read([spaces.by_name(name)])
        if not rows:
            raise NotFound("space", name)
        return space_row(rows[0])

    def _read(self, name: str, ask: Callable[[SpaceRow], list[Statement]]) -> tuple[SpaceRow, list[Rows]]:
        """The space and the answers, from one snapshot."""
        while True:
            before = self._space(name)
            state, *answers = self._database.read([spaces.by_name(name), *ask(before)])
            after = space_row(state[0]) if state else None
            if after is not None and after.id == before.id and after.space.epoch == before.space.epoch:
                return after, answers

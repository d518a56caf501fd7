"""Ingest files: one within its request, many as a task. A file that cannot be read fails alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec import structs

from muisti.core.documents.files import (
    CUTS_IN_MEMORY,
    USUAL_FILE,
    Cuts,
    File,
    Held,
    Job,
    Reading,
    language_of,
    stated_document,
)
from muisti.core.documents.model import Stored
from muisti.core.documents.storing import Incoming, Storer
from muisti.core.identity.caller import Caller
from muisti.core.model.decoding import convert
from muisti.core.model.errors import Busy, MuistiError, StoreUnavailable
from muisti.core.model.tasks import Item, ItemOutcome, NewItem
from muisti.core.model.times import Clock
from muisti.core.model.unreadable import Crashed, Missing, Unreadable
from muisti.core.parsing.archives import Member, is_archive, members
from muisti.core.parsing.chunking.cutting import Preview, cut, preview
from muisti.core.parsing.parsed import ArchiveOptions, Options
from muisti.core.parsing.reading import parse
from muisti.core.parsing.workers import Workers
from muisti.core.store.database import Database
from muisti.core.tasks.claim import Claim, FencedCommit
from muisti.core.write.calls import Call

# Members of archives as items of a task: listed first, then read one after the other

_BLOCK = 1 << 20
_LIMITS = ArchiveOptions()


def holds_documents(held: Held) -> bool:
    """Return whether a file is an archive, whose members are documents."""
    return is_archive(held.stream)


class Unpacking:
    """An archive that is open at a member. A context, which closes it.

    Members are read in order. One that lies before the open place begins the archive again.
    """

    def __init__(self) -> None:
        self._source: str | None = None
        self._held: Held | None = None
        self._members: Iterator[Member] = iter(())
        self._next = 0

    def member(self, source: str, name: str, index: int, bytes_of: Callable[[], Held]) -> Held:
        """Return the bytes of a member of the archive `source`, which `bytes_of` brings when it is not open.

        Raises:
            Unreadable: the member is refused, or the archive ends before it.
        """
        if source != self._source or index < self._next or self._held is None:
            self.close()
            self._held = bytes_of()
            self._source, self._members, self._next = source, members(self._held.stream, name, _LIMITS), 0
        for member in self._members:
            self._next += 1
            if self._next <= index:
                continue
            if member.refusal is not None:
                raise member.refusal
            return Held(_blocks(member))
        raise Missing("The archive has no such member.")

    def close(self) -> None:
        """Free the archive. Harmless when none is open."""
        close = getattr(self._members, "close", None)
        if close is not None:
            with suppress(Unreadable):
                close()
        if self._held is not None:
            self._held.close()
        self._source, self._held, self._members = None, None, iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _blocks(member: Member) -> Iterator[bytes]:
    while member.content is not None and (block := member.content.read(_BLOCK)):
        yield block


KIND = "ingest"


class Ready(msgspec.Struct, frozen=True):
    """A file that was read: its item, and the document to store; None when it is unchanged."""

    item: Item
    incoming: Incoming | None


class Ingester:
    """Store files as documents. Thread-safe."""

    def __init__(self, database: Database, storer: Storer, workers: Workers, clock: Clock) -> None:
        self._database, self._storer, self._workers, self._clock = database, storer, workers, clock

    def put(self, space: str, path: str, held: Held, job: Job, call: Call, file: File = USUAL_FILE) -> Stored:
        """Store one file as the document at a path.

        Raises:
            Unreadable: the file gives no text; nothing is stored.
            InvalidInput, SensitiveContent, Forbidden, QuotaExceeded, TooLarge.
        """
        new = stated_document(path, held, job, file)
        known = self._storer.current(space, new, call)
        if known is not None:
            return self._storer.leave(space, known, call)
        incoming = self._incoming(path, held, job, file)
        with incoming.cuts:
            return self._storer.put(space, [incoming], call)

    def _incoming(self, path: str, held: Held, job: Job, file: File) -> Incoming:
        """Parse and cut a file. The caller closes the cuts."""
        reading, cuts = job.reading, Cuts()
        options = Options(main_content=reading.main_content, encoding=reading.encoding, media_type=file.media_type)
        try:
            with parse(held.stream, path, options, self._workers) as parsed:
                for one in cut(parsed, reading.chunking, parsed.note):
                    cuts.append(one)
                new = stated_document(path, held, job, file, parsed, language_of(parsed.language, cuts))
                return Incoming(new=new, cuts=cuts)
        except BaseException:  # whatever ends the reading, the temporary file is deleted; the error goes on
            cuts.close()
            raise

    def preview(self, path: str, held: Held, reading: Reading) -> Iterator[Preview]:
        """Yield where a file would be cut. Nothing is stored. Raises `Unreadable` and `InvalidInput`."""
        options = Options(main_content=reading.main_content, encoding=reading.encoding)
        with parse(held.stream, path, options, self._workers) as parsed:
            yield from preview(parsed, reading.chunking)

    def read(self, space: str, item: Item, held: Held, job: Job, file: File, caller: Caller) -> Ready:
        """Read the file of an item. Raises `Unreadable` and `InvalidInput`."""
        call = Call(self._clock(), None, caller)
        new = stated_document(item.name, held, job, file)
        if self._storer.current(space, new, call) is not None:
            return Ready(item, None)
        for _ in range(2):
            with suppress(Crashed):
                return Ready(item, self._incoming(item.name, held, job, file))
        return Ready(item, self._incoming(item.name, held, job, file))

    def store(self, claim: Claim, incoming: Sequence[Incoming], fenced: FencedCommit) -> Stored:
        """Store what was read, and what a task commits with it."""
        call = Call(self._clock(), None, claim.caller, fenced=fenced)
        return self._storer.put(claim.task.space, incoming, call, claim.check)


class Ingest:
    """The kind of work that stores the files of a task, in groups of up to 16, each in one batch.

    An archive becomes an item for each member. `resolve` is called at the end, and brings the index of code up to date.
    """

    name = KIND
    crashed = Crashed.code

    def __init__(self, ingester: Ingester, resolve: Callable[[str, Callable[[], None]], object]) -> None:
        self._ingester, self._resolve = ingester, resolve

    def run(self, claim: Claim) -> object:
        """Store all files that are left."""
        job = convert(claim.task.asked, Job)
        with Unpacking() as unpacking:
            work = _Work(self._ingester, claim, job, unpacking)
            while group := claim.items():
                with ExitStack() as held:
                    work.group(group, held)
        self._resolve(claim.task.space, claim.check)
        return None


class _Work:
    def __init__(self, ingester: Ingester, claim: Claim, job: Job, unpacking: Unpacking) -> None:
        self._ingester, self._claim, self._job, self._unpacking = ingester, claim, job, unpacking

    def group(self, group: Sequence[Item], held: ExitStack) -> None:
        """Store a group of files; `held` closes what was read of them."""
        ready: list[Ready] = []
        failed: list[ItemOutcome] = []
        for item in group:
            self._claim.check()
            try:
                one = self._read(item)
            except (StoreUnavailable, Busy):
                raise
            except MuistiError as error:
                failed.append(_failed(item, error))
                continue
            if one is None:
                continue
            if one.incoming is not None:
                held.callback(one.incoming.cuts.close)
                if one.incoming.cuts.size > CUTS_IN_MEMORY:
                    self._store([one], [])
                    continue
            ready.append(one)
        self._store(ready, failed)

    def _read(self, item: Item) -> Ready | None:
        """Read the file of an item; None for an archive, whose members have become items."""
        file = convert(item.argument, File)
        with self._bytes(item.name, file) as held:
            if file.member is None and holds_documents(held):
                self._expand(item, file, held)
                return None
            return self._ingester.read(self._claim.task.space, item, held, self._job, file, self._claim.caller)

    def _expand(self, item: Item, file: File, held: Held) -> None:
        adds: list[NewItem] = []
        outcome = ItemOutcome(item.number)
        try:
            for number, member in enumerate(members(held.stream, item.name, _LIMITS)):
                self._claim.check()
                own = structs.replace(file, member=number, media_type=None, origin=None)
                adds.append(own.item(f"{item.name}/{member.path}"))
        except Unreadable as refusal:  # the rest cannot be read
            outcome = _failed(item, refusal)
        self._claim.commit([outcome], adds=adds)

    def _bytes(self, name: str, file: File) -> Held:
        """Return the bytes of an item.

        Raises:
            Unreadable: the path is not there, or not on this machine; or the member of the archive cannot be read.
        """
        if file.member is None:
            return self._source(file)
        source = file.blob or file.server_path or ""
        return self._unpacking.member(source, name, file.member, lambda: self._source(file))

    def _source(self, file: File) -> Held:
        if file.blob is not None:
            return Held(self._claim.read(file.blob))
        try:
            return Held.of_path(Path(file.server_path or ""))
        except OSError as error:
            raise Missing(f"The file cannot be opened on this machine: {error.strerror}.") from error

    def _store(self, ready: Sequence[Ready], failed: Sequence[ItemOutcome]) -> None:
        """Store a group in one batch; where that is refused, each document alone, so that one fails alone."""
        incoming = [one.incoming for one in ready if one.incoming is not None]
        outcomes = [
            *failed,
            *(ItemOutcome(one.item.number, "skipped" if one.incoming is None else "done") for one in ready),
        ]
        if not outcomes:
            return
        if not incoming:
            self._claim.commit(outcomes)
            return
        try:
            self._ingester.store(self._claim, incoming, self._claim.fenced(outcomes))
        except (StoreUnavailable, Busy):
            raise
        except MuistiError as error:
            if len(outcomes) == 1:
                self._claim.commit([_failed(ready[0].item, error)])
                return
            if failed:
                self._claim.commit(failed)
            for one in ready:
                self._store([one], [])


def _failed(item: Item, error: MuistiError) -> ItemOutcome:
    return ItemOutcome(item.number, "failed", error.code, str(error))

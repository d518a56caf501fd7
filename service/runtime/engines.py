"""The engines of all databases that hold spaces: one for each, opened when it is first needed."""

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from heapq import merge
from itertools import islice

import msgspec

from muisti.core.databases import Database, open_database
from muisti.core.engine import Engine
from muisti.core.model.errors import Conflict, DatabaseDown, InvalidInput, MuistiError, SpaceMoving, StoreUnavailable
from muisti.core.model.operations import AuditPage
from muisti.core.model.outcomes import SpaceUse
from muisti.core.model.spaces import Space
from muisti.core.placement.directory import MAIN, Directory, Target
from muisti.core.placement.holdings import give
from muisti.core.support.waiting import Lock
from muisti.service.runtime.databases import location_of
from muisti.service.settings import Settings

DOWN_SECONDS = 1.0  # for which a database that did not answer is not asked again

Each = Callable[[Target, Engine], None]


class Engines:
    """The engine of the directory, and those of the other databases. Thread-safe.

    With a single database there is one entry, and the map has all buckets in it.
    """

    def __init__(self, main: Engine, settings: Settings) -> None:
        self.main, self._home = main, location_of(settings)
        self.directory = Directory(main.database.primary, self._home.url)
        self._opened: dict[int, Engine] = {MAIN: main}
        self._memory = settings.index_memory
        self._down: dict[int, float] = {}
        self._opening = Lock()
        self._listening: list[Each] = []
        self._closed = False

    def of(self, space: str | None) -> Engine:
        """Return the engine of the database that has a space; that of the directory for none.

        Raises:
            DatabaseDown: the database did not answer a moment ago, or is not open yet.
        """
        if not space:
            return self.main
        id_ = self.directory.map.of(space)
        engine = self._opened.get(id_)
        if engine is None or (self._down and self._is_down(id_)):
            raise DatabaseDown(self.name(id_))
        return engine

    def name(self, id_: int) -> str:
        known = self.directory.map.targets.get(id_)
        return str(id_) if known is None else known.name

    def ensure(self, space: str) -> Space:
        """Return the space of a name, and make it in its database if it is missing. Call it on a thread.

        Raises:
            SpaceMoving, DatabaseDown.
        """
        try:
            return self.opened(self.directory.map.of(space)).spaces.ensure(space)
        except SpaceMoving:
            self.directory.load()
            return self.opened(self.directory.map.of(space)).spaces.ensure(space)

    def together(self, space: str, other: str) -> None:
        """Raise `Conflict` unless two spaces are in one database."""
        if self.home(space) != self.home(other):
            raise Conflict(
                f"{space!r} is in the database {self.home(space)!r}, {other!r} in {self.home(other)!r}; "
                f"move one of them first: muisti placement move {other} --target {self.home(space)}"
            )

    def beside(self, space: str, name: str) -> None:
        """Let a space that does not exist yet belong to the database of another one. Call it on a thread."""
        map_ = self.directory.load() if self.several else self.directory.map
        here, there = map_.of(space), map_.of(name)
        if here != there:
            give(self.database(there).primary, self.database(here).primary, name)
            self.directory.pin(name, here, "forked")

    def home(self, space: str) -> str:
        """Return the name of the database of a space."""
        return self.name(self.directory.map.of(space))

    def spaces(self) -> list[tuple[Space, SpaceUse | None]]:
        """Return the spaces of all databases by name, with their uses. Call it on a thread.

        Raises:
            DatabaseDown: one does not answer, and without it the list would not be whole.
        """
        found: list[tuple[Space, SpaceUse | None]] = []
        if self.several:
            with suppress(MuistiError):  # what is known goes on
                self.directory.load()
        for target, engine in self.each():
            try:
                held, uses = engine.spaces.list(), engine.spaces.uses()
            except StoreUnavailable as error:
                if not self.several:
                    raise
                self.failed(target.id)
                raise DatabaseDown(target.name, str(error)) from error
            found += [(space, uses.get(space.epoch)) for space in held]
        return sorted(found, key=lambda one: one[0].name)

    def audit(self, *, limit: int = 50, cursor: str | None = None) -> AuditPage:
        """Return a page of the audit logs of all databases, newest first. Call it on a thread.

        An entry is in the database of what it tells of, since it is written in the same transaction.

        Raises:
            InvalidInput: the limit is out of range, or the cursor is not one of ours.
            DatabaseDown: one does not answer.
        """
        if not self.several:
            return self.main.audit(limit=limit, cursor=cursor)
        at = {} if cursor is None else _positions(cursor)
        engines = {target.name: engine for target, engine in self.each() if at.get(target.name, "") is not None}
        pages = {name: engine.audit(limit=limit, cursor=at.get(name)) for name, engine in engines.items()}
        entries = [[(one, name) for one in page.items] for name, page in pages.items()]
        taken = list(islice(merge(*entries, key=lambda one: one[0].at, reverse=True), limit))
        for name, page in pages.items():
            mine = [one for one, of in taken if of == name]
            if mine:
                at[name] = str(mine[-1].number)
            if len(mine) == len(page.items) and page.next_cursor is None:
                at[name] = None
        over = all(at.get(name, "") is None for name in pages)
        text = base64.urlsafe_b64encode(msgspec.json.encode(at)).decode()
        return AuditPage(items=tuple(one for one, _ in taken), next_cursor=None if over else text)

    @property
    def several(self) -> bool:
        """Tell whether there is more than one database."""
        return len(self.directory.map.targets) > 1

    def failed(self, id_: int) -> None:
        """Note that a database did not answer: for a moment its spaces are refused, and nothing waits for it."""
        self._down[id_] = time.monotonic() + DOWN_SECONDS

    def _is_down(self, id_: int) -> bool:
        if self._down.get(id_, 0.0) > time.monotonic():
            return True
        self._down.pop(id_, None)
        return False

    def opened(self, id_: int) -> Engine:
        """Return the engine of a database, opening it if need be. Call it on a thread.

        Raises:
            DatabaseDown: the database does not answer.
        """
        if (engine := self._opened.get(id_)) is not None:
            return engine
        with self._opening:
            if (engine := self._opened.get(id_)) is not None:
                return engine
            if self._closed or self._is_down(id_):
                raise DatabaseDown(self.name(id_))
            target = self.directory.map.targets.get(id_) or self.directory.load().targets[id_]
            try:
                engine = self.main.beside(open_database(target.location(self._home)))
            except MuistiError as error:
                self.failed(id_)
                raise DatabaseDown(target.name, str(error)) from error
            self._opened[id_] = engine
            for one in self._opened.values():
                one.limit_indexes(self._memory // len(self._opened))
        for each in self._listening:
            each(target, engine)
        return engine

    def database(self, id_: int) -> Database:
        """Return a database by its id; see `opened`."""
        return self.opened(id_).database

    def open_all(self) -> None:
        """Open the databases that the map names, as far as they answer."""
        for id_ in self.directory.map.targets:
            with suppress(DatabaseDown):
                self.opened(id_)

    def each(self) -> Iterator[tuple[Target, Engine]]:
        """Yield all databases with their engines, opening what is not open.

        Raises:
            DatabaseDown: one does not answer.
        """
        for id_, target in sorted(self.directory.map.targets.items()):
            if self._is_down(id_):
                raise DatabaseDown(target.name)
            yield target, self.opened(id_)

    def known(self) -> list[tuple[Target, Engine | None]]:
        """Return all databases, each with its engine where it is open and answers."""
        found = sorted(self.directory.map.targets.items())
        return [(target, None if self._is_down(id_) else self._opened.get(id_)) for id_, target in found]

    def listen(self, each: Each) -> None:
        """Call `each` for every database beside the first, those that are opened later too."""
        self._listening.append(each)
        for target, engine in self.known():
            if target.id != MAIN and engine is not None:
                each(target, engine)

    def close(self) -> None:
        """Close all engines but the first, which its owner closes."""
        with self._opening:
            self._closed = True
            for id_, engine in [*self._opened.items()]:
                if id_ != MAIN:
                    engine.close()


def _positions(cursor: str) -> dict[str, str | None]:
    """Return the cursors by database that a cursor of all has; None where there is no more."""
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(cursor), type=dict[str, str | None])
    except (ValueError, msgspec.DecodeError, msgspec.ValidationError):
        message = f"{cursor[:80]!r} is no cursor; take next_cursor of the page before"
        raise InvalidInput.at("$.cursor", message) from None

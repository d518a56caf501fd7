"""The engines of all databases that hold spaces: one for each, opened when it is first needed."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from muisti.core.databases import open_database
from muisti.core.engine import Engine
from muisti.core.model.errors import DatabaseDown, MuistiError
from muisti.core.placement.directory import MAIN, Directory, Target
from muisti.core.store.database import Database
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
        self._opening = threading.Lock()
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

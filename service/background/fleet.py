"""Background work of all databases: sweeps and tasks of each, and the moves between them."""

import logging
import threading
import uuid
from collections.abc import Sequence
from contextlib import suppress

from msgspec import UNSET

from muisti.core.engine import Engine
from muisti.core.model.errors import MuistiError
from muisti.core.placement.directory import MAIN, Target
from muisti.core.placement.mover import Mover
from muisti.service.background.task_threads import TaskThreads
from muisti.service.background.tasks import sweeps_beside
from muisti.service.background.upkeep import Sweep, Upkeep, signer
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings

LOOK_SECONDS = 0.5  # between looks for moves, and for databases that were added
QUIET_SECONDS = 5.0  # the same while there is one database

_LOG = logging.getLogger("muisti.placement")


class Fleet:
    """The background work of a process, from `start` to `close`. Without sweeps it does none, as in a command."""

    def __init__(self, backend: Backend, sweeps: Sequence[Sweep], settings: Settings) -> None:
        self._backend, self._sweeps, self._settings = backend, sweeps, settings
        self._running: list[Upkeep | TaskThreads] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="muisti-placement", daemon=True)

    def start(self) -> None:
        engines = self._backend.engines
        self._begin(engines.main, self._sweeps, MAIN)
        engines.listen(self._opened)
        if engines.several:
            engines.open_all()
        if self._sweeps:
            self._thread.start()

    def close(self) -> None:
        """Stop after the steps that run now. Other processes continue the work."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        for one in reversed(self._running):
            one.close()

    def _opened(self, target: Target, engine: Engine) -> None:
        if not self._stop.is_set():
            self._begin(engine, sweeps_beside(self._sweeps, self._settings, target), target.id)

    def _begin(self, engine: Engine, sweeps: Sequence[Sweep], id_: int) -> None:
        engines = self._backend.engines
        upkeep = Upkeep(engine, sweeps, self._backend.meters)
        upkeep.start()
        name = lambda: engines.name(id_) if engines.several else UNSET  # noqa: E731
        engine.report_purges(signer(engines.main, self._settings, name))
        working = TaskThreads(engine, self._settings)
        self._running += [upkeep, working]
        if self._sweeps:  # a command runs only the tasks that it asks for
            working.start()

    def _look(self) -> None:
        """Do the moves that nobody does, one after another."""
        engines = self._backend.engines
        mover = Mover(engines.directory, engines.database, uuid.uuid4().hex)
        while not self._stop.wait(LOOK_SECONDS if engines.several else QUIET_SECONDS):
            with suppress(MuistiError):
                engines.directory.load()
                if engines.several:
                    engines.open_all()
            try:
                while engines.several and not self._stop.is_set() and (moved := mover.run()) is not None:
                    details = {"move": moved.id, "unit": moved.unit, "step": moved.step, "rows": moved.copied}
                    _LOG.info("moved", extra=details)
            except MuistiError as error:  # the move goes on when the database answers
                _LOG.warning("move waits", extra={"code": error.code, "detail": str(error)})
            except Exception as error:  # noqa: BLE001  # a bug of ours must not end all moves until the next start
                _LOG.error("move broken", extra={"error": type(error).__qualname__})

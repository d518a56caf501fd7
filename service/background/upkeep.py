"""Upkeep: background work, done in small steps by one process at a time.

Each sweep has a thread of its own, so that no sweep waits for another. A sweep runs when it is due and no other process
holds its lease (`core.operations.upkeep`). Between two steps it pauses for as long as the step took: requests come
first.
"""

import logging
import random
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import UnsetType

from muisti.core.engine import Engine
from muisti.core.model.errors import ModelUnavailable, MuistiError, NotFound
from muisti.core.model.operations import Erasure
from muisti.core.support.lazy import Lazy
from muisti.service.erasure.schemas import ErasureReply, ReportReply
from muisti.service.observability.meters import Meters
from muisti.service.runtime.models import is_deferred, is_hosted
from muisti.service.settings import Settings

if TYPE_CHECKING:
    from muisti.service.auth import signing
else:  # 45 ms: cryptography, with the first report
    signing = Lazy("muisti.service.auth.signing")

_LOG = logging.getLogger("muisti.upkeep")

LEASE_SECONDS = 30.0
FIRST_SECONDS = 1.0  # after the start, so that upkeep does not slow it down
SPREAD = 0.1  # of a wait: processes that start together should not ask together

Step = Callable[[Engine, str, int], bool]
Where = Callable[[Engine, int], Sequence[str]]

OUTCOMES = ("done", "failed", "broken")


def every_space(engine: Engine, now: int) -> Sequence[str]:
    """Return the names of all spaces."""
    return [space.name for space in engine.spaces.list()]


def at_once(engine: Engine, now: int) -> Sequence[str]:
    """Return one empty name, for sweeps that do not work space by space."""
    return ("",)


class Sweep(msgspec.Struct, frozen=True):
    """A background task, done every `period` seconds.

    `run(engine, space, now)` does a step of some tens of milliseconds and returns whether there is more to do in that
    space; `now` is in microseconds. `where(engine, now)` names the spaces that need work, best with one query for all:
    there may be thousands. A step must be correct even when two processes do it at the same time. `own`: every process
    does it for itself, without a lease.
    """

    name: str
    period: float
    run: Step
    where: Where = every_space
    own: bool = False


class Upkeep:
    """The sweeps of a process, from `start` to `close`."""

    def __init__(
        self, engine: Engine, sweeps: Sequence[Sweep], meters: Meters, *, lease: float = LEASE_SECONDS
    ) -> None:
        """`lease`: seconds after which another process takes over when this one stops without notice."""
        for name, outcome in product((sweep.name for sweep in sweeps), OUTCOMES):
            meters.sweeps.add(name, outcome, by=0)
        self._stop = threading.Event()
        owner = uuid.uuid4().hex
        self._turns = [_Turns(engine, sweep, meters, self._stop, owner, lease) for sweep in sweeps]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        for turns in self._turns:
            turns.start()

    def close(self) -> None:
        """Stop after the steps that run now. Other processes continue the work; the engine stays open."""
        self._stop.set()
        for turns in self._turns:
            turns.join()


class _Turns(threading.Thread):
    """A thread that runs one sweep periodically."""

    def __init__(
        self, engine: Engine, sweep: Sweep, meters: Meters, stop: threading.Event, owner: str, lease: float
    ) -> None:
        super().__init__(name=f"upkeep {sweep.name}", daemon=True)
        self._engine, self._sweep, self._meters = engine, sweep, meters
        self._stop_asked, self._owner, self._lease = stop, owner, lease
        self._held_until = 0.0  # by the monotonic clock, and never later than by that of the database

    def run(self) -> None:
        wait = FIRST_SECONDS
        while not self._stop_asked.wait(wait * random.uniform(1, 1 + SPREAD)):
            wait = self._turn()
        if self._held_until:
            with suppress(MuistiError):  # then the lease runs out by itself
                self._engine.leases.give_back(self._sweep.name, self._owner)

    def _turn(self) -> float:
        """Do what is due, if this process gets the lease. Return the seconds until the next try."""
        try:
            wait = self._do()
        except MuistiError as error:
            outcome, wait = "failed", min(self._sweep.period, self._lease)
            _LOG.warning("sweep failed", extra={"sweep": self._sweep.name, "code": error.code})
        except Exception as error:  # noqa: BLE001  # a bug of ours must not stop the sweep until the next start
            outcome, wait = "broken", min(self._sweep.period, self._lease)
            trace = traceback.format_tb(error.__traceback__)  # without the message, which may quote a memory
            details = {"sweep": self._sweep.name, "error": type(error).__qualname__, "trace": trace}
            _LOG.error("sweep broken", extra=details)
        else:
            if wait:
                return wait
            outcome, wait = "done", self._sweep.period
        self._meters.sweeps.add(self._sweep.name, outcome)
        return wait

    def _do(self) -> float:
        """Do all that is due and return 0; seconds until the next try when it could not be finished here."""
        if wait := self._hold():
            return wait
        for space in self._sweep.where(self._engine, self._engine.now()):
            more = True
            while more:
                if wait := self._hold():
                    return wait
                more = self._step(space)
                if self._stop_asked.is_set():
                    return self._lease
        if self._sweep.period > self._lease and not self._sweep.own:
            self._held_until = 0.0
            self._engine.leases.give_back(self._sweep.name, self._owner, rest=self._sweep.period)
        return 0.0

    def _hold(self) -> float:
        """Take or renew the lease and return 0; seconds until the next try when another process holds it."""
        now = time.monotonic()
        if self._sweep.own or self._held_until - now > self._lease / 2:
            return 0.0
        wait = self._engine.leases.take(self._sweep.name, self._owner, self._lease)
        self._held_until = 0.0 if wait else now + self._lease
        return wait

    def _step(self, space: str) -> bool:
        """Do a step, then pause for as long. Return whether there is more to do in that space."""
        began = perf_counter()
        try:
            more = self._sweep.run(self._engine, space, self._engine.now())
        except NotFound:  # deleted meanwhile
            more = False
        took = perf_counter() - began
        self._meters.sweep_step_seconds.add(took, self._sweep.name)
        self._stop_asked.wait(took)
        return more


# Background work of models that no write waits for: vectors for what was stored, and which model it is

VECTOR_SECONDS = 1.0  # between two looks for texts without vectors
LOOK_SECONDS = 5.0  # until a model that did not answer is asked again
CHECK_SECONDS = 60.0  # until a model that answered is checked again


class Embedding:
    """Steps of the sweeps. A model that does not answer is logged once, and once when it answers again."""

    def __init__(self) -> None:
        self._silent = False
        self._checked: float | None = None

    def embed(self, engine: Engine, space: str, now: int) -> bool:
        """Embed some texts of a space. Return whether more lack vectors and the model answers."""
        try:
            more = engine.vectors.step(space)
        except ModelUnavailable as error:
            self._note(engine, str(error))
            return False
        self._note(engine, None)
        return more

    def embed_second(self, engine: Engine, space: str, now: int) -> bool:
        """Embed some texts of a space by its second model. Return whether more lack vectors and the model answers."""
        try:
            more = engine.second_vectors.step(space)
        except ModelUnavailable as error:
            self._note(engine, str(error))
            return False
        return more

    def check(self, engine: Engine, _: str, now: int) -> bool:
        """Check which model is behind the endpoint, unless that was done a short time ago."""
        if self._checked is not None and monotonic() - self._checked < CHECK_SECONDS:
            return False
        before = engine.generation
        try:
            changed = engine.recognition.check()
        except ModelUnavailable as error:
            self._note(engine, str(error))
            return False
        self._checked = monotonic()
        self._note(engine, None)
        if changed:
            details = {"model": engine.model, "generation": engine.generation, "before": before}
            _LOG.warning("the embedding model has another identity", extra=details)
        return False

    def _note(self, engine: Engine, problem: str | None) -> None:
        silent = problem is not None
        if silent and not self._silent:
            hosted = [encoder.name for encoder in engine.models.hosted]
            _LOG.warning("no embeddings", extra={"problem": problem, "models": hosted})
        if self._silent and not silent:
            _LOG.info("embeddings again")
        self._silent = silent


def embedding_sweeps(settings: Settings) -> list[Sweep]:
    """Return the sweeps that the models of the settings need: every process checks them, one process embeds."""
    work = Embedding()
    own = [Sweep("model", LOOK_SECONDS, work.check, at_once, own=True)] if is_hosted(settings) else []
    kept = [Sweep("vectors", VECTOR_SECONDS, work.embed, _lagging)] if is_deferred(settings) else []
    second = (
        [Sweep("second vectors", VECTOR_SECONDS, work.embed_second, _lagging_second)] if settings.embeddings else []
    )
    return [*own, *([*kept, *second] if settings.upkeep else [])]


def _lagging_second(engine: Engine, now: int) -> list[str]:
    return engine.second_vectors.lagging()


def _lagging(engine: Engine, now: int) -> list[str]:
    return engine.vectors.lagging()


# Results of purges that are tasks: their signed reports


def signer(engine: Engine, settings: Settings, database: Callable[[], str | UnsetType]) -> Callable[[Erasure], object]:
    """Return a function that makes the result of a purge from its report: the report, plain and signed.

    `engine` is that of the directory, and `database` returns the name of the database for the report.
    """

    def signed(erasure: Erasure) -> object:
        report = ReportReply.of(erasure, database=database())
        payload = msgspec.json.encode(report)
        return ErasureReply(report=report, signed=signing.sign(engine, settings.signing_key_file, payload))

    return signed

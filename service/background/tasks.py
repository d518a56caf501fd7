"""The background tasks that the settings ask for."""

import ctypes
import logging
import sys
from collections.abc import Sequence
from typing import Any

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.operations.upkeep import AT_A_TIME
from muisti.core.placement.directory import Target
from muisti.service.background.backup_targets import beside, shelf, shelve
from muisti.service.background.upkeep import Sweep, at_once, embedding_sweeps
from muisti.service.runtime.databases import location_of
from muisti.service.settings import Settings
from muisti.service.webhooks.sending import Deliverer, Sender, allowed_by, spaces_with_due

GRAPH_SECONDS = 1.0  # between two looks for versions that are not read
STEP = 50  # versions that a step reads
QUIET = 200  # changes between two looks, at most, that leave time to read
MANY = 2_000  # changes that are read although more of them come


class GraphReading:
    """Steps of the sweep. A space is read when little was written between two looks, or when it is far behind.

    Writes of one process share its interpreter with the reading, so a space into which much is written is left alone.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def where(self, engine: Engine, now: int) -> list[str]:
        """Return the spaces to read now."""
        unread = engine.unread_graphs()
        most = {space: seq + QUIET for space, seq in self._seen.items()}
        chosen = [one.space for one in unread if one.seq <= most.get(one.space, -1) or one.behind > MANY]
        self._seen = {one.space: one.seq for one in unread}
        return chosen

    def step(self, engine: Engine, space: str, now: int) -> bool:
        """Read some versions of a space; many become a task. Return whether more are left."""
        return engine.extend_graph(space, STEP)


_LOG = logging.getLogger("muisti.upkeep")

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0  # seconds
FLUSH_SECONDS = 5.0
FREED_SECONDS = 30.0
WEBHOOK_SECONDS = 2.0
BACKUP = "backup"
UPKEEP = Caller(actor="upkeep")  # who makes the changes, as history and undo name them


def sweeps_of(settings: Settings) -> list[Sweep]:
    """Return the sweeps of a process: its own, and those of the database unless the setting `upkeep` is off."""
    own = [Sweep("retrievals", FLUSH_SECONDS, _flush_retrievals, at_once, own=True), *embedding_sweeps(settings)]
    if _TRIM is not None:
        own.append(Sweep("freed", FREED_SECONDS, _return_freed, at_once, own=True))
    if not settings.upkeep:
        return own
    kept = [
        Sweep("answers", HOUR, _forget_answers, at_once),
        Sweep("receipts", HOUR, _forget_receipts, at_once),
        Sweep("working", HOUR, _release_expired, at_once),
        Sweep("tasks", MINUTE, _forget_tasks, at_once),
    ]
    lifecycle = [
        Sweep("expiry", MINUTE, _end_expired, _with_expired),
        Sweep("retention", HOUR, _forget_history, _forgetful),
        Sweep("purge", DAY, _purge_old, _with_old),
    ]
    reading = GraphReading()
    graph = [Sweep("graph", GRAPH_SECONDS, reading.step, reading.where)]
    return [*own, *kept, *graph, *lifecycle, *_reviews(settings), *_backups(settings), *_webhooks(settings)]


def _reviews(settings: Settings) -> list[Sweep]:
    if not settings.review_hours:
        return []
    period = settings.review_hours * HOUR

    def promote(engine: Engine, space: str, now: int) -> bool:
        return engine.seen_by(UPKEEP).review.promote(space, settings.promote_retrievals).more

    def prune(engine: Engine, space: str, now: int) -> bool:
        return engine.seen_by(UPKEEP).review.prune(space, settings.prune_retrievals, settings.prune_days).more

    return [Sweep("promote", period, promote, _with_candidates), Sweep("prune", period, prune, _with_candidates)]


def _backups(settings: Settings, target: Target | None = None) -> list[Sweep]:
    """Return the sweep of backups, if any. Its one step is a whole backup, which only reads and blocks no request.

    Those of a database beside the first go to a folder of its name.
    """
    place, keep, home = settings.backup_to, settings.backup_keep, location_of(settings)
    if place is None or not settings.backup_hours:
        return []
    shelf(place)  # refuses at the start a place that could never work
    source, to = (home, place) if target is None else (target.location(home), beside(place, target.name))

    def back_up(engine: Engine, _: str, now: int) -> bool:
        shelve(source, to, now, keep)
        return False

    return [Sweep(BACKUP, settings.backup_hours * HOUR, back_up, at_once)]


def sweeps_beside(sweeps: Sequence[Sweep], settings: Settings, target: Target) -> list[Sweep]:
    """Return the sweeps of a database beside the first: the same, with backups of its own."""
    backups = _backups(settings, target) if any(each.name == BACKUP for each in sweeps) else []
    return [*(each for each in sweeps if each.name != BACKUP), *backups]


def _webhooks(settings: Settings) -> list[Sweep]:
    if settings.webhook_hosts is None:
        return []
    return [Sweep("webhooks", WEBHOOK_SECONDS, Deliverer(Sender(allowed_by(settings))), spaces_with_due)]


def _with_expired(engine: Engine, now: int) -> list[str]:
    return engine.upkeep.with_expired(now)


def _end_expired(engine: Engine, space: str, now: int) -> bool:
    return engine.upkeep.end_expired(space, now)


def _forgetful(engine: Engine, now: int) -> list[str]:
    return engine.upkeep.with_old_history(now)


def _forget_history(engine: Engine, space: str, now: int) -> bool:
    return engine.upkeep.forget_history(space, now)


def _with_old(engine: Engine, now: int) -> list[str]:
    return engine.upkeep.with_old_memories(now)


def _purge_old(engine: Engine, space: str, now: int) -> bool:
    """Purge some old memories; return whether more are due. The final search for remains reads the whole file."""
    erasure = engine.upkeep.purge_old(space, now, UPKEEP)
    if erasure is None:
        return False
    memories = erasure.erased.get("memories", 0)
    left = {place: count for place, count in erasure.found.items() if count}
    _LOG.log(
        logging.WARNING if left else logging.INFO, "purged", extra={"space": space, "memories": memories, "left": left}
    )
    return memories == AT_A_TIME


def _with_candidates(engine: Engine, now: int) -> list[str]:
    return engine.upkeep.with_candidates()


def _flush_retrievals(engine: Engine, _: str, now: int) -> bool:
    engine.flush_retrievals()
    return False


_TRIM: Any = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # musl has none


def _return_freed(engine: Engine, _: str, now: int) -> bool:
    """Return freed memory to the system: a model's files, once read, left 40 MB in pages that glibc kept."""
    _TRIM(0)
    return False


def _forget_answers(engine: Engine, _: str, now: int) -> bool:
    return engine.upkeep.forget_answers(now)


def _forget_receipts(engine: Engine, _: str, now: int) -> bool:
    return engine.receipts.forget(now)


def _release_expired(engine: Engine, _: str, now: int) -> bool:
    return engine.upkeep.release_expired(now)


def _forget_tasks(engine: Engine, _: str, now: int) -> bool:
    return engine.forget_tasks()

"""What the settings ask to be done in the background."""

from core.engine import Engine
from service.settings import Settings
from service.upkeep import Sweep, at_once

HOUR = 3600.0  # seconds
FLUSH_SECONDS = 5.0


def sweeps_of(settings: Settings) -> list[Sweep]:
    """The sweeps of a process: its own, and unless it leaves them to others those of the database."""
    own = [Sweep("retrievals", FLUSH_SECONDS, _flush_retrievals, at_once, own=True)]
    if not settings.upkeep:
        return own
    return [*own, Sweep("answers", HOUR, _forget_answers, at_once)]


def _flush_retrievals(engine: Engine, _: str, now: int) -> bool:
    engine.flush_retrievals()
    return False


def _forget_answers(engine: Engine, _: str, now: int) -> bool:
    return engine.forget_answers(now)

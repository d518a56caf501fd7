"""What the settings ask to be done in the background."""

from collections.abc import Sequence

from core.engine import Engine
from service.settings import Settings
from service.upkeep import Sweep, at_once

HOUR = 3600.0  # seconds


def sweeps_of(settings: Settings) -> Sequence[Sweep]:
    """The sweeps of a process; none when it leaves them to others."""
    if not settings.upkeep:
        return ()
    return (Sweep("answers", HOUR, _forget_answers, at_once),)


def _forget_answers(engine: Engine, _: str, now: int) -> bool:
    return engine.forget_answers(now)

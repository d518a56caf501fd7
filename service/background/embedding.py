"""Background work of models that no write waits for: vectors for what was stored, and which model it is."""

import logging
from time import monotonic

from muisti.core.engine import Engine
from muisti.core.model.errors import ModelUnavailable
from muisti.service.background.upkeep import Sweep, at_once
from muisti.service.runtime.models import is_deferred, is_hosted
from muisti.service.settings import Settings

_LOG = logging.getLogger("muisti.upkeep")

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

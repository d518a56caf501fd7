"""Recognise the model behind an endpoint: at the start from the database, then by its vectors of probe texts."""

from collections.abc import Callable
from typing import cast

import numpy as np

from muisti.core.embedding.hosted import Hosted, Sighting, recognise
from muisti.core.embedding.models import Models
from muisti.core.operations.sql import sightings
from muisti.core.store.database import Database


class Recognition:
    """Keeps the identities of hosted encoders right. Does nothing for encoders whose model is a file. Thread-safe."""

    def __init__(self, database: Database, models: Models, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock
        self._encoders = models.hosted

    def recall(self) -> None:
        """Take the identities that the models had when they were last seen, if they were. No endpoint is asked."""
        for encoder in self._encoders:
            if known := self._known(encoder):
                encoder.settle(known[0])

    def check(self) -> bool:
        """Ask the endpoints, and take the identities of their models. Return whether one has changed.

        Raises:
            ModelUnavailable: an endpoint does not answer as it should; its identity stays.
        """
        return any([self._check(encoder) for encoder in self._encoders])

    def _check(self, encoder: Hosted) -> bool:
        before, known = encoder.identity, self._known(encoder)
        found = recognise(encoder.configuration, encoder.probe(), known)
        if not known or known[0].identity != found.identity:
            probes = np.ascontiguousarray(found.vectors, "<f4").tobytes()
            self._database.primary.write(
                sightings.note(found.identity, encoder.name, found.dimensions, probes, self._clock())
            )
        encoder.settle(found)
        return found.identity != before

    def _known(self, encoder: Hosted) -> list[Sighting]:
        (rows,) = self._database.primary.read([sightings.of(encoder.configuration)])
        return [
            Sighting(digest, np.frombuffer(probes, "<f4").reshape(-1, dimensions).astype(np.float32))
            for digest, dimensions, probes in cast(list[tuple[str, int, bytes]], rows)
        ]

"""Recognise the model behind an endpoint: at the start from the database, then by its vectors of probe texts."""

from collections.abc import Callable
from typing import cast

import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.hosted import Hosted, Sighting, recognise
from muisti.core.store.database import Database
from muisti.core.store.sql import sightings


class Recognition:
    """Keeps the identity of a hosted encoder right. Does nothing for encoders whose model is a file. Thread-safe."""

    def __init__(self, database: Database, encoder: Encoder | None, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock
        self._encoder = encoder if isinstance(encoder, Hosted) else None

    def recall(self) -> None:
        """Take the identity that the model had when it was last seen, if it was. The endpoint is not asked."""
        if self._encoder is not None and (known := self._known(self._encoder)):
            self._encoder.settle(known[0])

    def check(self) -> bool:
        """Ask the endpoint, and take the identity of its model. Return whether the identity has changed.

        Raises:
            ModelUnavailable: the endpoint does not answer as it should; the identity stays.
        """
        encoder = self._encoder
        if encoder is None:
            return False
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

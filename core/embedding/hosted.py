"""Models behind an endpoint, which may change without notice. They are recognised by the vectors of some probe texts.

The vectors of one text differ slightly from request to request, so a hash of them would change with nothing changed.
The identity is a hash of the vectors as they were first seen. Later vectors that are nearly equal get that identity.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Sequence

import msgspec
import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import Vectors

PROBES = (
    "The library closes at six on Fridays.",
    "def area(width, height): return width * height",
    "Der Zug nach Bern fährt um 7:32 Uhr auf Gleis 4 ab.",
)
"""Texts whose vectors tell models apart; changing one changes the identity of every hosted model."""

SAME = 0.999
"""Least cosine of two vectors of one probe by the same model."""

HALF = 16  # characters of an identity that stand for the configuration; the other half stands for the vectors
UNSEEN = "0" * HALF


class Sighting(msgspec.Struct, frozen=True):
    """A model as it was first seen: its identity, and the unit-length vectors of `PROBES`, float32 (n, dimensions)."""

    identity: str
    vectors: Vectors

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def has_vectors(self, vectors: Vectors) -> bool:
        """Return whether vectors of `PROBES` are from this model."""
        if vectors.shape != self.vectors.shape:
            return False
        return bool((np.einsum("ij,ij->i", vectors, self.vectors) >= SAME).all())


class Hosted(Encoder):
    """An encoder whose model is behind an endpoint. Until `settle` its `identity` is one that no space has."""

    @property
    @abstractmethod
    def configuration(self) -> str:
        """A hash of the address, the model's name and the prefixes: 16 hexadecimal digits."""

    @abstractmethod
    def probe(self) -> Vectors:
        """Return the vectors of `PROBES` by the model as it is now.

        Raises:
            ModelUnavailable: the endpoint does not answer as it should.
        """

    @abstractmethod
    def settle(self, sighting: Sighting) -> None:
        """Take the identity and the dimensions of a model."""

    @abstractmethod
    def stop(self) -> None:
        """End waiting between tries; nothing more is asked."""

    @abstractmethod
    def close(self) -> None:
        """Stop, and close the connections."""


def unseen(configuration: str) -> str:
    """Return the identity of a model that has never answered; no space has it."""
    return configuration + UNSEEN


def recognise(configuration: str, vectors: Vectors, known: Sequence[Sighting]) -> Sighting:
    """Return the known model that makes these vectors of `PROBES`, or a new one."""
    for sighting in known:
        if sighting.has_vectors(vectors):
            return sighting
    digest = hashlib.sha256(np.ascontiguousarray(vectors, "<f4").tobytes()).hexdigest()
    return Sighting(configuration + digest[:HALF], vectors)

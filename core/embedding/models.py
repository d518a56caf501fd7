"""The embedding models of a process, found by identity: one process works with spaces of several models."""

import hashlib
import importlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.embedding.cache import BYTES, EmbeddingCache
from muisti.core.embedding.encoder import SHIPPED, Encoder, StaticEncoder
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Codes, Doubles, Longs
from muisti.core.kernels.related import find_related
from muisti.core.model.choices import OFF
from muisti.core.model.errors import InvalidInput, ModelMismatch, ModelUnavailable
from muisti.core.model.generations import Card
from muisti.core.model.spaces import Space
from muisti.core.support.waiting import refuse_long

# Models behind an endpoint, which may change without notice. They are recognised by the vectors of some probe texts.
#
# The vectors of one text differ slightly from request to request, so a hash of them would change with nothing changed.
# The identity is a hash of the vectors as they were first seen. Later vectors that are nearly equal get that identity.

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

    sighting: Sighting | None = None

    @property
    def identity(self) -> str:
        return unseen(self.configuration) if self.sighting is None else self.sighting.identity

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

    def settle(self, sighting: Sighting) -> None:
        """Take the identity and the dimensions of a model."""
        self.sighting = sighting

    @abstractmethod
    def stop(self) -> None:
        """End waiting between tries; nothing more is asked."""

    @abstractmethod
    def close(self) -> None:
        """Stop, and close the connections."""


def unseen(configuration: str) -> str:
    """Return the identity of a model that has never answered; no space has it."""
    return configuration + UNSEEN


def card_of(encoder: Encoder) -> Card:
    """Return what a database keeps of a model. All of it is of one model, even if another one is taking its place.

    Raises:
        ModelUnavailable: the model is behind an endpoint that has never answered.
    """
    if not isinstance(encoder, Hosted):
        return Card(encoder.identity, encoder.name, encoder.dimensions)
    seen = encoder.sighting
    if seen is None:
        raise ModelUnavailable("the embedding model has not answered yet; its vectors have no name until it does")
    return Card(seen.identity, encoder.name, seen.dimensions)


def recognise(configuration: str, vectors: Vectors, known: Sequence[Sighting]) -> Sighting:
    """Return the known model that makes these vectors of `PROBES`, or a new one."""
    for sighting in known:
        if sighting.has_vectors(vectors):
            return sighting
    digest = hashlib.sha256(np.ascontiguousarray(vectors, "<f4").tobytes()).hexdigest()
    return Sighting(configuration + digest[:HALF], vectors)


# The second models that a process has, by name. Each loads when a space first needs it


class SecondModels:
    """Encoders by the name by which a setting or a space chooses them. Thread-safe.

    `default` is the name for spaces that choose none. `problems` says in words why models cannot be used, by name.
    """

    def __init__(self, encoders: Mapping[str, Encoder] | None = None, default: str = OFF) -> None:
        self.encoders = dict(encoders or {})
        self._ready: dict[str, Encoder] = {}
        self.default = default
        self.problems: dict[str, str] = {}

    def __iter__(self) -> Iterator[Encoder]:
        yield from self.encoders.values()

    @property
    def names(self) -> list[str]:
        """The names that a space may choose."""
        return sorted(self.encoders)

    def chosen(self, space: Space) -> str:
        """Return the name of the second model that a space should have, "off" for none."""
        return space.policy.second_model or self.default

    def named(self, name: str) -> Encoder | None:
        """Return a model that can be used now, loading it first; None for one that cannot, or is not in this process.

        A model behind an endpoint cannot be used before it has answered once.
        """
        encoder = self._ready.get(name) or self.encoders.get(name)
        if encoder is None or name in self.problems:
            return None
        if name not in self._ready:
            refuse_long()
            try:
                if encoder.identity.endswith(UNSEEN) and isinstance(encoder, Hosted):
                    return None
            except InvalidInput as error:
                self.problems[name] = str(error)
                return None
            self._ready[name] = encoder
        return encoder

    def of(self, space: Space) -> Encoder | None:
        """Return the second model that a space has; None without one, or where this process cannot use it."""
        if space.second is None:
            return None
        encoder = self.named(self.chosen(space))
        return encoder if encoder is not None and encoder.identity == space.second else None

    def check(self, name: str) -> None:
        """Raise `InvalidInput` unless a space may choose this name here."""
        if name == OFF:
            return
        if name not in self.encoders:
            known = ", ".join(repr(each) for each in (OFF, *self.names))
            raise InvalidInput.at("$.second_model", f"this server has no second model {name!r}; it has {known}")
        encoder = self.encoders[name]
        if not isinstance(encoder, Hosted):
            self.problems.pop(name, None)  # it may have been installed since
            encoder.identity  # noqa: B018  # which loads it


SHORT = 12  # characters by which messages name a model; names of models take at least so many


class Models:
    """Encoders by identity. Thread-safe. `default` embeds spaces that no model has embedded yet.

    Without a default, embeddings are off. The other models load when a space needs them. `cache` keeps vectors of slow
    models in `cache_bytes` of memory.
    """

    def __init__(
        self,
        default: Encoder | None = None,
        others: Sequence[Encoder] = (),
        cache_bytes: int = BYTES,
        seconds: SecondModels | None = None,
    ) -> None:
        """`seconds` has the models that may be the second one of a space."""
        if default is None and others:
            raise InvalidInput.at("$.models", "embeddings are off; further models would serve no space")
        self.default = default
        self.others = tuple(others)
        self.seconds = seconds or SecondModels()
        self._known: dict[str, Encoder] = {}
        self._loaded = set[Encoder]()
        self.cache = EmbeddingCache(cache_bytes)
        self._judge = StaticEncoder()

    def __iter__(self) -> Iterator[Encoder]:
        """Yield all encoders, the default first."""
        if self.default is not None:
            yield self.default
        yield from self.others

    @property
    def hosted(self) -> list[Hosted]:
        """The encoders whose models are behind endpoints."""
        every = dict.fromkeys((*self, *self.seconds))
        return [encoder for encoder in every if isinstance(encoder, Hosted)]

    def of(self, generation: str | None) -> Encoder | None:
        """Return the encoder of a space by the identity of its model, None where the process does not have it.

        A space without a model (`generation` None) gets the default.
        """
        if generation is None:
            return self.default
        known = self._known.get(generation)
        if known is not None and known.identity == generation:  # that of a hosted model may change
            return known
        for encoder in self:
            if not self._loads(encoder):
                continue
            self._known[encoder.identity] = encoder
            if encoder.identity == generation:
                return encoder
        return None

    def _loads(self, encoder: Encoder) -> bool:
        """Tell whether a model can be loaded; what needs no vectors goes on without one that cannot."""
        if encoder not in self._loaded:
            try:
                assert encoder.identity
            except InvalidInput:
                return False
            self._loaded.add(encoder)
        return True

    def second_of(self, space: Space) -> Encoder | None:
        """Return the second model of a space; None without one, or where this process cannot use it."""
        return None if self.default is None else self.seconds.of(space)

    def inline(self, generation: str | None) -> Encoder | None:
        """Return the encoder that embeds what a write stores; None also where background work embeds it."""
        encoder = self.default if generation is None else self.of(generation)
        return None if encoder is None or encoder.deferred else encoder

    def embedding(self, space: Space) -> list[Encoder]:
        """Return the encoders that embed what a write to a space stores: that of its model, and that of its shadow.

        Those that the process does not have, and those of background work, are left out.
        """
        own, shadow = self.inline(space.generation), None if space.shadow is None else self.inline(space.shadow)
        return [*(() if own is None else (own,)), *(() if shadow is None else (shadow,))]

    def lacking(self, space: Space) -> tuple[str, ...]:
        """Return in words what searches cannot do yet with a text that was just stored; empty when nothing."""
        if self.default is None:
            return ()
        encoder = self.of(space.generation)
        if encoder is not None and not encoder.deferred:
            return ()
        if encoder is None:
            return (f"found by keyword only: {absent(space.name, space.generation)}",)
        return ("found by keyword only until its vectors follow",)

    def judge(self, generation: str | None) -> Encoder | None:
        """Return the encoder that compares texts where background work embeds them; None where it does not."""
        encoder = self.default if generation is None else self.of(generation)
        return self._judge if encoder is not None and encoder.deferred else None

    @property
    def ready(self) -> Encoder | None:
        """The encoder that embeds a text at any time, whatever embeds a space; None when embeddings are off."""
        default = self.default
        return self._judge if default is not None and (default.deferred or not self._loads(default)) else default

    def named(self, name: str) -> Encoder:
        """Return a model by its name, its identity, or the first 12 or more characters of its identity.

        Raises:
            InvalidInput: the process has no such model, or embeddings are off.
        """
        if self.default is None:
            raise InvalidInput.at("$.model", "embeddings are off; there is no model to embed with")
        for encoder in self:
            if name in (encoder.name, encoder.identity):
                return encoder
        if len(name) >= SHORT:
            for encoder in self:
                if encoder.identity.startswith(name):
                    return encoder
        known = ", ".join(repr(encoder.name) for encoder in self)
        raise InvalidInput.at("$.model", f"this server has no model {name!r}; it has {known}")

    def required(self, space: str, generation: str | None) -> Encoder:
        """Return the encoder of a space.

        Raises:
            ModelMismatch: the process does not have the model that embedded the space, or embeddings are off.
        """
        encoder = self.of(generation)
        if encoder is None:
            raise ModelMismatch(absent(space, generation))
        return encoder


def absent(space: str, generation: str | None) -> str:
    """Return in words that the model of a space is not on this server, and what to do."""
    if generation is None:
        return "embeddings are off on this server"
    return (
        f"space {space!r} was embedded by model {generation[:SHORT]}, which this server does not have; name that model "
        f"in MUISTI_MODELS, or run `muisti generations build --space {space}` to embed the space with another"
    )


# Words of like meaning in the vocabulary of the model that ships with Muisti, found once by deploy/model/related.py.
#
# The vector of a word is that of the model's table, so "film" is near to "movie". Which words a space has does not
# matter here: the table is the same for all spaces, and changes with the model alone.

FILE = SHIPPED / "related.safetensors"
STEPS = 255  # of a cosine of 1

Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.uint16]


class Related(NamedTuple):
    """Words related to those of a query: codes of stems, the place of the query's word, and the cosine of both.

    Words that are related to the same one are adjacent, the likest first. `df` has a place for the rows with each word,
    which are not counted yet: -1.
    """

    codes: Codes
    places: Longs
    likeness: Doubles
    df: Longs


NONE = Related(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


class RelatedWords:
    """The related words of stems, by code."""

    def __init__(self, stems: Codes, counts: Bytes, related: Shorts, cosines: Bytes) -> None:
        """Take the table: each of the `stems`, ascending, has as many places of related `stems` as `counts` says.

        Cosines are in steps of 1/`STEPS`.
        """
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int32)]).astype(np.int32)
        self._most = int(counts.max(initial=0))
        self._table = (stems.copy(), starts, stems[related], cosines / STEPS)  # loops take no arrays that are read-only

    def of(self, codes: Codes) -> Related:
        """Return the words related to each of the stems, without those that are among the stems themselves."""
        most = self._most * len(codes)
        room = Related(np.empty(most, np.uint64), np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64))
        found = find_related(*self._table, codes, *room)
        return Related(room.codes[:found], room.places[:found], room.likeness[:found], room.df[:found])


@cache
def related_words() -> RelatedWords:
    """Return the table that ships with Muisti."""
    load: Any = importlib.import_module("safetensors.numpy").load
    return RelatedWords(**load(FILE.read_bytes()))

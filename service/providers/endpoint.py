"""Embedding model behind an endpoint that speaks OpenAI's API: `POST {url}/embeddings`."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from functools import cached_property
from typing import Literal
from urllib.parse import urlsplit

import msgspec
import numpy as np

from muisti.core.embedding.cache import Remembered
from muisti.core.embedding.models import HALF, PROBES, SAME, Hosted, Sighting
from muisti.core.embedding.vectors import Vector, Vectors
from muisti.core.model.errors import ModelUnavailable
from muisti.core.support.memo import Reread
from muisti.core.support.waiting import refuse_long
from muisti.service.outgoing.addresses import Allowed
from muisti.service.providers.posting import REFUSED_TEXTS, BadAnswer, Breaker, Failed, Poster, batches, read

RETRIES = (1.0, 2.0, 4.0)  # seconds before each further try of a request
WAITED = 4.0  # longest Retry-After that is waited for; for a longer one the caller comes again
FOR_GOOD = frozenset({301, 302, 303, 307, 308, 401, 403, 404, 405, 410})  # answers that a retry does not change
QUERIES = 8  # queries that are embedded at the same time


Form = Literal["float", "base64"]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Address of a model, and the way it is asked. `tokens` and `items` bound a request. Times are in seconds.

    `dimensions` is how many the model is asked for, 0 for its own. `query_seconds` is how long a search waits.
    """

    url: str
    model: str
    key: str | None = None
    key_file: Reread | None = None
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    items: int = 64
    tokens: int = 8_000
    form: Form = "float"
    seconds: float = 30.0
    query_seconds: float = 1.0

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]


class EndpointEncoder(Hosted):
    """Encoder that asks an endpoint. Thread-safe.

    A request that fails is tried again after 1, 2 and 4 seconds, and after that the endpoint is left alone for a while.
    Each request for passages has a probe with it, so vectors of a model that has changed are never taken.
    """

    def __init__(self, endpoint: Endpoint, allowed: Allowed, sleep: Callable[[float], object] | None = None) -> None:
        """`allowed` says to which addresses requests may go; `sleep` waits between tries."""
        self._endpoint = endpoint
        key = endpoint.key_file or endpoint.key
        self._poster = Poster(f"{endpoint.url.rstrip('/')}/embeddings", key, allowed)
        self._breaker = Breaker()
        self._closing = threading.Event()
        self._sleep = self._closing.wait if sleep is None else sleep
        self._configuration = _digest(endpoint)
        self._queries = Remembered()

    @property
    def deferred(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"{self._endpoint.model}@{self._endpoint.host}"

    @property
    def configuration(self) -> str:
        return self._configuration

    @property
    def dimensions(self) -> int:
        return self._endpoint.dimensions if self.sighting is None else self.sighting.dimensions

    def settle(self, sighting: Sighting) -> None:
        if self.identity != sighting.identity:
            super().settle(sighting)
            self._queries.clear()

    def probe(self) -> Vectors:
        texts = [self._endpoint.passage_prefix + text for text in PROBES]
        return self._tried(texts, self._endpoint.dimensions or None)

    def encode(self, texts: Sequence[str]) -> Vectors:
        refuse_long()
        sighting = self._known()
        prefixed = [self._endpoint.passage_prefix + text for text in texts]
        parts = [self._passages(batch, sighting) for batch in batches(prefixed, self._room, self._endpoint.tokens)]
        return np.concatenate([np.empty((0, sighting.dimensions), np.float32), *parts])

    def encode_query(self, text: str) -> Vector:
        known = self._queries.get(text)
        if known is not None:
            return known
        refuse_long()
        sighting = self._known()
        self._refuse_broken()
        try:
            # On another thread, because resolving a name has no time limit. A late answer serves the next such query.
            return self._pool.submit(self._query, text, sighting).result(self._endpoint.query_seconds)
        except TooLate:
            raise self._unavailable(f"did not answer within {self._endpoint.query_seconds:g} s") from None

    def stop(self) -> None:
        self._closing.set()

    def close(self) -> None:
        """Stop, and close the connections."""
        self.stop()
        self._pool.shutdown(cancel_futures=True)
        self._poster.close()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(QUERIES, "query embedding")

    @property
    def _room(self) -> int:
        """Number of texts that fit into a request beside the probe."""
        return max(self._endpoint.items - 1, 1)

    def _known(self) -> Sighting:
        if self.sighting is None:
            raise self._unavailable("has not answered yet")
        return self.sighting

    def _query(self, text: str, sighting: Sighting) -> Vector:
        prefixed = self._endpoint.query_prefix + text
        try:
            (vector,) = self._asked([prefixed], sighting.dimensions, 2 * self._endpoint.query_seconds)
        except Failed as failed:
            raise self._noted(failed) from None
        return self._queries.put(text, vector.copy()) if self.sighting is sighting else vector

    def _passages(self, texts: Sequence[str], sighting: Sighting) -> Vectors:
        """Return vectors of a batch; zeros for a text that the endpoint refuses while it takes the probe."""
        try:
            return self._beside_probe(texts, sighting)
        except _RefusesText:
            self._beside_probe((), sighting)  # raises when it refuses whatever it is sent
            return self._one_by_one(texts, sighting)

    def _one_by_one(self, texts: Sequence[str], sighting: Sighting) -> Vectors:
        """Return vectors of the texts, of which at least one is refused: halve them until it stands alone."""
        if len(texts) == 1:
            return np.zeros((1, sighting.dimensions), np.float32)
        half, parts = len(texts) // 2, list[Vectors]()
        for part in (texts[:half], texts[half:]):
            try:
                parts.append(self._beside_probe(part, sighting))
            except _RefusesText:
                parts.append(self._one_by_one(part, sighting))
        return np.concatenate(parts)

    def _beside_probe(self, texts: Sequence[str], sighting: Sighting) -> Vectors:
        probe = self._endpoint.passage_prefix + PROBES[0]
        vectors = self._tried([probe, *texts], sighting.dimensions)
        if float(vectors[0] @ sighting.vectors[0]) < SAME:
            raise self._unavailable("has another model now")
        return vectors[1:]

    def _tried(self, texts: Sequence[str], dimensions: int | None) -> Vectors:
        """Ask for vectors, several times if that may help.

        Raises:
            ModelUnavailable: no try had a good answer.
            _RefusesText: the endpoint takes no such text.
        """
        for pause in (*RETRIES, None):
            self._refuse_broken()
            try:
                return self._asked(texts, dimensions, self._endpoint.seconds)
            except Failed as failed:
                error = self._noted(failed)
                wait = max(failed.wait, pause or 0.0)
                if pause is None or failed.status in FOR_GOOD or wait > WAITED or self._closing.is_set():
                    raise error from None
                self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _asked(self, texts: Sequence[str], dimensions: int | None, seconds: float) -> Vectors:
        """Send one request. Raises `Failed`, also for an answer that is no good, or `_RefusesText`."""
        e = self._endpoint
        body = {"model": e.model, "input": list(texts), "encoding_format": e.form}
        if e.dimensions:
            body["dimensions"] = e.dimensions
        try:
            vectors = read(self._poster.post(body, seconds), len(texts), dimensions)
        except BadAnswer as bad:
            raise Failed(str(bad)) from None
        except Failed as failed:
            if failed.status in REFUSED_TEXTS:
                raise _RefusesText(self._told(str(failed))) from None
            raise
        self._breaker.succeeded()
        return vectors

    def _refuse_broken(self) -> None:
        why = "is no longer asked" if self._closing.is_set() else self._breaker.refusing
        if why is not None:
            raise self._unavailable(why)

    def _noted(self, failed: Failed) -> ModelUnavailable:
        self._breaker.failed(str(failed), failed.wait)
        return self._unavailable(str(failed))

    def _unavailable(self, why: str) -> ModelUnavailable:
        return ModelUnavailable(self._told(why))

    def _told(self, why: str) -> str:
        return f"the embedding model {self._endpoint.model} {why}"  # for any caller, so without the host


def _digest(endpoint: Endpoint) -> str:
    """Return a hash of all that decides about vectors on this side."""
    e = endpoint
    asked = (e.url.rstrip("/"), e.model, e.dimensions, e.query_prefix, e.passage_prefix, PROBES)
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()[:HALF]


class _RefusesText(ModelUnavailable):
    """The endpoint takes no such request: a text is too long, or it refuses all."""

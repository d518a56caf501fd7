"""Vectors of texts that were embedded before, so that storing or asking a text again costs a slow model nothing.

A key is the SHA-256 of the normalised text, the identity of the model, and the role of the text. Models see the
normalised text, so equal keys have equal vectors.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from typing import Literal

import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Floats
from muisti.core.model.errors import ModelUnavailable
from muisti.core.model.generations import CacheUse
from muisti.core.support.waiting import refuse_long
from muisti.core.text.forms import composed

Role = Literal["passage", "query"]

BYTES = 64 << 20  # 40,000 vectors of 384 dimensions
_ENTRY = 200  # bytes of a key and of the objects around a vector, about


class EmbeddingCache:
    """Vectors by text, model and role, the least recently used forgotten first. Thread-safe.

    Only `deferred` models are cached. A static one embeds a text in 5 to 22 µs; its key and entry take 8 to 10 µs.
    """

    def __init__(self, limit: int = BYTES) -> None:
        """`limit` is in bytes; 0 keeps nothing."""
        self._limit = limit
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, Floats] = OrderedDict()
        self._nbytes = self._hits = self._misses = 0

    @property
    def use(self) -> CacheUse:
        with self._lock:
            return CacheUse(len(self._vectors), self._nbytes, self._hits, self._misses)

    def encode(self, encoder: Encoder, texts: Sequence[str]) -> Vectors:
        """Return what `encoder.encode` returns; each text that is not known is embedded once.

        Raises:
            ModelUnavailable: the model does not embed now.
        """
        if not encoder.deferred or not self._limit:
            return encoder.encode(texts)
        identity, plain = encoder.identity, [normalised(text) for text in texts]
        keys = [key_of(text, identity, "passage") for text in plain]
        known = self._known(keys)
        missing = {key: text for key, text in zip(keys, plain, strict=True) if key not in known}
        if missing:
            made = encoder.encode([*missing.values()])
            known |= dict(zip(missing, made, strict=True))
            if encoder.identity == identity:  # the model behind an endpoint may have changed meanwhile
                self._keep(zip(missing, made, strict=True))
        return np.stack([known[key] for key in keys]) if keys else encoder.encode([])

    def encode_query(self, encoder: Encoder, text: str) -> Floats:
        """Return what `encoder.encode_query` returns.

        Raises:
            ModelUnavailable: the model does not embed now, or not in time.
        """
        if not encoder.deferred or not self._limit:
            return encoder.encode_query(text)
        identity, plain = encoder.identity, normalised(text)
        key = key_of(plain, identity, "query")
        if known := self._known([key]):
            return known[key]
        vector = encoder.encode_query(plain)
        if encoder.identity == identity:
            self._keep([(key, vector)])
        return vector

    def has_query(self, encoder: Encoder, text: str) -> bool:
        """Return whether the vector of a query is cached."""
        if not encoder.deferred or not self._limit:
            return False
        key = key_of(normalised(text), encoder.identity, "query")
        with self._lock:
            return key in self._vectors

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
            hits = sum(key in found for key in keys)
            self._hits += hits
            self._misses += len(keys) - hits
        return found

    def _keep(self, made: Iterable[tuple[bytes, Floats]]) -> None:
        """Keep vectors, except the zeros of texts that a model refuses."""
        kept = [(key, np.array(vector, np.float32)) for key, vector in made if vector.any()]
        with self._lock:
            for key, vector in kept:
                vector.flags.writeable = False
                before = self._vectors.pop(key, None)
                self._vectors[key] = vector
                self._nbytes += _size(vector) - (0 if before is None else _size(before))
            while self._nbytes > self._limit:
                self._nbytes -= _size(self._vectors.popitem(last=False)[1])


def _size(vector: Floats) -> int:
    return vector.nbytes + _ENTRY


def normalised(text: str) -> str:
    r"""Return the text with composed characters and line feeds, and without white space at its ends.

    >>> normalised(" cafe\u0301\r\n")
    'café'
    """
    return composed(text.replace("\r\n", "\n")).strip()


def key_of(text: str, identity: str, role: Role) -> bytes:
    """Return the key of a normalised text."""
    digest = hashlib.sha256(f"{identity}\n{role}\n".encode())
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


# Vectors of queries within a time limit: a search waits no longer for a slow model

THREADS = 2  # that embed queries at a time, where there is a limit


class Limited:
    """Embeds queries by way of a cache, each within a number of seconds; 0 is no limit. Thread-safe."""

    def __init__(self, cache: EmbeddingCache, seconds: float = 0.0) -> None:
        self._cache = cache
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(THREADS, "embed-query") if seconds else None

    def encode_query(self, encoder: Encoder, text: str) -> Floats:
        """Return the vector of a query. One that comes too late is cached for the next search.

        Raises:
            ModelUnavailable: the model does not embed now, or not in time.
        """
        if self._threads is None or self._cache.has_query(encoder, text):
            return self._cache.encode_query(encoder, text)
        refuse_long()
        embedding = self._threads.submit(self._cache.encode_query, encoder, text)
        try:
            return embedding.result(self._seconds)
        except TimeoutError:
            embedding.cancel()  # unless it has begun
            limit = f"{1000 * self._seconds:g} ms"
            raise ModelUnavailable(f"the vector of the query took the second model more than {limit}") from None


# Vectors of the last questions, so that a question that is asked again costs a slow model nothing


class Remembered:
    """Vectors by text; the least recently used go first. Thread-safe."""

    def __init__(self, most: int = 4_096) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Floats] = OrderedDict()

    def get(self, text: str) -> Floats | None:
        """Return the vector of a text, None for one that is not remembered."""
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def put(self, text: str, vector: Floats) -> Floats:
        """Remember the vector of a text, read-only from now on, and return it."""
        vector.flags.writeable = False
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return vector

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._vectors.clear()

"""Vectors of queries within a time limit: a search waits no longer for a slow model."""

from concurrent.futures import ThreadPoolExecutor, TimeoutError

from muisti.core.embedding.cache import EmbeddingCache
from muisti.core.embedding.encoder import Encoder
from muisti.core.kernels import Floats
from muisti.core.model.errors import ModelUnavailable
from muisti.core.support.waiting import refuse_long

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

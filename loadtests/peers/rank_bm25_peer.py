"""rank-bm25, the plain Python that many projects embed; given Muisti's own terms."""

import time
from collections.abc import Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from loadtests.peers.dense import patience
from loadtests.peers.lexical import LexicalEngine
from loadtests.shelf import Shelf
from muisti.core.text.terms import query_terms, tokenize

ROWS = 100_000  # a million would take several gigabytes and 5 s a query


def engines(texts: Sequence[str], shelf: Shelf) -> list[LexicalEngine]:
    if len(texts) > ROWS:
        return []
    began = time.perf_counter()
    index = BM25Okapi([tokenize(text) for text in texts], k1=1.2)
    seconds = time.perf_counter() - began

    def search(question: str, k: int) -> np.ndarray:
        return np.argsort(-index.get_scores(query_terms(question)), kind="stable")[:k]

    return [LexicalEngine("rank-bm25", search, seconds, None, patience(len(texts), 10_000))]

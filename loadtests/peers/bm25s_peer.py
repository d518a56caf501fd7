"""bm25s: impacts computed beforehand in a sparse matrix, numba backend, its own stop words and a Snowball stemmer."""

from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from bm25s.tokenization import Tokenizer

from loadtests.peers.lexical import LexicalEngine
from loadtests.shelf import Shelf


def engines(texts: Sequence[str], shelf: Shelf) -> list[LexicalEngine]:
    path, seconds = shelf.kept("bm25s", lambda path: _build(texts, path))
    index = bm25s.BM25.load(str(path))
    tokenizer = _tokenizer()
    tokenizer.load_vocab(str(path))
    tokenizer.load_stopwords(str(path))
    index.backend = "numba"
    index.activate_numba_scorer()

    def search(question: str, k: int) -> np.ndarray:
        asked = tokenizer.tokenize([question], update_vocab=False, return_as="ids", show_progress=False)
        found, _ = index.retrieve(asked, k=k, n_threads=1, show_progress=False)
        return found[0].astype(np.int64)

    size = sum(array.nbytes for array in index.scores.values() if isinstance(array, np.ndarray))
    return [LexicalEngine("bm25s, numba", search, seconds, size)]


def _tokenizer() -> Tokenizer:
    return Tokenizer(stopwords="en", stemmer=Stemmer.Stemmer("english"))


def _build(texts: Sequence[str], path: Path) -> None:
    tokenizer = _tokenizer()
    words = tokenizer.tokenize(list(texts), return_as="tuple", show_progress=False)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    index.index(words, show_progress=False)
    index.save(str(path))
    tokenizer.save_vocab(str(path))
    tokenizer.save_stopwords(str(path))

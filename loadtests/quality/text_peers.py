"""Others that find topics and summarise: TextTiling of nltk, TextRank and LSA of sumy.

`make .venv/.peers` installs them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import stop_words

from muisti.core.text.language import ENGLISH

READ = 600  # characters of a turn that TextTiling reads: it takes up to 50 ms for one


class NotInstalled(Exception):
    """A package that is measured beside Muisti is missing. The message says how to install it."""


def text_tiling(turns: Sequence[str], words: int = 20, comparisons: int = 10) -> list[int]:
    """Return the boundaries that TextTiling finds between turns (Hearst, 1997); none in a text too short for it."""
    with _installed():
        tiling: Any = import_module("nltk.tokenize.texttiling")
    tokenizer = tiling.TextTilingTokenizer(words, comparisons, stopwords=_stop_words())
    text = "\n\n".join(" ".join(turn[:READ].split()) for turn in turns)
    try:
        parts: list[str] = tokenizer.tokenize(text)
    except ValueError:
        return []
    found: list[int] = []
    for part in parts[:-1]:
        found.append((found[-1] if found else 0) + sum(bool(piece.strip()) for piece in part.split("\n\n")))
    return [place for place in found if 0 < place < len(turns)]


def text_rank(sentences: Sequence[str]) -> list[float]:
    """Return TextRank's rating of each sentence (Mihalcea and Tarau, 2004)."""
    document, made = _document(sentences)
    with _installed():
        summarizers: Any = import_module("sumy.summarizers.text_rank")
    rated: dict[Any, float] = _ready(summarizers.TextRankSummarizer()).rate_sentences(document)
    return [float(rated.get(sentence, 0.0)) for sentence in made]


def latent_semantics(sentences: Sequence[str]) -> list[float]:
    """Return the rating of each sentence by sumy's LSA (Steinberger and Ježek, 2004)."""
    document, made = _document(sentences)
    with _installed():
        summarizers: Any = import_module("sumy.summarizers.lsa")
    summariser = _ready(summarizers.LsaSummarizer())
    words = summariser._create_dictionary(document)  # the public method returns sentences, without their ratings
    if not words:
        return [0.0] * len(made)
    matrix = summariser._compute_term_frequency(summariser._create_matrix(document, words))
    _, sigma, right = np.linalg.svd(matrix, full_matrices=False)
    return [float(rank) for rank in summariser._compute_ranks(sigma, right)]


def rouge() -> Any:
    """Return a scorer of ROUGE-1, -2 and -L with Porter's stemmer; `score(reference, text)`."""
    with _installed():
        scorers: Any = import_module("rouge_score.rouge_scorer")
    return scorers.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)


class _Words:
    """Tokenizer of sumy that needs no data of nltk."""

    def to_words(self, text: object) -> list[str]:
        return re.findall(r"[A-Za-z']+", str(text).lower())

    def to_sentences(self, paragraph: str) -> list[str]:
        return [paragraph]


def _document(sentences: Sequence[str]) -> tuple[Any, list[Any]]:
    with _installed():
        models: Any = import_module("sumy.models.dom")
    made = [models.Sentence(sentence or ".", _Words()) for sentence in sentences]
    return models.ObjectDocumentModel([models.Paragraph(made)]), made


def _ready(summariser: Any) -> Any:
    summariser.stop_words = frozenset(_stop_words())
    return summariser


def _stop_words() -> list[str]:
    return sorted(stop_words.get_stop_words(ENGLISH))


@contextmanager
def _installed() -> Iterator[None]:
    """Raise `NotInstalled` for a package that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalled(f"{error.name} is not installed; run `make .venv/.peers`") from error

"""Write the table of related words that ships beside the model: `python -m deploy.model.related` in .venv.

Words are those of the model's vocabulary, each by the stem that searches use. A stem has the vector of the first word
in the vocabulary that gives it, which is the most frequent one. Two stems are related when the cosine of their vectors
is above `LEAST`; of more than `MOST` the likest are kept.
"""

import json
from collections.abc import Mapping

import numpy as np
from safetensors.numpy import save_file

from muisti.core.embedding.encoder import SHIPPED, StaticEncoder
from muisti.core.embedding.models import FILE, STEPS
from muisti.core.kernels import Floats
from muisti.core.text.terms import encode_terms, tokenize

LEAST = 0.55
MOST = 10
LETTERS = 4  # of the shortest word
BATCH = 1_024


def words_by_stem(vocabulary: Mapping[str, int]) -> dict[str, str]:
    """Return the most frequent word of each stem.

    >>> words_by_stem({"films": 2, "film": 1, "##ing": 3, "4th": 4, "tv": 5})
    {'film': 'film'}
    """
    found: dict[str, str] = {}
    for word in sorted(vocabulary, key=vocabulary.__getitem__):
        if word.isalpha() and len(word) >= LETTERS and len(stems := tokenize(word)) == 1:
            found.setdefault(stems[0], word)
    return found


def related(vectors: Floats, places: np.ndarray) -> list[tuple[np.ndarray, Floats]]:
    """Return, for the vectors at some places, the places of the related ones, the likest first, and their cosines."""
    found: list[tuple[np.ndarray, Floats]] = []
    for start in range(0, len(places), BATCH):
        own = places[start : start + BATCH]
        cosines = vectors[own] @ vectors.T
        cosines[np.arange(len(own)), own] = 0
        for one in cosines:
            near = np.flatnonzero(one > LEAST)
            near = near[np.argsort(-one[near], kind="stable")][:MOST]
            found.append((near, one[near]))
    return found


def ordered(words: Mapping[str, str]) -> tuple[np.ndarray, Floats]:
    """Return the codes of the stems, ascending, and the vectors of their words."""
    codes = encode_terms([*words], 0)
    order = np.argsort(codes)
    return codes[order], StaticEncoder().encode([*words.values()])[order]


def main() -> None:
    vocabulary = json.loads((SHIPPED / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    codes, vectors = ordered(words_by_stem(vocabulary))
    found = related(vectors, np.arange(len(codes)))
    save_file(
        {
            "stems": codes,
            "counts": np.array([len(near) for near, _ in found], np.uint8),
            "related": np.concatenate([near for near, _ in found]).astype(np.uint16),
            "cosines": np.rint(STEPS * np.concatenate([cosines for _, cosines in found])).astype(np.uint8),
        },
        FILE,
    )


if __name__ == "__main__":
    main()

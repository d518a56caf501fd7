"""The student's tokenizer: the teacher's WordPiece without special tokens, with frequent words as tokens too."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from tokenizers import Tokenizer

KEPT = ("[PAD]", "[UNK]")  # model2vec expects both; neither counts
BATCH = 2_000
WORD = re.compile(r"[a-z]{3,20}")
LONGEST_TOKEN = 6  # characters, on average; a longer text is cut before it is tokenised, which saves time


def frequent_words(texts: Iterable[str], known: Tokenizer, wanted: int) -> list[str]:
    """Return the words of the most texts among those that the tokenizer splits."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(set(WORD.findall(text.lower())))
    pieces = known.get_vocab()
    unknown = [(-count, word) for word, count in found.items() if word not in pieces]
    return [word for _, word in sorted(unknown)[:wanted]]


def student_tokenizer(teacher: Tokenizer, more: Sequence[str]) -> Tokenizer:
    """Token numbers are dense again after the unused and special tokens are gone, and `more` words are tokens too.

    A text is lower-cased, never cut.
    """
    described = json.loads(teacher.to_str())
    words = [word for word in _by_number(described["model"]["vocab"]) if not word.startswith("[") or word == "["]
    described["model"]["vocab"] = {word: number for number, word in enumerate([*KEPT, *words, *more])}
    described["added_tokens"] = [
        {"id": number, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for number, word in enumerate(KEPT)
    ]  # fmt: skip
    described["post_processor"] = described["truncation"] = described["padding"] = None
    return Tokenizer.from_str(json.dumps(described))


def count_tokens(tokenizer: Tokenizer, texts: Sequence[str], cut: int | None = None) -> sp.csr_array:
    """Count each token in each text: float32, texts × tokens. `cut` limits how many tokens of a text are read."""
    starts, tokens, counts = [0], [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for at in range(0, len(texts), BATCH):
        batch = [text if cut is None else text[: cut * LONGEST_TOKEN] for text in texts[at : at + BATCH]]
        for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            ids, repeats = np.unique(np.array(encoding.ids[:cut], np.int32), return_counts=True)
            first = int(np.searchsorted(ids, len(KEPT)))
            tokens.append(ids[first:])
            counts.append(repeats[first:])
            starts.append(starts[-1] + len(ids) - first)
    shape = (len(texts), tokenizer.get_vocab_size())
    return sp.csr_array((np.concatenate(counts).astype(np.float32), np.concatenate(tokens), starts), shape=shape)


def _by_number(vocabulary: dict[str, int]) -> list[str]:
    return sorted(vocabulary, key=vocabulary.__getitem__)

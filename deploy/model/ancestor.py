"""The ancestor: the model that shipped before, kept beside the recipe so that anyone can continue from it."""

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from deploy.model.pooling import Matrix

FOLDER = Path(__file__).parent / "ancestor"


def ancestor_table(tokenizer: Tokenizer) -> Matrix:
    """Return the ancestor's weighted vector of each token of `tokenizer`; of a word that it splits, the pieces' sum."""
    stored = load_file(FOLDER / "model.safetensors")
    rows = stored["embeddings"].astype(np.float32) * stored["weights"].astype(np.float32)[:, None]
    old = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    numbers, own = old.get_vocab(), tokenizer.get_vocab()
    table = np.zeros((len(own), rows.shape[1]), np.float32)
    for word, number in own.items():
        known = [numbers[word]] if word in numbers else old.encode(word, add_special_tokens=False).ids
        table[number] = rows[known].sum(axis=0)
    return table

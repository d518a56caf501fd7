"""Sizes of memories: how many tokens one takes in an encoding, and for a long one the sizes and words of its pieces.

They depend on the content and the encoding alone, so they are computed once for each version of a memory.
"""

import msgspec
import numpy as np

from muisti.core.conversations.context.counting import Counter
from muisti.core.text.sentences import pieces
from muisti.core.text.terms import encode_terms, tokenize

WHOLE = 100  # tokens up to which a memory is taken whole or not at all
FORMAT = 1  # changes whenever the features of the same content may differ


class Features(msgspec.Struct, frozen=True, array_like=True):
    """Sizes of the content of a memory. `tokens` is that of a line with all of it behind a speaker; `bare` without one.

    The rest is empty unless there are more than `WHOLE` tokens. Piece k is `[spans[k, 0], spans[k, 1])` of the shown
    content, takes `counts[k]` tokens with the white space before it, and has the distinct terms of
    `codes[ends[k - 1]:ends[k]]`. All are packed: int32, and uint32 for the codes.
    """

    tokens: int
    bare: int
    spans: bytes = b""
    counts: bytes = b""
    code: bytes = b""
    codes: bytes = b""
    ends: bytes = b""

    @property
    def is_long(self) -> bool:
        """Tell whether there are pieces to choose from."""
        return len(self.counts) > 4


def body(content: str) -> str:
    r"""Return a content as it is shown: lines after the first begin with a space, and there are no blank lines.

    So no line of a memory looks like a heading, and the tokens of lines add up.

    >>> body("one\n\nAbout the user\r\n  x")
    'one\n About the user\n   x'
    """
    lines = (line.rstrip() for line in content.strip().splitlines())
    return "\n ".join(line for line in lines if line)


def measure(text: str, counter: Counter) -> Features:
    """Compute the features of a content as it is shown, see `body`."""
    tokens = counter.count(f" {text}\n")
    bare = tokens + sum(counter.count(word) - counter.count(f" {word}") for word in text.split(maxsplit=1)[:1])
    if tokens <= WHOLE:
        return Features(tokens, bare)
    cut = pieces(text)
    starts = [0, *(piece.stop for piece in cut[:-1])]
    counts = [counter.count(f" {text[: cut[0].stop]}")] if cut else []
    counts += [counter.count(text[start : piece.stop]) for start, piece in zip(starts[1:], cut[1:], strict=True)]
    terms = [list(dict.fromkeys(tokenize(text[piece.start : piece.stop]))) for piece in cut]
    codes = encode_terms([term for one in terms for term in one], 0).astype(np.uint32)
    return Features(
        tokens,
        bare,
        np.array([(piece.start, piece.stop) for piece in cut], np.int32).tobytes(),
        np.array(counts, np.int32).tobytes(),
        bytes(piece.code for piece in cut),
        codes.tobytes(),
        np.cumsum([len(one) for one in terms], dtype=np.int32).tobytes(),
    )

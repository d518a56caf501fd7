"""The most likely encoding of a text, by the sequences of its bytes in many languages."""

import re

from chardet import EncodingEra, detect

from muisti.core.parsing.encodings import codec_of, decode

TRIES = 4  # guesses that are refused at most
_ERAS = EncodingEra.ALL & ~EncodingEra.MAINFRAME
# Control codes, and letters of two alphabets or lines of boxes within one word.
_ODD = re.compile(
    r"[\x80-\x84\x86-\x9f]|[a-zA-Z][\u0370-\u06ff\u2500-\u259f]+[a-zA-Z]"
    r"|[^\W\d_a-zA-Z][\u2500-\u259f]+[^\W\d_a-zA-Z]"
)
_BLANKS_OF_MAINFRAMES = 12  # bytes for each `@`, which is their blank, in a text without blanks


def detected(sample: bytes) -> tuple[str | None, float]:
    """Return the most likely encoding of which no word is odd, else the most likely one, and the confidence."""
    if b" " not in sample and sample.count(b"@") * _BLANKS_OF_MAINFRAMES > len(sample):
        return None, 0.0
    refused: list[str] = []
    first: tuple[str | None, float] | None = None
    while True:
        found = detect(sample, encoding_era=_ERAS, exclude_encodings=refused or None)
        name, confidence = found["encoding"], float(found["confidence"] or 0.0)
        codec = codec_of(name)
        first = first or (codec, confidence)
        if codec is None or len(refused) == TRIES:
            return first
        if not _ODD.search(decode(sample, codec)):
            return codec, confidence
        refused.append(name or "")

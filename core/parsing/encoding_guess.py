"""The most likely encoding of a text, by the sequences of its bytes in many languages."""

import re

from chardet import EncodingEra, detect

from muisti.core.parsing.encodings import codec_of, decode

TRIES = 4  # guesses that are refused at most
_ERAS = EncodingEra.ALL & ~EncodingEra.MAINFRAME
_CONTROLS = re.compile(r"[\x80-\x84\x86-\x9f]")


def detected(sample: bytes) -> tuple[str | None, float]:
    """Return the most likely encoding of which no character is a control code, and the confidence."""
    refused: list[str] = []
    while True:
        found = detect(sample, encoding_era=_ERAS, exclude_encodings=refused or None)
        name, confidence = found["encoding"], float(found["confidence"] or 0.0)
        codec = codec_of(name)
        if codec is None or len(refused) == TRIES or not _CONTROLS.search(decode(sample, codec)):
            return codec, confidence
        refused.append(name or "")

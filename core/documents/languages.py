"""Languages of documents and their chunks: that of code, or the tag of the language that a text is in."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from muisti.core.model.documents import Cut
from muisti.core.parsing.names import LANGUAGES
from muisti.core.text.language import told

PROGRAMMING = frozenset(LANGUAGES.values())
SAMPLES = 8  # chunks of text that tell the language of a document
SAMPLE = 2_000  # characters of each
_WORDS = re.compile(r"[^\W\d_]+")
_TAG = re.compile(r"[a-z]{2,3}(?=[-_])", re.IGNORECASE)


def language_of(stated: str | None, cuts: Iterable[Cut]) -> str | None:
    """Return the language of a document: the stated one, without its region, else the one of most chunks of text.

    >>> language_of("de-AT", ()), language_of(None, [Cut(text="Where is the key of the workshop?")])
    ('de', 'en')
    """
    if stated is not None and stated.strip():
        short = _TAG.match(stated.strip())
        return (short[0] if short else stated.strip()).casefold()
    texts = (one.text[one.overlap :][:SAMPLE] for one in cuts if one.kind in ("text", "list", "note"))
    found = (told([word.casefold() for word in _WORDS.findall(text)]) for text in islice(texts, SAMPLES))
    votes = Counter(one for one in found if one is not None)
    return votes.most_common(1)[0][0] if votes else None


def of_chunk(cut: Cut, document: object) -> str | None:
    """Return the language of a chunk: its own, else that of its document, unless either of them is code."""
    if cut.language is not None or cut.kind == "code":
        return cut.language
    return document if isinstance(document, str) and document not in PROGRAMMING else None

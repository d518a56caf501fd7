"""Documents for tests: texts, files, and cuts that follow from the words of a text."""

import hashlib
import random
import re
from collections.abc import Iterator

from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import Cuts, Documents, Incoming
from muisti.core.model.places import DocumentName
from muisti.core.parsing.pieces import Cut

_SENTENCE = re.compile(r"[^.]*\.?\s*")


def new(path: str, text: str, **fields: object) -> NewDocument:
    data = text.encode()
    facts = FileFacts(sha256=hashlib.sha256(data).hexdigest(), size=len(data))
    return NewDocument(path=path, facts=facts, **fields)  # pyright: ignore[reportArgumentType]


def cuts(text: str) -> Iterator[Cut]:
    """Cut a text at its sentences; each chunk repeats the last words of the one before."""
    at = 0
    for sentence in filter(None, _SENTENCE.findall(text)):
        overlap = min(at, 5)
        yield Cut(text=text[at - overlap : at + len(sentence)], overlap=overlap)
        at += len(sentence)


def incoming(path: str, text: str, **fields: object) -> Incoming:
    return Incoming(new=new(path, text, **fields), cuts=Cuts(cuts(text)))


def text_of(documents: Documents, space: str, path: str) -> str:
    return "".join(documents.text(space, DocumentName(name=path))[1])


def prose(rng: random.Random, sentences: int) -> str:
    words = [f"w{rng.randrange(60)}" for _ in range(sentences * 4)]
    return "".join(f"{' '.join(words[n * 4 : n * 4 + 4])}.\n" for n in range(sentences))


def edited(rng: random.Random, text: str) -> str:
    """Insert, delete, move or repeat a few sentences."""
    parts = text.splitlines(keepends=True)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(parts) + 1)
        match rng.randrange(4):
            case 0:
                parts.insert(place, prose(rng, 1))
            case 1 if len(parts) > 2:
                parts.pop(rng.randrange(len(parts)))
            case 2:
                parts.insert(place, parts[rng.randrange(len(parts))])
            case _:
                parts.insert(place, parts.pop(rng.randrange(len(parts))))
    return "".join(parts)

"""The turns of judged conversations, by session."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from muisti.core.text.discourse.summarise import Turn
from muisti.service.evaluation.dataset import Dataset

_NAMED = re.compile(r"([A-Z][\w .'-]{0,30}): ")

Session = tuple[str, str]
"""A group and the name of a session in it."""


def sessions(dataset: Dataset) -> Mapping[Session, list[Turn]]:
    """Return the turns of each session, in order, with their speakers as authors and numbers from 0."""
    found: dict[Session, list[Turn]] = {}
    for group, documents in dataset.documents.items():
        for document in documents:
            turns = found.setdefault((group, str(document.meta.get("session", ""))), [])
            for said in spoken(document.text, document.meta):
                turns.append(Turn(len(turns), *said))
    return found


def spoken(content: str, meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield speaker and text of each turn of a document: one, or one a line where it holds several."""
    texts = content.split("\n") if "turns" in meta else [content]
    for text in texts:
        named = _NAMED.match(text)
        said = text[named.end() :] if named else text
        if said.strip():
            yield named[1] if named else str(meta.get("speaker", "")), said.strip()

"""What the stages of the build hand on: pairs of texts that belong together, and passages to ask questions about."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a pair teaches. Batches hold pairs of one kind, so that the others of the batch are fair negatives."""

    CODE = "code"
    DOCUMENTATION = "documentation"
    LEXICON = "lexicon"
    DIALOGUE = "dialogue"
    QUESTION = "question"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True)
class Pair:
    """A short text that may be asked for (`query`) and the text that should be found (`document`)."""

    kind: Kind
    query: str
    document: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences or turns in order. `speakers` names who said each turn; empty for prose."""

    sentences: tuple[str, ...]
    speakers: tuple[str, ...] = ()

"""Values that the stages of the build pass on: pairs of texts that belong together, and passages for questions."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Kind of a training pair. A batch holds pairs of one kind, so that its other texts are fair negatives."""

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
    """Sentences or turns in order. `speakers` names the speaker of each turn; empty for prose."""

    sentences: tuple[str, ...]
    speakers: tuple[str, ...] = ()

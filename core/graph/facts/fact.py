"""A fact that a text states."""

from typing import NamedTuple, Protocol

from muisti.core.model.relations import RelationKind

AUTHOR = -1  # as a subject or an object: who wrote the text
ADDRESSEE = -2  # the other side of a dialogue of two


class Named(Protocol):
    """A mention of an entity in a text, in characters. A kind is a word such as `person` or `place`.

    `confidence` is between 0 and 1.
    """

    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def confidence(self) -> float: ...


class Fact(NamedTuple):
    """A relation that a text states.

    `subject` and `object` are indexes of mentions, `AUTHOR` or `ADDRESSEE`. A fact has an object or a literal: the
    start and stop of words in the text. `polarity` is False when the text denies the relation, as "no longer" does.
    `start` and `stop` enclose the words that state the fact. All places are in characters.
    """

    subject: int
    kind: RelationKind
    object: int | None
    literal: tuple[int, int] | None
    polarity: bool
    confidence: float
    start: int
    stop: int

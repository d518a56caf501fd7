"""Make what reads texts unless somebody gives another: the shipped recogniser, and the readers of facts."""

from muisti.core.entities.recogniser import shipped
from muisti.core.facts.reading import facts
from muisti.core.graph.extraction import Reader


def usual_reader() -> Reader:
    """Load the shipped recogniser."""
    return Reader(shipped(), facts)

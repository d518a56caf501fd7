"""Make what reads texts: a recogniser, the shipped one unless another is named, and the readers of facts."""

from collections.abc import Callable

from muisti.core.graph.entities import pipelines
from muisti.core.graph.entities.recogniser import shipped
from muisti.core.graph.entities.reported import Asked
from muisti.core.graph.extraction import Reader
from muisti.core.graph.facts.reading import facts

MakeReader = Callable[[], Reader]
"""Loads a reader when it is first needed."""


def usual_reader() -> Reader:
    """Load the shipped recogniser."""
    return Reader(shipped(), facts)


def asked_reader(asked: Asked) -> MakeReader:
    """Return what makes a reader whose names a model elsewhere tells, and the shipped recogniser where it fails."""
    return lambda: Reader(shipped(), facts, asked)


def pipeline_reader(package: str) -> MakeReader:
    """Return what loads the pipeline of spaCy that an installed package holds.

    Raises:
        InvalidInput: spaCy or the package is not installed, or the package holds no pipeline.
    """
    pipelines.check_installed(package)
    return lambda: Reader(pipelines.load(package), facts)

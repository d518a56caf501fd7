"""The recogniser of names that the settings name, for the knowledge graph."""

from muisti.core.graph.usual import MakeReader, pipeline_reader, usual_reader
from muisti.service.settings import Settings
from muisti.service.settings.forms import SPACY


def reader_of(settings: Settings) -> MakeReader:
    """Return what makes the reader of texts, which loads its models.

    Raises:
        InvalidInput: the packages of the setting `entities` are not installed.
    """
    if settings.entities.startswith(SPACY):
        return pipeline_reader(settings.entities.removeprefix(SPACY))
    return usual_reader

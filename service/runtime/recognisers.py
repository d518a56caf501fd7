"""The recogniser of names that the settings name, for the knowledge graph."""

from muisti.core.graph.extraction import MakeReader
from muisti.core.graph.extraction import asked_reader
from muisti.core.graph.extraction import pipeline_reader
from muisti.core.graph.extraction import usual_reader
from muisti.core.support.memo import Reread
from muisti.service.providers.naming import EndpointNames
from muisti.service.providers.naming import NamesEndpoint
from muisti.service.runtime.models import only_host
from muisti.service.settings import Settings
from muisti.service.settings.forms import ASKED
from muisti.service.settings.forms import SPACY
from pathlib import Path


def reader_of(settings: Settings) -> MakeReader:
    """Return what makes the reader of texts, which loads its models.

    Raises:
        InvalidInput: the packages of the setting `entities` are not installed.
    """
    if settings.entities.startswith(SPACY):
        return pipeline_reader(settings.entities.removeprefix(SPACY))
    if settings.entities.startswith(ASKED):
        return asked_reader(names_of(settings))
    return usual_reader


def names_of(settings: Settings) -> EndpointNames:
    """Return the endpoint for names that the settings describe."""
    file, url = settings.entities_key_file, settings.entities_url or ""
    endpoint = NamesEndpoint(
        url=url,
        model=settings.entities.removeprefix(ASKED),
        key=settings.entities_key,
        key_file=None if file is None else Reread(Path(file)),
        texts=settings.entities_batch,
        seconds=settings.entities_timeout,
    )
    return EndpointNames(endpoint, only_host(url, "MUISTI_ENTITIES", private=settings.entities_private))

"""The embedding models that the settings name."""

from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.embedding.models import Models
from muisti.service.settings import Settings, names_in


def models_of(settings: Settings) -> Models:
    """Return the models of a process: the default, and further ones for the spaces that they have embedded."""
    if not settings.embeddings:
        return Models()
    return Models(encoder_of(settings.model), [encoder_of(name) for name in names_in(settings.models)])


def encoder_of(name: str | None) -> Encoder:
    """Return the encoder that a setting names; None is the model that ships with Muisti."""
    return StaticEncoder(None if name == SHIPPED_NAME else name)


SHIPPED_NAME = StaticEncoder().name

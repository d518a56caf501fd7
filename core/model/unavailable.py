"""The error of a model that cannot embed a text now, such as one behind an endpoint that does not answer."""

from muisti.core.model.errors import MuistiError


class ModelUnavailable(MuistiError):
    """The model did not embed a text; safe to retry. The message names no key and no text."""

    code = "model_unavailable"

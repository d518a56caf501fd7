"""The embedding model that the settings name: an endpoint, a model in ONNX format, or a static one."""

from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.embedding.onnx import OnnxEncoder
from muisti.core.support.rereading import Reread
from muisti.service.outgoing.addresses import PORTS, Allowed
from muisti.service.providers.endpoint import Endpoint, EndpointEncoder
from muisti.service.settings import Settings
from muisti.service.settings.forms import is_loopback

ONNX = "onnx:"


def encoder_of(settings: Settings) -> Encoder | None:
    """Return the encoder that the settings name, None when embeddings are off. It loads, or is asked, on first use."""
    if not settings.embeddings:
        return None
    if settings.embedding_url is not None:
        return EndpointEncoder(endpoint_of(settings), allowed_by(settings))
    if settings.model is not None and settings.model.startswith(ONNX):
        return OnnxEncoder(
            settings.model.removeprefix(ONNX),
            tokenizer=None if settings.model_tokenizer is None else Path(settings.model_tokenizer),
            query_prefix=settings.query_prefix or "",
            passage_prefix=settings.passage_prefix or "",
        )
    return StaticEncoder(settings.model)


def is_hosted(settings: Settings) -> bool:
    """Whether the model is behind an endpoint, and may change."""
    return settings.embeddings and settings.embedding_url is not None


def is_deferred(settings: Settings) -> bool:
    """Whether background work embeds what writes store."""
    is_onnx = settings.model is not None and settings.model.startswith(ONNX)
    return is_hosted(settings) or (settings.embeddings and is_onnx)


def endpoint_of(settings: Settings) -> Endpoint:
    """Return the endpoint that the settings describe."""
    file = settings.embedding_key_file
    return Endpoint(
        url=settings.embedding_url or "",
        model=settings.embedding_model or "",
        key=settings.embedding_key,
        key_file=None if file is None else Reread(Path(file)),
        dimensions=settings.embedding_dimensions,
        query_prefix=settings.query_prefix or "",
        passage_prefix=settings.passage_prefix or "",
        items=settings.embedding_batch,
        tokens=settings.embedding_batch_tokens,
        form=cast(Literal["float", "base64"], settings.embedding_format),
        seconds=settings.embedding_timeout,
        query_seconds=settings.embedding_query_timeout,
    )


def allowed_by(settings: Settings) -> Allowed:
    """Return where requests for embeddings may go: to the host of the setting, in a private network if allowed."""
    parts = urlsplit(settings.embedding_url or "")
    host = (parts.hostname or "").lower()
    port = parts.port or PORTS.get(parts.scheme, 0)
    name = f"[{host}]" if ":" in host else host
    private = settings.embedding_private or is_loopback(host)
    return Allowed(
        (f"{name}:{port}",),
        private,
        setting_of_hosts="MUISTI_EMBEDDING_URL",
        setting_of_private="MUISTI_EMBEDDING_PRIVATE",
    )

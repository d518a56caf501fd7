"""Traces, and the way to them: `service.otel`, which makes them, is loaded only when they are asked for."""

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from core.hits import Answer
from core.outcomes import Written
from service.settings import Settings, SettingsError

Header = tuple[bytes, bytes]


class Request(Protocol):
    """The span of a request."""

    @property
    def trace_id(self) -> str: ...

    def end(self, method: str, route: str | None, status: int) -> None:
        """The request has been answered."""
        ...


class Tracing(Protocol):
    """Makes spans of requests and, inside them, of their stages. They hold names, numbers and codes, never a text."""

    def begin(self, headers: Sequence[Header]) -> Request:
        """A request has come: a part of the trace that its headers name (W3C trace context), if they do."""
        ...

    def searched(self, answer: Answer) -> None:
        """The running request has searched."""
        ...

    def wrote(self, written: Written) -> None:
        """The running request has stored something."""
        ...

    def close(self) -> None:
        """Send what has not been sent."""
        ...


def tracing_of(settings: Settings) -> Tracing | None:
    """What the settings ask for.

    Raises:
        SettingsError: it takes packages that are not installed.
    """
    if settings.otlp_endpoint is None:
        return None
    check_tracing(settings)
    return import_module("service.otel").exporting(settings.otlp_endpoint)


def check_tracing(settings: Settings) -> None:
    """Raise SettingsError when traces are asked for and the packages that they take are not installed."""
    if settings.otlp_endpoint is None:
        return
    try:
        import_module("service.otel")
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"MUISTI_OTLP_ENDPOINT asks for traces, which need the package {error.name}; install the extra: "
            f"pip install -e '.[otel]'"
        ) from error

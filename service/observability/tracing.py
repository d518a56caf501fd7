"""Traces, and the way to them: `otel`, which makes them, is loaded only when they are asked for."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from muisti.core.model.hits import Answer
from muisti.core.model.outcomes import Written
from muisti.core.support.lazy import Lazy
from muisti.service.settings import Settings, SettingsError

if TYPE_CHECKING:
    from muisti.service.observability import otel
else:  # a tenth of a second, with packages that may be missing
    otel = Lazy("muisti.service.observability.otel")

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
    return _exporting()(settings.otlp_endpoint)


def check_tracing(settings: Settings) -> None:
    """Raise SettingsError when traces are asked for and the packages that they take are not installed."""
    if settings.otlp_endpoint is not None:
        _exporting()


def _exporting() -> Callable[[str], Tracing]:
    """Load OpenTelemetry. Raises SettingsError when it is not installed."""
    try:
        return otel.exporting
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"MUISTI_OTLP_ENDPOINT asks for traces, which need the package {error.name}; install the extra: "
            f"pip install -e '.[otel]'"
        ) from error

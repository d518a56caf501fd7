"""The interface of traces. `otel`, which makes them, is loaded only when the settings ask for traces."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from muisti.core.model.context import Context
from muisti.core.model.hits import Answer, JointAnswer
from muisti.core.model.operations import Erasure
from muisti.core.model.outcomes import Written
from muisti.core.model.spaces import Space
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
        """End the span: the request has been answered."""
        ...


class Tracing(Protocol):
    """Makes spans of requests and, inside them, of operations on memories and their stages.

    Operations have the names of OpenTelemetry's conventions for generative AI. Spans hold names of operations, ids,
    numbers and codes; texts only where the settings ask for them.
    """

    def begin(self, headers: Sequence[Header]) -> Request:
        """Begin the span of a request, in the trace that its headers name (W3C trace context) or a new one."""
        ...

    def searched(self, answer: Answer | JointAnswer, query: str) -> None:
        """Add a search and its stages to the running request."""
        ...

    def packed(self, context: Context, query: str) -> None:
        """Add the search for a context to the running request."""
        ...

    def wrote(self, written: Written, verb: str) -> None:
        """Add a write to the running request; `verb` is the name of the function that wrote."""
        ...

    def stored(self, made: Space | Erasure) -> None:
        """Add to the running request that a space was created, or what was erased."""
        ...

    def close(self) -> None:
        """Send the spans that have not been sent yet."""
        ...


def tracing_of(settings: Settings) -> Tracing | None:
    """Return the tracing that the settings ask for, None when they ask for none.

    Raises:
        SettingsError: tracing needs packages that are not installed.
    """
    if settings.otlp_endpoint is None:
        return None
    return _exporting()(settings.otlp_endpoint, settings.otlp_texts)


def check_tracing(settings: Settings) -> None:
    """Raise SettingsError when the settings ask for traces and the packages for them are not installed."""
    if settings.otlp_endpoint is not None:
        _exporting()


def _exporting() -> Callable[[str, bool], Tracing]:
    """Load OpenTelemetry. Raises SettingsError when it is not installed."""
    try:
        return otel.exporting
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"MUISTI_OTLP_ENDPOINT asks for traces, which need the package {error.name}; install the extra: "
            f"pip install -e '.[otel]'"
        ) from error

"""Structured logs on stderr: one JSON line for each event, or coloured lines for a person.

The rule: a log line never holds the content of a memory, a query or a request body, and no secret. Log ids, counts,
sizes, durations and codes. `_without_content` is the net below that rule, not a licence to lean on it.

    log = structlog.get_logger("muisti.http")
    log.info("request", method="GET", route="/v1/spaces/{space}/memories", status=200, ms=1.3)
"""

import logging
import sys

import msgspec
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from service.settings import Settings

LEFT_OUT = "[left out]"
CONTENT = frozenset({"content", "text", "query", "body", "highlight", "reason", "passage", "memory", "draft", "token"})
# These tell paths with query strings (uvicorn.access, httpx) or every step of a compiler (numba).
TALKATIVE = ("uvicorn.access", "httpx", "httpcore", "numba", "asyncio", "mcp")


def configure(settings: Settings) -> None:
    """Send structlog, standard-library logging (uvicorn, litestar) and warnings to stderr in one form.

    Call it once, early. uvicorn must be started with `log_config=None`, or it puts its own handlers in place.
    """
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared = _shared()
    if settings.log_format == "json":  # past standard logging, which would take most of the time of a line
        processors: list[Processor] = [*shared, structlog.processors.format_exc_info, _encoded]
        factory = structlog.BytesLoggerFactory(sys.stderr.buffer)
    else:
        processors = [*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
        factory = structlog.stdlib.LoggerFactory()
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=factory,
        cache_logger_on_first_use=False,  # a logger made before this call follows it too
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderer(settings)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.captureWarnings(True)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_content,
    ]


def _renderer(settings: Settings) -> list[Processor]:
    if settings.log_format == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # the default of structlog prints local variables, and those hold memories
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]


def _encoded(_: WrappedLogger, __: str, event: EventDict) -> bytes:
    return msgspec.json.encode(event, enc_hook=repr)


def _without_content(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {name: LEFT_OUT if name in CONTENT else value for name, value in event.items()}

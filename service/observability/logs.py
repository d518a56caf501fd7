"""Structured logs on stderr: one JSON line for each event, or coloured lines for a person.

The rule: a log line never holds the content of a memory, a query or a request body, and no secret. Log ids, counts,
sizes, durations and codes. `CONTENT` catches mistakes against that rule; do not rely on it.

    log = logging.getLogger("muisti.http")
    log.info("request", extra={"method": "GET", "route": "/v1/spaces/{space}/memories", "status": 200, "ms": 1.3})
"""

import logging
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from muisti.service.settings import Settings

LEFT_OUT = "[left out]"
CONTENT = frozenset({"content", "text", "query", "body", "highlight", "reason", "passage", "memory", "draft", "token"})
# These log paths with query strings (uvicorn.access, httpx) or every step of a compiler (numba).
TALKATIVE = ("uvicorn.access", "httpx", "httpcore", "numba", "asyncio", "mcp")

# What every record has; all else came by `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
_COLOURS = {
    "debug": "\x1b[2m",
    "info": "\x1b[32m",
    "warning": "\x1b[33m",
    "error": "\x1b[31m",
    "critical": "\x1b[31;1m",
}
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_EVENT_WIDTH = 30


class JsonLines(logging.Formatter):
    """An event as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        event = _fields(record)
        event["event"] = record.getMessage()
        event["level"] = record.levelname.lower()
        event["logger"] = record.name
        event["timestamp"] = _time(record)
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(event, enc_hook=repr).decode()


class ConsoleLines(logging.Formatter):
    """An event as a line for a person, with a traceback below it if there is one."""

    def __init__(self, *, colours: bool) -> None:
        super().__init__()
        self._colours = colours

    def format(self, record: logging.LogRecord) -> str:
        level = record.levelname.lower()
        fields = " ".join(f"{name}={self._in(_BOLD, str(value))}" for name, value in sorted(_fields(record).items()))
        event = self._in(_BOLD, f"{record.getMessage():<{_EVENT_WIDTH}}")
        line = f"{self._in(_DIM, _time(record))} [{self._in(_COLOURS.get(level, ''), f'{level:<8}')}] {event}"
        line = f"{line} [{record.name}] {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._colours else text


def configure(settings: Settings) -> None:
    """Send all logging (ours, uvicorn's, Litestar's) and warnings to stderr in one form.

    Call it once, early. uvicorn must be started with `log_config=None`, or it puts its own handlers in place.
    """
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    root = logging.getLogger()
    root.handlers[:] = [_handler(JsonLines() if settings.log_format == "json" else ConsoleLines(colours=coloured))]
    root.setLevel(level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.captureWarnings(True)


@contextmanager
def errors_only() -> Generator[None]:
    """Log only errors, to stderr as text for people, until the context ends."""
    log = logging.getLogger("muisti")
    before = log.handlers[:], log.level, log.propagate
    log.handlers[:] = [_handler(ConsoleLines(colours=False))]
    log.setLevel(logging.ERROR)
    log.propagate = False
    try:
        yield
    finally:
        log.handlers[:], log.level, log.propagate = before
        log.setLevel(before[1])  # again, by its method: it clears the levels that loggers below have cached


def _handler(formatter: logging.Formatter) -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    return handler


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    found = dict[str, Any]()
    for name, value in vars(record).items():
        if name not in _STANDARD:
            found[name] = LEFT_OUT if name in CONTENT else value
    return found


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")


# Times of the stages of a start. A server logs them at level debug once it is ready

TICKS_AT = 21  # of the fields of /proc/self/stat: when the process began


class StageTimes:
    """Milliseconds that each stage took, the first since the process began."""

    def __init__(self, first: str) -> None:
        self._last = time.perf_counter()
        self.taken = {first: _age_ms()}

    def end(self, stage: str) -> None:
        """Note the time of the stage that ends now, which began when the one before ended."""
        now = time.perf_counter()
        self.taken[stage] = round(1000 * (now - self._last), 1)
        self._last = now


def _age_ms() -> float:
    """Return the age of the process in ms, to 10 ms; its processor time where the system does not report an age."""
    stat = Path("/proc/self/stat")
    if not stat.exists():
        return round(1000 * time.process_time(), 1)
    began = int(stat.read_text("utf-8").rpartition(")")[2].split()[TICKS_AT - 2]) / os.sysconf("SC_CLK_TCK")
    return round(1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - began), 1)

"""Commands about a server and its database: doctor, top, and the log of reads."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from muisti.client import calls
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Globals, Subcommands, command
from muisti.service.terminal.options import flag, limit, real
from muisti.service.terminal.output import console, for_people, show, talk
from muisti.service.terminal.session import Client, ask, client, server_url, session
from muisti.service.terminal.views import grid, same, tabbed

if TYPE_CHECKING:
    from muisti.service.cli.commands import doctor_checks
else:  # with the core
    doctor_checks = Lazy("muisti.service.cli.commands.doctor_checks")


@command(
    "muisti doctor",
    "muisti doctor --repair",
    "muisti doctor --quick --json",
    "muisti doctor --url http://127.0.0.1:8321",
)
@flag("--quick", "Skip the checks that read the whole database.")
@flag("--repair", "Rebuild indexes; copy a damaged file's rows to a new file.")
def doctor(options: Globals, quick: bool, repair: bool) -> None:
    """Check the installation and the database.

    Checks SQLite, the database file and its write-ahead log, the checksums of the memories, and the indexes. Also
    checks the model, permissions, disk and clock, and looks for two spaces of one project. With --url it asks the
    server. Without --repair nothing changes. With it, indexes are rebuilt. A damaged file is left as it is; all rows
    that can be read go into a new file beside it. The exit code is 1 when a check failed, or a repair was not possible.
    """
    doctor_checks.run(options, quick=quick, repair=repair)


URL = "http://127.0.0.1:8321"
RATES = {
    "requests": "muisti_http_requests_total",
    "refusals": "muisti_http_problems_total",
    "searches": "muisti_searches_total",
    "tool calls": "muisti_mcp_calls_total",
    "changes": "muisti_memory_changes_total",
}
TIMES = {"request": "muisti_http_request_duration_seconds", "commit": "muisti_commit_duration_seconds"}
LEVELS = {
    "requests in progress": "muisti_http_requests_in_progress",
    "writes that wait": "muisti_write_queue_length",
    "spaces in memory": "muisti_index_loaded_spaces",
    "index memory, bytes": "muisti_index_memory_bytes",
    "event loop lag, s": "muisti_event_loop_lag_seconds",
}


@command("muisti top --url http://127.0.0.1:8321", "muisti top --once --json", "muisti top --every 5")
@flag("--once", "Print the numbers since the server's start, and exit.")
@real("--every", "Time between two readings.", 0.2, 3600, metavar="SECONDS", default=2.0)
def top(options: Globals, once: bool, every: float) -> None:
    """Watch the load of a running server.

    Shows rates and times of requests, searches and writes, and the memory in use, until Ctrl-C. The numbers come from
    the server's /metrics. If the server has keys, MUISTI_KEY must hold one with the scope admin.
    """
    options.url = server_url(options) or URL
    with client(options) as opened:
        now = _scrape(opened)
        since = Reading(now.of("process_start_time_seconds") or now.at, {})
        if once or not for_people(options):
            _print(options, [*rows(since, now)])
            return
        _live(options, opened, since, now, every)


@dataclass(frozen=True, slots=True)
class Reading:
    """Sums over workers and labels by the name of the sample, with the time of the reading (Unix seconds)."""

    at: float
    values: Mapping[str, float]

    def of(self, name: str) -> float:
        return self.values.get(name, 0.0)


@dataclass(frozen=True, slots=True)
class Row:
    """Number with its name and unit: a rate (per second), a mean time (ms) or a level."""

    name: str
    value: float
    unit: str


def read(text: str, at: float) -> Reading:
    """Parse a scrape, and add up the samples of each name.

    >>> read('# TYPE a counter\\na_total{worker="1"} 2\\na_total{worker="2"} 3\\n', 0).of("a_total")
    5.0
    """
    values: dict[str, float] = {}
    for family in import_module("prometheus_client.parser").text_string_to_metric_families(text):
        for sample in family.samples:
            values[sample.name] = values.get(sample.name, 0.0) + sample.value
    return Reading(at, values)


def rows(before: Reading, now: Reading) -> Iterator[Row]:
    """Yield the rates and mean times between two readings, and the levels of the later one."""
    seconds = max(now.at - before.at, 1e-9)
    for name, sample in RATES.items():
        yield Row(name, (now.of(sample) - before.of(sample)) / seconds, "/s")
    for name, sample in TIMES.items():
        count = now.of(f"{sample}_count") - before.of(f"{sample}_count")
        total = now.of(f"{sample}_sum") - before.of(f"{sample}_sum")
        yield Row(f"{name}, mean", 1000 * total / count if count else 0.0, "ms")
    for name, sample in LEVELS.items():
        yield Row(name, now.of(sample), "")


def _live(options: Globals, opened: Client, before: Reading, now: Reading, every: float) -> None:
    live = import_module("rich.live").Live(_table([*rows(before, now)], options), console=console(options))
    try:
        with live:
            while True:
                time.sleep(every)
                before, now = now, _scrape(opened)
                live.update(_table([*rows(before, now)], options), refresh=True)
    except KeyboardInterrupt:
        return  # Ctrl-C is the normal end


def _scrape(opened: Client) -> Reading:
    return read(opened.send(calls.get_metrics()).body.decode(), time.time())


def _print(options: Globals, found: list[Row]) -> None:
    values = {f"{row.name} {row.unit}".strip(): round(row.value, 3) for row in found}
    lines = [tabbed(row.name, f"{row.value:.3f}", row.unit) for row in found]
    show(options, values, lambda _: _table(found, options), lambda _: lines)


def _table(found: list[Row], options: Globals) -> Any:
    rows = ((row.name, f"{row.value:,.1f}", row.unit) for row in found)
    return grid(f"{options.url}, since the last reading", "", "value", "", right=("value",), rows=rows)


OFF = "The read log is off; MUISTI_READ_LOG=ring or questions of the server turns it on."

reads = Subcommands(
    "reads",
    examples=("muisti reads list", "muisti reads unanswered"),
    help="Show who has read a space, and which questions found nothing.\n\nA server keeps its last reads in memory, "
    "without content, when MUISTI_READ_LOG says so. Each of its processes has its own.",
)


READS = same("at", "operation", "actor", "ms", "hits", "evidence", "receipt", right=("ms", "hits"))
UNANSWERED = same("count", "last_at", "text", right=("count",))


@reads.has("muisti reads list", "muisti reads list --limit 5 --json", name="list")
@limit("At most N.")
def list_reads(options: Globals, limit: int) -> None:
    """List the last reads of a server, newest first.

    Prints for each the time, the operation, who read, milliseconds, the number of memories, the evidence and the
    receipt.
    """
    data = ask(options, lambda space: calls.list_reads(space, limit=limit), READS, reads=True)
    _tell(options, data, "off")


@reads.has("muisti reads unanswered", "muisti reads unanswered --limit 10")
@limit("At most N.")
def unanswered(options: Globals, limit: int) -> None:
    """List the questions that found nothing, the most frequent first.

    Prints for each how often it was asked, when last, and its text.
    """
    data = ask(options, lambda space: calls.list_unanswered(space, limit=limit), UNANSWERED, reads=True)
    _tell(options, data, "off", "ring")


@reads.has("muisti reads forget")
def forget(options: Globals) -> None:
    """Forget the reads and questions of a space."""
    with session(options) as opened:
        opened.client.send(calls.forget_reads(opened.space))


def _tell(options: Globals, data: Mapping[str, Any], *missing: str) -> None:
    if data["mode"] in missing and not options.json:
        talk(OFF if data["mode"] == "off" else "No questions are kept; MUISTI_READ_LOG=questions keeps them.")

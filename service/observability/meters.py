"""Counters and histograms of the service. `service.metrics` publishes them; this module does not depend on it."""

import asyncio
from operator import attrgetter

from muisti.core.model.hits import Answered
from muisti.core.support.meters import LONG, SHORT, Counter, Histogram
from muisti.service.schemas.errors import KINDS

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STAGES = ("embed", "filter", "rank", "fetch")
_TIMES, _LABELS = attrgetter(*STAGES), tuple((stage,) for stage in STAGES)
OTHER = "other"  # label of unknown methods, of which callers could invent any number
NO_ROUTE = "none"  # label of requests that were refused before their route was known, or have none
BEAT_SECONDS = 1.0


class Meters:
    """Counters of one process. Labels take few values: never a name, an id or a text from a request.

    Label sets that are known beforehand are registered with 0, so that `rate()` sees their first increase.
    """

    def __init__(self) -> None:
        self.requests = Counter()  # by method, route and status
        self.request_seconds = Histogram(LONG)  # by method and route
        self.running = 0  # requests
        self.problems = Counter(*((code,) for code in KINDS))
        self.tool_calls = Counter()  # by tool and outcome
        self.searches = Counter()  # by mode and evidence
        self.degraded = Counter(())
        self.stage_seconds = Histogram(SHORT, *((stage,) for stage in STAGES))
        self.sweeps = Counter()  # by sweep and outcome
        self.sweep_step_seconds = Histogram(LONG)  # by sweep
        self.loop_lag_seconds = Histogram(SHORT, ())

    def answered(self, method: str, route: str | None, status: int, seconds: float, problem: str | None) -> None:
        """Count a request that has ended; `problem` is the code of its refusal."""
        method, route = method if method in METHODS else OTHER, route or NO_ROUTE
        self.requests.add(method, route, str(status))
        self.request_seconds.add(seconds, method, route)
        if problem is not None:
            self.problems.add(problem)

    def turned_away(self, method: str) -> None:
        """Count a request that admission control refused."""
        self.requests.add(method if method in METHODS else OTHER, NO_ROUTE, "503")
        self.problems.add("busy")

    def searched(self, answer: Answered) -> None:
        self.searches.add(answer.strategy, answer.evidence)
        if answer.degraded:
            self.degraded.add()
        self.stage_seconds.add_each(zip(_TIMES(answer.timings), _LABELS, strict=True), 1 / 1000)

    async def beat(self) -> None:
        """Measure the lag of the event loop once a second, until cancelled: how late a sleeping task is woken."""
        clock = asyncio.get_running_loop().time
        while True:
            due = clock() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self.loop_lag_seconds.add(max(0.0, clock() - due))

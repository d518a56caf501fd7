"""Latencies of a server by operation, computed from the metrics of its workers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from muisti.service.metrics.exposition import workers_families
from muisti.service.schemas.health import LatencyReply, ServerStatsReply

DURATION = "muisti_http_request_duration_seconds"
STARTED = "process_start_time_seconds"
RESIDENT = "process_resident_memory_bytes"


def summary(workers: Sequence[tuple[int, bytes]], now: float) -> ServerStatsReply:
    """Sum up what the workers have measured, the most frequent operations first. `now` is in Unix seconds."""
    buckets: dict[tuple[str, str], dict[float, float]] = defaultdict(lambda: defaultdict(float))
    totals: dict[tuple[str, str], float] = defaultdict(float)
    levels: dict[str, list[float]] = defaultdict(list)
    for family in workers_families(workers):
        for sample in family.samples:
            if sample.name == f"{DURATION}_bucket":
                operation = sample.labels["method"], sample.labels["route"]
                buckets[operation][float(sample.labels["le"])] += sample.value
            elif sample.name == f"{DURATION}_sum":
                totals[sample.labels["method"], sample.labels["route"]] += sample.value
            elif sample.name in (STARTED, RESIDENT):
                levels[sample.name].append(sample.value)
    found = [_latency(operation, up_to, totals[operation]) for operation, up_to in buckets.items()]
    return ServerStatsReply(
        workers=len(workers),
        memory_bytes=int(sum(levels[RESIDENT])),
        uptime_seconds=round(now - min(levels[STARTED], default=now), 3),
        operations=sorted(found, key=lambda one: (-one.count, one.route, one.method)),
    )


def _latency(operation: tuple[str, str], up_to: Mapping[float, float], total: float) -> LatencyReply:
    count = max(up_to.values())
    p50, p95, p99 = (round(1000 * quantile(share, up_to), 3) for share in (0.5, 0.95, 0.99))
    mean = round(1000 * total / count, 3) if count else 0.0
    return LatencyReply(method=operation[0], route=operation[1], count=int(count), mean=mean, p50=p50, p95=p95, p99=p99)


def quantile(share: float, up_to: Mapping[float, float]) -> float:
    """Return a quantile of a histogram, given as the number of values up to each bound; interpolates within a bucket.

    As `histogram_quantile` of Prometheus does. A value beyond the last finite bound counts as that bound.

    >>> quantile(0.5, {1.0: 10, 2.0: 20, float("inf"): 20})
    1.0
    >>> quantile(0.75, {1.0: 10, 2.0: 20, float("inf"): 20})
    1.5
    """
    bounds = sorted(up_to)
    wanted = share * up_to[bounds[-1]]
    below, before = 0.0, 0.0
    for bound in bounds:
        number = up_to[bound]
        if number >= wanted and number > before:
            return below if bound == float("inf") else below + (bound - below) * (wanted - before) / (number - before)
        below, before = (below if bound == float("inf") else bound), number
    return 0.0

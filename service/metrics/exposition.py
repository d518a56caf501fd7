"""Encodes metrics: as JSON between workers, as text for the scraper."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.utils import floatToGoString

from muisti.core.model.decoding import decoder
from muisti.core.support.meters import Counter, Gauge, Histogram
from muisti.core.support.meters import Meters as EngineMeters
from muisti.service.observability.meters import Meters
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.health import LatencyReply, ServerStatsReply
from muisti.service.version import installed_version

_Measured = tuple[str, str, Counter | Histogram, str]  # name, labels, meter, description
_Values = Mapping[tuple[str, ...], float] | float | None  # by labels, or one, or no sample


def families(backend: Backend, index_limit: int) -> Iterator[Metric]:
    """Yield all metrics, also those without a value here. `index_limit` is in bytes. May load the model to name it."""
    engine, meters, cache = backend.main, backend.meters, backend.main.models.cache.use
    build = {
        "version": installed_version(),
        "store": engine.store,
        "model": engine.model or "",
        "generation": (engine.generation or "")[:12],
    }
    yield InfoMetricFamily("muisti_build", "Version, database, embedding model and its hash.", build)
    for name, labels, meter, about in (*_of_requests(meters), *_of_writes(engine.meters)):
        yield _metric(f"muisti_{name}", labels.split(), meter, about)
    for name, labels, level, about in _levels(backend, index_limit):
        yield _family(GaugeMetricFamily, f"muisti_{name}", labels.split(), level, about)
    about = "Indexes dropped to stay in memory."
    yield _family(CounterMetricFamily, "muisti_index_evictions", [], engine.indexes_evicted, about)
    found = {("yes",): cache.hits, ("no",): cache.misses}
    about = "Texts of slow models; found is yes when no embedding was needed."
    yield _family(CounterMetricFamily, "muisti_embedding_cache_texts", ["found"], found, about)
    yield from ProcessCollector(registry=None).collect()


def _levels(backend: Backend, index_limit: int) -> Iterable[tuple[str, str, _Values, str]]:
    """Return the name, the labels, the values and the description of each gauge that is read now."""
    engine, store, pools = backend.main, backend.main.meters.store, backend.pools.items()
    known = backend.engines.known()
    engines = [one for _, one in known if one is not None]
    calls = {(name,): pool.calls for name, pool in pools}
    capacity = {(name,): pool.capacity for name, pool in pools}
    return (
        ("http_requests_in_progress", "", backend.meters.running, "Requests that are being answered."),
        ("pool_calls", "pool", calls, "Calls that run on a pool of threads, or wait for a thread."),
        ("pool_capacity_calls", "pool", capacity, "Largest number of these calls; more are refused."),
        ("write_queue_length", "", store.waiting and store.waiting(),
         "Writes that wait for the one writer of a file."),
        ("replica_lag_writes", "", store.lag and store.lag(),
         "Writes known to this process that the read replica has not shown yet."),
        ("index_memory_bytes", "", sum(one.index_bytes for one in engines), "Memory that indexes use."),
        ("index_filter_bytes", "", sum(one.filter_bytes for one in engines),
         "Memory of remembered rows of filters, a part of that of indexes."),
        ("index_memory_limit_bytes", "", index_limit, "Limit of the memory that indexes use."),
        ("index_loaded_spaces", "", sum(one.indexes_loaded for one in engines), "Spaces whose index is in memory."),
        ("database_up", "database", {(target.name,): float(one is not None) for target, one in known},
         "1 for each database with spaces that answers this process, else 0."),
        ("embedding_cache_bytes", "", engine.models.cache.use.nbytes, "Memory of vectors of slow models."),
    )  # fmt: skip


def _of_requests(meters: Meters) -> Iterable[_Measured]:
    """Return the name, the labels, the meter and the description of what requests and background tasks count."""
    return (
        ("http_requests", "method route status", meters.requests,
         "Answered requests; status 0: the caller had disconnected."),
        ("http_request_duration_seconds", "method route", meters.request_seconds,
         "Time from the head of a request to the end of its answer."),
        ("http_problems", "code", meters.problems, "Refusals and failures, by their code."),
        ("mcp_calls", "tool outcome", meters.tool_calls, "Calls of MCP tools; outcome is ok or a code."),
        ("searches", "mode evidence", meters.searches, "Searches by mode and evidence."),
        ("searches_degraded", "", meters.degraded, "Searches that could not run as requested."),
        ("search_stage_duration_seconds", "stage", meters.stage_seconds, "Duration of the stages of searches."),
        ("upkeep_runs", "sweep outcome", meters.sweeps, "Runs of background tasks; outcome is done, failed or broken."),
        ("upkeep_step_duration_seconds", "sweep", meters.sweep_step_seconds,
         "Duration of a step of a background task."),
        ("event_loop_lag_seconds", "", meters.loop_lag_seconds,
         "Delay of timers on the event loop, measured every second."),
    )  # fmt: skip


def _of_writes(meters: EngineMeters) -> Iterable[_Measured]:
    """Return the name, the labels, the meter and the description of what the engine counts."""
    store, graph, tasks = meters.store, meters.graph, meters.tasks
    return (
        ("memory_changes", "", meters.changes, "Committed changes of memories."),
        ("commit_duration_seconds", "", store.commit_seconds,
         "Time from the start of a commit until it is durable, including retries."),
        ("commit_group_writes", "", store.group_writes, "Batches that shared one commit of a file."),
        ("database_retries", "server reason", store.retries,
         "Retries of requests to a remote database, by the server that failed and the reason."),
        ("index_load_duration_seconds", "", meters.load_seconds, "Duration of loading an index."),
        ("second_vectors", "", meters.second_vectors, "Vectors of second models that background steps have stored."),
        ("graph_versions", "reader", graph.versions,
         "Versions read for the graph; reader is chosen, or fallback when an endpoint gave no answer."),
        ("graph_names_dropped", "", graph.dropped, "Names that an endpoint reported and no text has."),
        ("tasks_queued", "kind", tasks.queued, "Tasks of all spaces that wait, as this process saw them last."),
        ("tasks_failing", "kind", tasks.failing,
         "Tasks of all spaces that go on and keep failing, as this process saw them last; /readyz names them."),
        ("tasks_running", "kind", tasks.running, "Tasks that this process works on."),
        ("tasks_blocked", "code", tasks.blocked, "1 while an error keeps this process from working on tasks."),
        ("tasks_ended", "kind state", tasks.ended, "Tasks that this process has ended, by their state."),
        ("task_takeovers", "kind", tasks.takeovers, "Tasks taken over from a process that had ended."),
        ("task_duration_seconds", "kind", tasks.seconds, "Time from the first work on a task to its end."),
    )  # fmt: skip


def _metric(name: str, labels: Sequence[str], meter: Counter | Histogram, about: str) -> Metric:
    if isinstance(meter, Counter):
        kind = GaugeMetricFamily if isinstance(meter, Gauge) else CounterMetricFamily
        return _family(kind, name, labels, dict(sorted(meter.read().items())), about)
    family = HistogramMetricFamily(name, about, labels=labels)
    bounds = [floatToGoString(bound) for bound in (*meter.bounds, float("inf"))]
    for key, spread in sorted(meter.read().items()):
        family.add_metric(key, list(zip(bounds, map(float, spread.up_to), strict=True)), spread.total)
    return family


def _family(
    kind: type[CounterMetricFamily] | type[GaugeMetricFamily],
    name: str,
    labels: Sequence[str],
    values: _Values,
    about: str,
) -> Metric:
    """Return a counter or a gauge with a value, with a value for each set of labels, or for None without a sample."""
    family = kind(name, about, labels=labels)
    for key, value in values.items() if isinstance(values, Mapping) else [] if values is None else [((), values)]:
        family.add_metric(key, value)
    return family


PLAIN = "text/plain; version=0.0.4"  # Litestar adds the charset
OPENMETRICS = "application/openmetrics-text"


class _Sample(msgspec.Struct, array_like=True):
    name: str
    labels: dict[str, str]
    value: float


class _Family(msgspec.Struct, array_like=True):
    name: str
    about: str
    type: str
    samples: list[_Sample]


class _Whole:
    """Metrics in the form of a registry, as far as the library's writer reads one."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def measured(backend: Backend, index_limit: int) -> bytes:
    """Return the metrics of this process as JSON."""
    return msgspec.json.encode(
        [
            _Family(found.name, found.documentation, found.type, [_Sample(*sample[:3]) for sample in found.samples])
            for found in families(backend, index_limit)
        ]
    )


def workers_families(workers: Sequence[tuple[int, bytes]]) -> Iterable[Metric]:
    """Return the metrics of all workers together, each sample with its worker's number as a label."""
    merged: dict[str, Metric] = {}
    for worker, given in workers:
        for family in decoder(list[_Family]).decode(given):
            metric = merged.setdefault(family.name, Metric(family.name, family.about, family.type))
            for sample in family.samples:
                metric.add_sample(sample.name, {**sample.labels, "worker": str(worker)}, sample.value)
    return merged.values()


def render(workers: Sequence[tuple[int, bytes]], accept: str) -> tuple[bytes, str]:
    """Return the metrics of all workers as text, each with its number as a label, and the media type by `accept`."""
    whole = _Whole(
        [*workers_families(workers), GaugeMetricFamily("muisti_workers", "Workers that answered.", len(workers))]
    )
    if OPENMETRICS in accept:
        return openmetrics.generate_latest(whole), openmetrics.CONTENT_TYPE_LATEST
    return generate_latest(whole), PLAIN


# Latencies of a server by operation, computed from the metrics of its workers

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

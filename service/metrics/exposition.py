"""Encodes metrics: as JSON between workers, as text for the scraper."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.utils import floatToGoString

from muisti.core.engine import Engine
from muisti.core.model.decoding import decoder
from muisti.core.support.meters import Counter, Gauge, GraphMeters, Histogram, StoreMeters, TaskMeters
from muisti.service.observability.meters import Meters
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.health import LatencyReply, ServerStatsReply
from muisti.service.version import installed_version


def families(backend: Backend, index_limit: int) -> Iterator[Metric]:
    """Yield all metrics, also those without a value here. `index_limit` is in bytes. May load the model to name it."""
    yield _build(backend.engine)
    yield from _http(backend.meters)
    yield from _searches(backend.meters)
    yield from _writes(backend.engine)
    yield from _queues(backend)
    yield from _replication(backend.engine.meters.store)
    yield from _indexes(backend.engine, index_limit)
    yield from _embedding_cache(backend.engine)
    second = backend.engine.meters.second_vectors
    yield _counter("muisti_second_vectors", "Vectors of second models that background steps have stored.", second)
    yield from _graph(backend.engine.meters.graph)
    yield from _tasks(backend.engine.meters.tasks)
    yield from _upkeep(backend.meters)
    yield _histogram(
        "muisti_event_loop_lag_seconds",
        "Delay of timers on the event loop, measured every second.",
        backend.meters.loop_lag_seconds,
    )
    yield from ProcessCollector(registry=None).collect()


def _build(engine: Engine) -> Metric:
    labels = {
        "version": installed_version(),
        "store": engine.store,
        "model": engine.model or "",
        "generation": (engine.generation or "")[:12],
    }
    return InfoMetricFamily("muisti_build", "Version, database, embedding model and its hash.", labels)


def _http(meters: Meters) -> Iterator[Metric]:
    yield _counter(
        "muisti_http_requests",
        "Answered requests; status 0: the caller had disconnected.",
        meters.requests,
        ("method", "route", "status"),
    )
    yield _histogram(
        "muisti_http_request_duration_seconds",
        "Time from the head of a request to the end of its answer.",
        meters.request_seconds,
        ("method", "route"),
    )
    yield GaugeMetricFamily("muisti_http_requests_in_progress", "Requests that are being answered.", meters.running)
    yield _counter("muisti_http_problems", "Refusals and failures, by their code.", meters.problems, ("code",))
    yield _counter(
        "muisti_mcp_calls", "Calls of MCP tools; outcome is ok or a code.", meters.tool_calls, ("tool", "outcome")
    )


def _searches(meters: Meters) -> Iterator[Metric]:
    yield _counter("muisti_searches", "Searches by mode and evidence.", meters.searches, ("mode", "evidence"))
    yield _counter("muisti_searches_degraded", "Searches that could not run as requested.", meters.degraded)
    yield _histogram(
        "muisti_search_stage_duration_seconds", "Duration of the stages of searches.", meters.stage_seconds, ("stage",)
    )


def _writes(engine: Engine) -> Iterator[Metric]:
    store = engine.meters.store
    yield _counter("muisti_memory_changes", "Committed changes of memories.", engine.meters.changes)
    yield _histogram(
        "muisti_commit_duration_seconds",
        "Time from the start of a commit until it is durable, including retries.",
        store.commit_seconds,
    )
    yield _histogram("muisti_commit_group_writes", "Batches that shared one commit of a file.", store.group_writes)
    yield _gauge(
        "muisti_write_queue_length", "Writes that wait for the one writer of a file.", store.waiting and store.waiting()
    )


def _queues(backend: Backend) -> Iterator[Metric]:
    calls = GaugeMetricFamily(
        "muisti_pool_calls", "Calls that run on a pool of threads, or wait for a thread.", labels=("pool",)
    )
    capacity = GaugeMetricFamily(
        "muisti_pool_capacity_calls", "Largest number of these calls; more are refused.", labels=("pool",)
    )
    for name, pool in backend.pools.items():
        calls.add_metric((name,), pool.calls)
        capacity.add_metric((name,), pool.capacity)
    yield calls
    yield capacity


def _replication(store: StoreMeters) -> Iterator[Metric]:
    yield _counter(
        "muisti_database_retries",
        "Retries of requests to a remote database, by the server that failed and the reason.",
        store.retries,
        ("server", "reason"),
    )
    yield _gauge(
        "muisti_replica_lag_writes",
        "Writes known to this process that the read replica has not shown yet.",
        store.lag and store.lag(),
    )


def _indexes(engine: Engine, limit: int) -> Iterator[Metric]:
    yield GaugeMetricFamily("muisti_index_memory_bytes", "Memory that indexes use.", engine.index_bytes)
    about = "Memory of remembered rows of filters, a part of that of indexes."
    yield GaugeMetricFamily("muisti_index_filter_bytes", about, engine.filter_bytes)
    yield GaugeMetricFamily("muisti_index_memory_limit_bytes", "Limit of the memory that indexes use.", limit)
    yield GaugeMetricFamily("muisti_index_loaded_spaces", "Spaces whose index is in memory.", engine.indexes_loaded)
    yield _histogram("muisti_index_load_duration_seconds", "Duration of loading an index.", engine.meters.load_seconds)
    yield CounterMetricFamily("muisti_index_evictions", "Indexes dropped to stay in memory.", engine.indexes_evicted)


def _graph(meters: GraphMeters) -> Iterator[Metric]:
    yield _counter(
        "muisti_graph_versions",
        "Versions read for the graph; reader is chosen, or fallback when an endpoint gave no answer.",
        meters.versions,
        ("reader",),
    )
    yield _counter("muisti_graph_names_dropped", "Names that an endpoint reported and no text has.", meters.dropped)


def _embedding_cache(engine: Engine) -> Iterator[Metric]:
    use = engine.models.cache.use
    yield GaugeMetricFamily("muisti_embedding_cache_bytes", "Memory of vectors of slow models.", use.nbytes)
    about = "Texts of slow models; found is yes when no embedding was needed."
    found = CounterMetricFamily("muisti_embedding_cache_texts", about, labels=("found",))
    found.add_metric(("yes",), use.hits)
    found.add_metric(("no",), use.misses)
    yield found


def _tasks(meters: TaskMeters) -> Iterator[Metric]:
    yield _levels("muisti_tasks_queued", "Tasks of all spaces that wait, as this process saw them last.", meters.queued)
    about = "Tasks of all spaces that go on and keep failing, as this process saw them last; /readyz names them."
    yield _levels("muisti_tasks_failing", about, meters.failing)
    yield _levels("muisti_tasks_running", "Tasks that this process works on.", meters.running)
    blocked = GaugeMetricFamily(
        "muisti_tasks_blocked", "1 while an error keeps this process from working on tasks.", labels=("code",)
    )
    for labels, value in meters.blocked.read().items():
        blocked.add_metric(labels, value)
    yield blocked
    yield _counter(
        "muisti_tasks_ended", "Tasks that this process has ended, by their state.", meters.ended, ("kind", "state")
    )
    yield _counter(
        "muisti_task_takeovers", "Tasks taken over from a process that had ended.", meters.takeovers, ("kind",)
    )
    yield _histogram(
        "muisti_task_duration_seconds", "Time from the first work on a task to its end.", meters.seconds, ("kind",)
    )


def _upkeep(meters: Meters) -> Iterator[Metric]:
    yield _counter(
        "muisti_upkeep_runs",
        "Runs of background tasks; outcome is done, failed or broken.",
        meters.sweeps,
        ("sweep", "outcome"),
    )
    yield _histogram(
        "muisti_upkeep_step_duration_seconds",
        "Duration of a step of a background task.",
        meters.sweep_step_seconds,
        ("sweep",),
    )


def _counter(name: str, about: str, counter: Counter, labels: Sequence[str] = ()) -> Metric:
    family = CounterMetricFamily(name, about, labels=labels)
    for key, count in sorted(counter.read().items()):
        family.add_metric(key, count)
    return family


def _levels(name: str, about: str, gauge: Gauge) -> Metric:
    """Return a gauge by kind of task."""
    family = GaugeMetricFamily(name, about, labels=("kind",))
    for key, level in sorted(gauge.read().items()):
        family.add_metric(key, level)
    return family


def _histogram(name: str, about: str, histogram: Histogram, labels: Sequence[str] = ()) -> Metric:
    family = HistogramMetricFamily(name, about, labels=labels)
    bounds = [floatToGoString(bound) for bound in (*histogram.bounds, float("inf"))]
    for key, spread in sorted(histogram.read().items()):
        family.add_metric(key, list(zip(bounds, map(float, spread.up_to), strict=True)), spread.total)
    return family


def _gauge(name: str, about: str, value: float | None) -> Metric:
    """Return a gauge, without a sample when the value is None."""
    return GaugeMetricFamily(name, about, value)


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

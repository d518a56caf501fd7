"""Encodes metrics: as JSON between workers, as text for the scraper."""

from collections.abc import Iterable, Sequence

import msgspec
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics

from muisti.core.model.decoding import decoder
from muisti.service.metrics.families import families
from muisti.service.runtime.workers import Backend

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

"""Statistics of a server."""

from typing import Annotated

from msgspec import Meta, Struct


class LatencyReply(Struct, frozen=True, kw_only=True):
    """Times of one operation since the server started, in milliseconds.

    Percentiles are interpolated within the buckets of a histogram.
    """

    method: str
    route: Annotated[str, Meta(description="The template of the path.")]
    count: Annotated[int, Meta(description="Number of requests.")]
    mean: float
    p50: float
    p95: float
    p99: float


class ServerStatsReply(Struct, frozen=True, kw_only=True):
    """Statistics of all workers of a server since their start; the most frequent operations first."""

    workers: int
    memory_bytes: Annotated[int, Meta(description="Resident memory of all workers.")]
    uptime_seconds: float
    operations: list[LatencyReply]

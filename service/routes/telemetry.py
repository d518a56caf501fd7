"""What became of a memory in use."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from service.decode import Request
from service.gate import memories
from service.respond import read
from service.schemas.replies import TelemetryReply
from service.workers import Backend


@get("/memories/{memory_id:str}/telemetry", operation_id="getTelemetry", tags=["memories"], needs="read")
async def get_telemetry(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
) -> Response[TelemetryReply]:
    """Read how often a memory was retrieved, and when last.

    To ask is no retrieval.
    """
    found = await backend.store(memories(request, backend).telemetry, space, memory_id)
    return read(TelemetryReply.of(found), found.seq)


ROUTES = (get_telemetry,)

"""What became of a memory in use: how often it was retrieved, and what was said of it."""

from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from service.access import check
from service.decode import Request
from service.gate import access_of, memories
from service.parameters import DryRunParameter
from service.respond import read, tried
from service.schemas.feedback import FeedbackBody
from service.schemas.replies import TelemetryReply
from service.workers import Backend


@get("/memories/{memory_id:str}/telemetry", operation_id="getTelemetry", tags=["memories"], needs="read")
async def get_telemetry(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
) -> Response[TelemetryReply]:
    """Read how often a memory was retrieved, when last, and what callers said of it.

    To ask is no retrieval.
    """
    found = await backend.store(memories(request, backend).telemetry, space, memory_id)
    return read(TelemetryReply.of(found), found.seq)


@put("/memories/{memory_id:str}/feedback", operation_id="giveFeedback", tags=["memories"], needs="append")
async def give_feedback(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    data: JSONBody[FeedbackBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[TelemetryReply]:
    """Say that a memory was useful, or that it was not.

    One verdict of each key counts, the last; null takes it back. It moves where the memory ranks, within bounds, and
    makes neither a version nor a change. Needs the scopes `read` and `append`.
    """
    check(access_of(request.scope), "read")
    seen = memories(request, backend, dry_run=dry_run)
    found = await backend.store(seen.give_feedback, space, memory_id, data.said())
    return tried(dry_run, read(TelemetryReply.of(found), found.seq))


ROUTES = (get_telemetry, give_feedback)

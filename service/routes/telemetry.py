"""Telemetry of a memory: how often it was retrieved, and feedback on it."""

from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.service.http.decode import Request
from muisti.service.http.parameters import DryRunParameter
from muisti.service.routes.named import feedback_on, telemetry_of
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.feedback import FeedbackBody
from muisti.service.schemas.replies import TelemetryReply


@get("/memories/{memory_id:str}/telemetry", operation_id="getTelemetry", tags=["memories"], needs="read")
async def get_telemetry(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
) -> Response[TelemetryReply]:
    """Read how often a memory was retrieved, when last, and its feedback.

    This request does not count as a retrieval.
    """
    return await telemetry_of(request, backend, space, memory_id)


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

    Only the last verdict of each key counts; null withdraws it. It changes the rank of the memory, within bounds, and
    makes neither a version nor a change. Needs the scopes `read` and `append`.
    """
    return await feedback_on(request, backend, space, memory_id, data, dry_run=dry_run)


ROUTES = (get_telemetry, give_feedback)

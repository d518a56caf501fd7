"""Probes: questions whose answer is known."""

from litestar import Request, Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.identity.caller import Caller
from muisti.service.auth.middleware import access_of
from muisti.service.http.headers import SEQ
from muisti.service.http.respond import placed
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.probes import ProbeBody, ProbeReply, ProbesReply, RunReply, RunsReply


@post("/probes", operation_id="addProbe", tags=["probes"], needs="write", problems=["conflict"])
async def add_probe(
    request: Request, space: FromPath[str], data: JSONBody[ProbeBody], backend: NamedDependency[Backend]
) -> Response[ProbeReply]:
    """Add a question and the memory that it should find.

    The memory is named by its id, or by its category and key. A space has up to 500 probes.
    """
    engine = backend.engine
    made = await backend.store(engine.probes.add, space, data.expectation(), _caller(request), engine.now())
    answer = Response(
        ProbeReply.of(made), status_code=201, headers={"Location": f"/v1/spaces/{space}/probes/{made.id}"}
    )
    return await placed(answer, backend, space)


@get("/probes", operation_id="listProbes", tags=["probes"], needs="read")
async def list_probes(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend]
) -> Response[ProbesReply]:
    """List the probes, oldest first."""
    found = await backend.store(backend.engine.probes.list, space, _caller(request))
    return await placed(Response(ProbesReply.of(found)), backend, space)


@delete("/probes/{probe_id:str}", operation_id="deleteProbe", tags=["probes"], needs="write")
async def delete_probe(
    request: Request, space: FromPath[str], probe_id: FromPath[str], backend: NamedDependency[Backend]
) -> Response[None]:
    """Delete a probe."""
    engine = backend.engine
    await backend.store(engine.probes.delete, space, probe_id, _caller(request), engine.now())
    return await placed(Response(None, status_code=204), backend, space)


@post(
    "/probes/run",
    status_code=200,
    operation_id="runProbes",
    tags=["probes"],
    needs="write",
    problems=["model_mismatch"],
)
async def run_probes(request: Request, space: FromPath[str], backend: NamedDependency[Backend]) -> Response[RunReply]:
    """Ask all questions, and store the rank at which each found the expected memory."""
    engine = backend.engine
    run = RunReply.of(await backend.store(engine.probes.run, space, _caller(request), engine.now))
    return Response(run, headers={SEQ: run.seq})


@get("/probes/runs", operation_id="listProbeRuns", tags=["probes"], needs="read")
async def list_runs(request: Request, space: FromPath[str], backend: NamedDependency[Backend]) -> Response[RunsReply]:
    """List the last 20 runs, newest first."""
    found = await backend.store(backend.engine.probes.runs, space, _caller(request))
    return await placed(Response(RunsReply.of(found)), backend, space)


def _caller(request: Request) -> Caller:
    return access_of(request.scope).caller()


ROUTES = (add_probe, list_probes, delete_probe, run_probes, list_runs)

"""Probes: questions whose answer is known."""

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.service.http.parameters import SEQ
from muisti.service.http.request import Request
from muisti.service.http.respond import placed
from muisti.service.http.routing import Routes
from muisti.service.probes.schemas import ProbeBody, ProbeReply, ProbesReply, RunReply, RunsReply

routes = Routes("probes")


@routes.post("/probes", needs="write", problems=["conflict"])
async def add_probe(request: Request, data: JSONBody[ProbeBody]) -> Response[ProbeReply]:
    """Add a question and the memory that it should find.

    The memory is named by its id, or by its category and key. A space has up to 500 probes.
    """
    engine = request.engine
    made = await request.ask(engine.probes.add, data.expectation(), request.caller, engine.now())
    answer = Response(
        ProbeReply.of(made), status_code=201, headers={"Location": f"/v1/spaces/{request.space}/probes/{made.id}"}
    )
    return await placed(answer, request)


@routes.get("/probes", needs="read")
async def list_probes(request: Request) -> Response[ProbesReply]:
    """List the probes, oldest first."""
    found = await request.ask(request.engine.probes.list, request.caller)
    return await placed(Response(ProbesReply(items=ProbeReply.each(found))), request)


@routes.delete("/probes/{probe_id:str}", needs="write")
async def delete_probe(request: Request, probe_id: FromPath[str]) -> Response[None]:
    """Delete a probe."""
    engine = request.engine
    await request.ask(engine.probes.delete, probe_id, request.caller, engine.now())
    return await placed(Response(None, status_code=204), request)


@routes.post("/probes/run", status_code=200, needs="write", problems=["model_mismatch"])
async def run_probes(request: Request) -> Response[RunReply]:
    """Ask all questions, and store the rank at which each found the expected memory."""
    engine = request.engine
    run = RunReply.of(await request.ask(engine.probes.run, request.caller, engine.now))
    return Response(run, headers={SEQ: run.seq})


@routes.get("/probes/runs", needs="read")
async def list_probe_runs(request: Request) -> Response[RunsReply]:
    """List the last 20 runs, newest first."""
    found = await request.ask(request.engine.probes.runs, request.caller)
    return await placed(Response(RunsReply(items=RunReply.each(found))), request)

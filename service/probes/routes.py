"""Probes, questions whose answer is known: routes, with their bodies and replies."""

from typing import Annotated, Any, Self

from litestar import Response
from litestar.params import FromPath, JSONBody
from msgspec import Struct

from muisti.core.model.quality import Expectation, K, Run
from muisti.core.model.values import LIMIT_MAX
from muisti.service.asgi.header_names import SEQ
from muisti.service.http.request import Request
from muisti.service.http.respond import placed
from muisti.service.http.routing import Routes
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, copied
from muisti.service.schemas.fields import doc

ProbeId = Annotated[
    str, doc("Id of a probe, a UUIDv7.", format="uuid", examples=["0197a3c0-5f4e-7000-8000-0123456789b0"])
]
Place = Annotated[int, doc("The expected memory should be among the first k hits.", minimum=1, maximum=LIMIT_MAX)]


class ProbeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, and the memory that it should find: by its id, or any memory at an address."""

    query: fields.QueryText
    memory_id: fields.MemoryId | None = None
    category: fields.Category | None = None
    key: fields.Key | None = None
    k: Place = K

    def expectation(self) -> Expectation:
        return copied(Expectation, self)


class ProbeReply(Reply, frozen=True, kw_only=True):
    """A stored question, with the memory that it should find."""

    within = ("expects",)

    id: ProbeId
    query: fields.QueryText
    memory_id: fields.MemoryId | None
    category: fields.Category | None
    key: fields.Key | None
    k: Place
    made_at: fields.Time
    actor: str


class ProbesReply(Reply, frozen=True, kw_only=True):
    """Probes, oldest first."""

    items: list[ProbeReply]
    next_cursor: None = None


class RankReply(Reply, frozen=True, kw_only=True):
    """Rank of the memory that a probe expects."""

    id: ProbeId
    rank: Annotated[int | None, doc(f"From 1; null when it is not among the first {LIMIT_MAX}.")]


class RunReply(Reply, frozen=True, kw_only=True):
    """Result of a run of all probes of a space."""

    at: fields.Time
    seq: fields.SeqText
    generation: Annotated[str | None, doc("The model that had embedded the space.")]
    recall: Annotated[float, doc("Share of the probes that found theirs among the first k; 1 without any.")]
    ranks: list[RankReply]

    @classmethod
    def of(cls, value: Run, /, **more: Any) -> Self:
        return super().of(value, ranks=[RankReply(id=id_, rank=rank) for id_, rank in value.ranks.items()], **more)


class RunsReply(Reply, frozen=True, kw_only=True):
    """The last runs, newest first."""

    items: list[RunReply]
    next_cursor: None = None


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

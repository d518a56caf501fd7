"""Documentation of the API: for programs, for people, and of each kind of error."""

from importlib import resources

from litestar import Response
from litestar.params import FromPath
from msgspec import Struct

from muisti.core.model.errors import NotFound
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.schemas.errors import KINDS, problem_type
from muisti.service.schemas.remedies import REMEDIES

routes = Routes("operations", "")

ASSETS = {"index.html": "text/html", "docs.css": "text/css", "docs.js": "text/javascript", "skill.md": "text/markdown"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FRESH = {"Cache-Control": "no-cache"}


class KindReply(Struct, frozen=True, kw_only=True):
    """The meaning of a kind of problem, and the next step of the caller.

    `retry_after` is in seconds, null when a retry is of no use.
    """

    type: str
    code: str
    status: int
    title: str
    meaning: str
    remedy: str
    retry_after: int | None

    @classmethod
    def of(cls, code: str) -> "KindReply":
        kind = KINDS[code]
        return cls(
            type=problem_type(code),
            code=code,
            status=kind.status,
            title=kind.title,
            meaning=kind.meaning,
            remedy=REMEDIES[code],
            retry_after=kind.retry_after,
        )


@routes.get("/openapi.json", needs="nothing", media="application/json")
async def get_openapi(request: Request) -> Response[bytes]:
    """Read this document."""
    return Response(request.app.state.openapi(), media_type="application/json", headers=FRESH)


@routes.get("/docs", needs="nothing", media="text/html")
async def get_docs() -> Response[bytes]:
    """Browse the API and try it."""
    return _asset("index.html")


@routes.get("/docs/{name:str}", needs="nothing", include_in_schema=False)
async def get_asset(name: FromPath[str]) -> Response[bytes]:
    """Read a file of the page."""
    if name not in ASSETS:
        raise NotFound("page", f"/docs/{name[:80]}")
    return _asset(name)


@routes.get("/problems/{code:str}", needs="nothing")
async def get_problem(code: FromPath[str]) -> KindReply:
    """Explain a kind of error: the `type` of every problem leads here."""
    if code not in KINDS:
        raise NotFound("problem", code[:80])
    return KindReply.of(code)


def _asset(name: str) -> Response[bytes]:
    content = resources.files("muisti.service").joinpath("static", name).read_bytes()
    headers = {**FRESH, "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
    return Response(content, media_type=ASSETS[name], headers=headers)

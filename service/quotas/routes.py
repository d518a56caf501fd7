"""The quota of a space."""

from litestar import Response
from litestar.params import JSONBody

from muisti.service.auth.administration import check_everywhere
from muisti.service.http.parameters import DRY
from muisti.service.http.request import Request
from muisti.service.http.respond import read, tried
from muisti.service.http.routing import Routes
from muisti.service.quotas.schemas import QuotaBody
from muisti.service.schemas.policy import QuotaReply

routes = Routes("spaces")


@routes.patch("/quota", needs="admin", standard=DRY)
async def set_quota(request: Request, data: JSONBody[QuotaBody]) -> Response[QuotaReply]:
    """Set how much a space may hold.

    Memories that it holds already stay. Needs a key of all spaces. The quota belongs to the name of the space, and
    remains when the space is deleted.
    """
    access = request.access
    check_everywhere(access, "quotas are given")
    usage, seq = await request.ask(
        request.engine.spaces.set_quota, data.changes(), by=access.actor, dry_run=request.dry_run
    )
    return tried(request, read(QuotaReply.of(usage), seq))

"""The quota of a space. Its reply, which statistics and refusals carry too, is in `schemas.policy`."""

from typing import Annotated

from litestar import Response
from litestar.params import JSONBody
from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.spaces import QUOTA_MAX
from muisti.service.auth.access import check_everywhere
from muisti.service.http.parameters import DRY
from muisti.service.http.request import Request
from muisti.service.http.respond import read, tried
from muisti.service.http.routing import Routes
from muisti.service.schemas.policy import QuotaReply

routes = Routes("spaces")
_RANGE = {"minimum": 0, "maximum": QUOTA_MAX}


class QuotaBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to the quota. A field that is left out stays as it is; null is the default of the server."""

    memories: Annotated[int, Meta(extra_json_schema=_RANGE)] | UnsetType | None = UNSET
    bytes: Annotated[int, Meta(extra_json_schema=_RANGE)] | UnsetType | None = UNSET

    def changes(self) -> dict[str, int | None]:
        given = {"memories": self.memories, "bytes": self.bytes}
        return {name: most for name, most in given.items() if not isinstance(most, UnsetType)}


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

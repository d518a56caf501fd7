"""Keys and the audit log."""

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.core.identity.grants import check_grant
from muisti.service.auth.access import Access
from muisti.service.auth.administration import (
    check_everywhere,
    check_replaceable,
    check_weaker,
    no_later,
    one,
    parent_of,
    visible,
)
from muisti.service.http.parameters import CursorParameter, LimitParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import followed
from muisti.service.http.routing import Routes
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.keys import (
    AccessReply,
    AuditReply,
    KeyBody,
    KeyReply,
    KeysReply,
    MadeKeyReply,
    RotateBody,
    zoned,
)

routes = Routes("keys", "")


@routes.post("/v1/keys", needs="key")
async def create_key(request: Request, data: JSONBody[KeyBody]) -> Response[MadeKeyReply]:
    """Make a key.

    It has at most the rights of the key that makes it, and ends with that key. Only this answer has its secret.
    """
    access, grant = request.access, data.grant()
    check_grant(grant)
    check_weaker(access, grant)
    made = await request.backend.store(_create, request.backend, access, data)
    request.app.state.keyring.forget()
    return Response(made, status_code=201, headers={"Location": f"/v1/keys/{made.id}"})


def _create(backend: Backend, access: Access, data: KeyBody) -> MadeKeyReply:
    engine = backend.engine
    parent = parent_of(access, engine.keys, bound=data.bound)
    made, secret = engine.keys.create(
        data.grant(),
        engine.now(),
        name=data.name,
        expires_at=no_later(access, zoned(data.expires_at)),
        parent=parent,
        by=access.actor,
    )
    return MadeKeyReply.of(made, key=secret)


@routes.get("/v1/keys", needs="key")
async def list_keys(request: Request) -> KeysReply:
    """List keys.

    The caller's own and those made with it; with the scope admin, all of the caller's spaces.
    """
    found = await request.backend.store(visible, request.access, request.engine.keys)
    return KeysReply(items=KeyReply.each(found))


@routes.get("/v1/access", needs="key")
async def get_access(request: Request) -> AccessReply:
    """Read what the caller may do: its scopes, its spaces, and until when."""
    access = request.access
    key = None if access.key_id is None else await request.backend.store(request.engine.keys.get, access.key_id)
    return AccessReply.of(access.actor, access.grant, key, open=access.open, expires_at=access.expires_at)


@routes.get("/v1/keys/{key_id:str}", needs="key", problems=["not_found"])
async def get_key(request: Request, key_id: FromPath[str]) -> KeyReply:
    """Read a key."""
    return KeyReply.of(await request.backend.store(one, request.access, request.engine.keys, key_id))


@routes.delete("/v1/keys/{key_id:str}", needs="key", problems=["not_found"])
async def revoke_key(request: Request, key_id: FromPath[str]) -> None:
    """Revoke a key.

    The key and all keys made with it stop working now; in other processes within a second.
    """
    await request.backend.store(_revoke, request.backend, request.access, key_id)
    request.app.state.keyring.forget()


def _revoke(backend: Backend, access: Access, key_id: str) -> None:
    found = one(access, backend.engine.keys, key_id)
    backend.engine.keys.revoke(found.id, backend.engine.now(), by=access.actor)


@routes.post("/v1/keys/{key_id:str}/rotate", needs="key", problems=["not_found", "conflict"])
async def rotate_key(request: Request, key_id: FromPath[str], data: JSONBody[RotateBody]) -> Response[MadeKeyReply]:
    """Replace a key.

    The new key has the rights of the old one, which still works for a while.
    """
    made = await request.backend.store(_rotate, request.backend, request.access, key_id, data)
    request.app.state.keyring.forget()
    return Response(made, status_code=201, headers={"Location": f"/v1/keys/{made.id}"})


def _rotate(backend: Backend, access: Access, key_id: str, data: RotateBody) -> MadeKeyReply:
    engine = backend.engine
    old = one(access, engine.keys, key_id)
    check_replaceable(access, old)
    made, secret = engine.keys.rotate(
        old.id,
        engine.now(),
        overlap=data.overlap(),
        expires_at=no_later(access, zoned(data.expires_at) or old.expires_at),
        by=access.actor,
    )
    return MadeKeyReply.of(made, key=secret)


@routes.get("/v1/audit", needs="admin")
async def list_audit(
    request: Request, limit: LimitParameter = 50, cursor: CursorParameter = None
) -> Response[AuditReply]:
    """Read the audit log, newest first.

    The log says who made or ended keys and spaces and who deleted memories, without content. Needs a key of all spaces.
    """
    check_everywhere(request.access, "the audit log is read")
    page = await request.backend.store(request.engine.audit, limit=limit, cursor=cursor)
    return followed(request, Response(AuditReply.of(page)), page.next_cursor)

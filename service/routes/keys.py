"""Keys and the audit log."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Self, cast, get_args

from litestar import Response
from litestar.params import FromPath, JSONBody
from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.identity.grants import SCOPES, Grant, Key, check_grant
from muisti.core.model.choices import Scope, SourceClass
from muisti.core.model.errors import InvalidInput
from muisti.service.auth.access import (
    Access,
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
from muisti.service.schemas import fields
from muisti.service.schemas.access_modes import MODES, OVERLAP_SECONDS, ModeName
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

Scopes = Annotated[
    list[str],
    doc(
        "`read`, `append` (add), `write` (change and replace), `delete`, `admin` (spaces, keys).",
        items={"enum": list(SCOPES)},
    ),
]
Spaces = Annotated[list[str], doc("Names of spaces, or beginnings of names with `*` behind; `*` alone is every space.")]
Named = Annotated[str, doc("What the key is for, 1 to 100 characters.")]
KeyId = Annotated[str, doc("The public part of a key.", pattern="^[0-9a-f]{12}$", examples=["0123456789ab"])]
Expiry = Annotated[datetime, doc("When the key stops working; null for never.")]
OnlyCategory = Annotated[
    str, doc("Category to which the key is limited; what it adds gets this category. null: no limit.")
]


OnlyClass = Annotated[
    str,
    doc(
        "Source class of memories that the key adds; it may state none that is trusted more. null: any.",
        enum=list(get_args(SourceClass)),
    ),
]


class KeyBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key to create, no stronger than the key that creates it. `mode` is short for a list of scopes."""

    name: Named
    scopes: Scopes | UnsetType = UNSET
    mode: Annotated[ModeName, Meta(extra_json_schema={"type": "string", "enum": list(MODES)})] | UnsetType = UNSET
    spaces: Spaces
    category: OnlyCategory | None = None
    source_class: OnlyClass | None = None
    expires_at: Expiry | None = None
    bound: Annotated[bool, doc("End with the key that makes it, also where an administrator does.")] = False

    def grant(self) -> Grant:
        scopes = frozenset(cast(list[Scope], scopes_of(self.mode, self.scopes)))
        return Grant(scopes, tuple(self.spaces), self.category, cast(SourceClass | None, self.source_class))


class RotateBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rotation of a key: the old one still works for `overlap_seconds`."""

    overlap_seconds: Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": 2_592_000})] = OVERLAP_SECONDS
    expires_at: Expiry | None = None

    def overlap(self) -> timedelta:
        if not 0 <= self.overlap_seconds <= 2_592_000:
            raise InvalidInput.at("$.overlap_seconds", f"{self.overlap_seconds} is not between 0 and 2,592,000")
        return timedelta(seconds=self.overlap_seconds)


class KeyReply(Reply, frozen=True, kw_only=True):
    """A key without its secret. `parent_id` is the key that created it; when that is revoked, this one is too."""

    id: KeyId
    name: Named
    scopes: Scopes
    spaces: Spaces
    category: OnlyCategory | None
    source_class: OnlyClass | None
    parent_id: KeyId | None
    created_at: datetime
    expires_at: Expiry | None
    revoked_at: datetime | None
    last_used_at: Annotated[datetime | None, doc("To the minute, as far as it is known.")]

    @classmethod
    def of(cls, value: Key, /, **more: Any) -> Self:
        return super().of(value, **_granted(value.grant), **more)


class AccessReply(Struct, frozen=True, kw_only=True):
    """Rights of the caller. `key_id` and `name` are null for a caller without a key of this database."""

    actor: Annotated[str, doc("Name of the caller in the audit log.")]
    key_id: KeyId | None
    name: Named | None
    open: Annotated[bool, doc("The server has no keys, so everybody may do everything.")]
    scopes: Scopes
    spaces: Spaces
    category: OnlyCategory | None
    source_class: OnlyClass | None
    expires_at: Expiry | None

    @classmethod
    def of(cls, actor: str, grant: Grant, key: Key | None, *, open: bool, expires_at: datetime | None) -> "AccessReply":
        return cls(
            actor=actor,
            key_id=None if key is None else key.id,
            name=None if key is None else key.name,
            open=open,
            **_granted(grant),
            expires_at=expires_at,
        )


class MadeKeyReply(KeyReply, frozen=True, kw_only=True):
    """A new key. `key` is shown only once; the server stores a hash of it."""

    key: Annotated[str, Meta(examples=["mk_0123456789ab_…"])]


class KeysReply(Reply, frozen=True, kw_only=True):
    """Keys, newest first, including revoked and expired ones."""

    items: list[KeyReply]
    next_cursor: None = None


class AuditedReply(Reply, frozen=True, kw_only=True):
    """An entry of the audit log. `actor`: id of a key, `jwt:` with a subject, `local`, `anonymous`, `setting`."""

    at: datetime
    actor: str
    action: Annotated[str, doc("Such as key_created, space_deleted, memory_deleted.")]
    space: fields.SpaceName | None
    target: Annotated[str | None, doc("The id of the key or memory.")]


class AuditReply(Reply, frozen=True, kw_only=True):
    """Entries of the audit log, newest first."""

    items: list[AuditedReply]
    next_cursor: Annotated[str | None, doc("The `cursor` of the next page; null on the last.")]


def scopes_of(mode: ModeName | UnsetType, scopes: list[str] | UnsetType) -> list[str]:
    """Return the scopes of a request, which names a mode or lists scopes.

    Raises:
        InvalidInput: it does both or neither.
    """
    if mode is not UNSET and scopes is UNSET:
        return list(MODES[mode])
    if scopes is not UNSET and mode is UNSET:
        return scopes
    raise InvalidInput.at("$.scopes", f"give scopes, or a mode: {', '.join(MODES)}")


def zoned(at: datetime | None) -> datetime | None:
    """Return the time. Raises `InvalidInput` for a time without a zone."""
    if at is not None and at.tzinfo is None:
        raise InvalidInput.at("$.expires_at", "needs a time zone, as in 2026-05-01T12:00:00Z")
    return at


def _granted(grant: Grant) -> dict[str, Any]:
    plain = {"spaces": list(grant.spaces), "category": grant.category, "source_class": grant.source_class}
    return {"scopes": [scope for scope in SCOPES if scope in grant.scopes], **plain}


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
    page = await request.backend.store(request.backend.engines.audit, limit=limit, cursor=cursor)
    return followed(request, Response(AuditReply.of(page)), page.next_cursor)

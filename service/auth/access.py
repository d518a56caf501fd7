"""The caller of a request, and one check of its scopes for routes, ASGI applications and MCP tools."""

from datetime import datetime
from typing import Literal

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import ANY, EVERYTHING, NOTHING, SCOPES, Grant, Key
from muisti.core.model.choices import Scope
from muisti.core.model.errors import NotFound
from muisti.core.model.times import from_us
from muisti.core.model.values import LOCAL
from muisti.core.operations.keys import Keys
from muisti.service.auth.challenge import Challenge
from muisti.service.schemas.errors import HttpError

Need = Scope | Literal["nothing", "key"]  # `key`: any valid key
STATE = "muisti.access"  # key under which the auth middleware stores the caller in the scope of a request


class Access(msgspec.Struct, frozen=True):
    """Caller of a request. `actor` is its name in the audit log; `key_id` is None for a caller without a key of ours.

    `open`: there are no keys, so everybody may do everything but create one. `challenge` is sent with a refusal, and
    says where to get a token; None for keys.
    """

    actor: str
    grant: Grant
    key_id: str | None = None
    expires_us: int | None = None
    open: bool = False
    challenge: Challenge | None = None

    @property
    def expires_at(self) -> datetime | None:
        return None if self.expires_us is None else from_us(self.expires_us)

    @property
    def known(self) -> bool:
        return self.grant is not NOTHING

    @property
    def lane_key(self) -> str | None:
        """Return the name of the key where threads are shared out; None for a caller who needs no key."""
        return None if self.open or self is OWNER else self.actor

    def caller(self, request_id: str | None = None, allows: frozenset[str] = frozenset()) -> Caller:
        """Return the caller for the core. `allows` names the parts of the policy of a space that do not apply."""
        return Caller(
            self.actor,
            self.grant.category,
            reads="read" in self.grant.scopes,
            request=request_id,
            allows=allows,
            source_class=self.grant.source_class,
        )

    def may(self, scope: Scope) -> bool:
        return scope in self.grant.scopes


OWNER = Access(LOCAL, EVERYTHING)  # a process that can open the database file may do everything
OPEN = Access("anonymous", EVERYTHING, open=True)


def stranger(challenge: Challenge) -> Access:
    """Return a caller without a key where one is needed."""
    return Access("stranger", NOTHING, challenge=challenge)


def check(access: Access, need: Need, space: str | None = None) -> None:
    """Raise unless the caller has the scope `need`, in `space` if one is given.

    The check does not look whether the space exists: a forbidden space and a missing one get the same answer.

    Raises:
        HttpError: the caller is unknown, or the scope is missing.
        NotFound: the caller's grant does not include the space.
    """
    if need == "nothing":
        return
    if access.grant is NOTHING:
        raise HttpError(
            "unauthorized", "send a key or a token as `Authorization: Bearer ...`", _challenge_headers(access)
        )
    if space is not None and not access.grant.reaches(space):
        raise NotFound("space", space)
    if need != "key" and need not in access.grant.scopes:
        headers = _challenge_headers(access, "insufficient_scope", scope=need)
        raise HttpError(
            "forbidden", f"this key may not do that: the call needs the scope {need}, and has {_has(access)}", headers
        )


def single_space(grant: Grant) -> str | None:
    """Return the only space of a grant; None when there may be several."""
    return grant.spaces[0] if len(grant.spaces) == 1 and not grant.spaces[0].endswith(ANY) else None


def _challenge_headers(access: Access, error: str = "", scope: str = "") -> dict[str, str]:
    return {} if access.challenge is None else {"WWW-Authenticate": access.challenge.text(error, scope=scope)}


def _has(access: Access) -> str:
    return ", ".join(scope for scope in SCOPES if scope in access.grant.scopes)


# Rules for callers that manage keys


EVERYWHERE = Grant(frozenset(), (ANY,))


def check_everywhere(access: Access, what: str) -> None:
    """Raise `HttpError` unless the caller's grant is for all spaces. `what` names the operation in the message."""
    if not access.grant.covers(EVERYWHERE):
        raise HttpError("forbidden", f"{what} only by keys of all spaces, which this key is not")


def check_weaker(access: Access, grant: Grant) -> None:
    """Raise unless the caller may hand a grant to a new key.

    Raises:
        HttpError: the grant exceeds the caller's, or no key exists yet.
    """
    if access.open:
        raise HttpError("forbidden", "create the first key on the machine itself: muisti keys create --admin")
    if access.key_id is None and not access.may("admin"):
        raise HttpError("forbidden", "only keys of this server can create weaker keys; a token without admin cannot")
    if not access.grant.covers(grant):
        raise HttpError("forbidden", "a key can only create weaker keys: fewer scopes, spaces, categories")


def parent_of(access: Access, keys: Keys, *, bound: bool) -> Key | None:
    """Return the parent of the keys that the caller creates: when a parent is revoked, its keys are too.

    Keys that an administrator creates have no parent, unless they are `bound` to the administrator's key.
    """
    free = access.may("admin") and not bound
    return None if access.key_id is None or free else keys.get(access.key_id)


def no_later(access: Access, expires_at: datetime | None) -> datetime | None:
    """Return the expiry of a key that the caller creates: at the latest, the caller's own."""
    ends = [at for at in (access.expires_at, expires_at) if at is not None]
    return min(ends, default=None)


def check_replaceable(access: Access, old: Key) -> None:
    """Raise unless the caller may replace a key.

    Raises:
        HttpError: the key is the caller's own, which a thief could replace too, or is stronger than the caller.
    """
    if old.id == access.key_id and not access.may("admin"):
        raise HttpError("forbidden", "a key cannot replace itself; use the key that created it, or one with admin")
    check_weaker(access, old.grant)


def visible(access: Access, keys: Keys) -> list[Key]:
    """Return the keys that the caller may see, newest first."""
    if access.may("admin"):
        return [key for key in keys.all() if _within(access, key)]
    return [] if access.key_id is None else keys.family(access.key_id)


def one(access: Access, keys: Keys, key_id: str) -> Key:
    """Return a key that the caller may see.

    Raises:
        NotFound: the key does not exist, or the caller may not see it.
    """
    found = next((key for key in visible(access, keys) if key.id == key_id), None)
    if found is None:
        raise NotFound("key", key_id[:80])
    return found


def _within(access: Access, key: Key) -> bool:
    """Tell whether the caller's grant includes all spaces of a key; the key's scopes do not matter."""
    return access is OWNER or Grant(key.grant.scopes, access.grant.spaces).covers(key.grant)

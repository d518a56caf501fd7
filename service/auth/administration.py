"""Rules for callers that manage keys.

A key may create weaker keys, and see and revoke the keys that it created. With the scope `admin`, it may do so with all
keys of its spaces.
"""

from datetime import datetime

from muisti.core.identity.grants import ANY, Grant, Key
from muisti.core.model.errors import NotFound
from muisti.core.operations.keys import Keys
from muisti.service.auth.access import OWNER, Access
from muisti.service.schemas.errors import HttpError

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

"""What a caller may do with keys: make weaker ones, see and end those made with his own; with `admin`, all of his
spaces.
"""

from datetime import datetime

from muisti.core.identity.grants import ANY, Grant, Key
from muisti.core.model.errors import NotFound
from muisti.core.operations.keys import Keys
from muisti.service.auth.access import OWNER, Access
from muisti.service.schemas.errors import HttpError

EVERYWHERE = Grant(frozenset(), (ANY,))


def check_everywhere(access: Access, what: str) -> None:
    """Raise `HttpError` unless the caller's grant is for all spaces. `what` is done by such callers only, in words."""
    if not access.grant.covers(EVERYWHERE):
        raise HttpError("forbidden", f"{what} by keys of all spaces only, and this is none")


def check_weaker(access: Access, grant: Grant) -> None:
    """Raise unless the caller may hand a grant to a new key.

    Raises:
        HttpError: it is more than the caller has, or there are no keys to begin with.
    """
    if access.open:
        raise HttpError("forbidden", "the first key is made on the machine itself: muisti keys create --admin")
    if access.key_id is None and not access.may("admin"):
        raise HttpError("forbidden", "only keys of this server make weaker ones; a token without admin does not")
    if not access.grant.covers(grant):
        raise HttpError("forbidden", "a key makes keys that may no more than itself: fewer scopes, spaces, categories")


def parent_of(access: Access, keys: Keys) -> Key | None:
    """The key that stands above those that the caller makes, and takes them along when it ends.

    Those that an administrator makes stand for themselves.
    """
    return None if access.key_id is None or access.may("admin") else keys.get(access.key_id)


def no_later(access: Access, expires_at: datetime | None) -> datetime | None:
    """The end of a key that the caller makes: he does not give what he will not have."""
    ends = [at for at in (access.expires_at, expires_at) if at is not None]
    return min(ends, default=None)


def check_replaceable(access: Access, old: Key) -> None:
    """Raise unless the caller may replace a key.

    Raises:
        HttpError: it is the caller's own, which a thief could replace too, or stronger than the caller.
    """
    if old.id == access.key_id and not access.may("admin"):
        raise HttpError("forbidden", "a key does not replace itself: the key that made it does, or one with admin")
    check_weaker(access, old.grant)


def visible(access: Access, keys: Keys) -> list[Key]:
    """The keys that the caller may see, newest first."""
    if access.may("admin"):
        return [key for key in keys.all() if _within(access, key)]
    return [] if access.key_id is None else keys.family(access.key_id)


def one(access: Access, keys: Keys, key_id: str) -> Key:
    """A key that the caller may see.

    Raises:
        NotFound: there is none such.
    """
    found = next((key for key in visible(access, keys) if key.id == key_id), None)
    if found is None:
        raise NotFound("key", key_id[:80])
    return found


def _within(access: Access, key: Key) -> bool:
    """Whether a key is of the caller's spaces; what it may do there does not count."""
    return access is OWNER or Grant(key.grant.scopes, access.grant.spaces).covers(key.grant)

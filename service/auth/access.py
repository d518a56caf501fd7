"""Who calls, and whether they may: one small check for routes, plain ASGI applications and MCP tools alike."""

from datetime import datetime
from typing import Literal

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import ANY, EVERYTHING, NOTHING, SCOPES, Grant
from muisti.core.model.errors import NotFound
from muisti.core.model.terms import Scope
from muisti.core.model.times import from_us
from muisti.core.model.values import LOCAL
from muisti.service.auth.challenge import Challenge
from muisti.service.schemas.errors import HttpError

Need = Scope | Literal["nothing", "key"]  # `key`: any key will do
NEEDS: tuple[Need, ...] = (*SCOPES, "nothing", "key")
STATE = "muisti.access"  # where the gate leaves it in the scope of a request


class Access(msgspec.Struct, frozen=True):
    """A caller. `actor` stands in the audit log; `key_id` is None for those who come without a key of ours.

    `open`: there are no keys, so that everybody may do everything but make one. `challenge` is how those who may not
    do what they ask for are told to come back; keys cannot.
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

    def caller(self, request_id: str | None = None, allows: frozenset[str] = frozenset()) -> Caller:
        """What the core needs to know of them, and of their request. `allows`: whatever the policy of a space says."""
        return Caller(
            self.actor,
            self.grant.category,
            reads=self.may("read"),
            request=request_id,
            allows=allows,
            source_class=self.grant.source_class,
        )

    def may(self, scope: Scope) -> bool:
        return scope in self.grant.scopes


OWNER = Access(LOCAL, EVERYTHING)  # whoever has the file has everything
OPEN = Access("anonymous", EVERYTHING, open=True)


def stranger(challenge: Challenge) -> Access:
    """Somebody without a key where one is needed."""
    return Access("stranger", NOTHING, challenge=challenge)


def check(access: Access, need: Need, space: str | None = None) -> None:
    """Raise unless the caller may do what needs `need`, in `space` if one is given.

    Whether there is such a space is not looked at: one that the caller may not see and one that is not there are the
    same from outside.

    Raises:
        HttpError: nobody knows the caller, or the scope is missing.
        NotFound: the space is not one of the caller's.
    """
    if need == "nothing":
        return
    if not access.known:
        raise HttpError("unauthorized", "send a key or a token as `Authorization: Bearer ...`", _told(access))
    if space is not None and not access.grant.reaches(space):
        raise NotFound("space", space)
    if need != "key" and need not in access.grant.scopes:
        told = _told(access, "insufficient_scope", scope=need)
        raise HttpError(
            "forbidden", f"this key may not do that: it needs the scope {need}, and has {_has(access)}", told
        )


def single_space(grant: Grant) -> str | None:
    """The only space of a grant, None when there may be others."""
    return grant.spaces[0] if len(grant.spaces) == 1 and not grant.spaces[0].endswith(ANY) else None


def _told(access: Access, error: str = "", scope: str = "") -> dict[str, str]:
    return {} if access.challenge is None else {"WWW-Authenticate": access.challenge.text(error, scope=scope)}


def _has(access: Access) -> str:
    return ", ".join(scope for scope in SCOPES if scope in access.grant.scopes)

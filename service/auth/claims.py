"""Grants from the claims of a token."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from muisti.core.identity.grants import NEEDS_READ, SCOPES, SPACES_MAX, Grant, names_spaces
from muisti.core.model.choices import Scope


class BadToken(Exception):
    """Error for a token that is not valid. The message says why, in words for the caller."""


class Reading(msgspec.Struct, frozen=True):
    """Where a token says what. Scopes are in `scope` or `scp`, with `prefix` before their names.

    `spaces_claim` names spaces as the grant of a key does; tokens without it are for `spaces`.
    """

    prefix: str = ""
    spaces_claim: str = "muisti_spaces"
    spaces: tuple[str, ...] = ()

    def grant(self, claims: Mapping[str, Any]) -> Grant:
        """Return the grant of the claims. Unknown scopes are ignored, and so are `write` and `delete` without `read`.

        >>> sorted(Reading("m:", spaces=("a",)).grant({"scope": "openid m:read m:append read"}).scopes)
        ['append', 'read']

        Raises:
            BadToken: a claim cannot be read.
        """
        named = _names(claims, "scope") or _names(claims, "scp")
        scopes = {name.removeprefix(self.prefix) for name in named if name.startswith(self.prefix)} & set(SCOPES)
        if "read" not in scopes:
            scopes -= NEEDS_READ
        spaces = _names(claims, self.spaces_claim) if self.spaces_claim in claims else self.spaces
        if len(spaces) > SPACES_MAX or not all(names_spaces(name) for name in spaces):
            raise BadToken(f"the claim {self.spaces_claim} must name spaces, {SPACES_MAX} at most")
        return Grant(frozenset(cast(set[Scope], scopes)), spaces)


def _names(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """Return the names of a claim: a list, or one text with spaces between."""
    found = claims.get(claim) or ()
    if isinstance(found, str):
        return tuple(found.split())
    if isinstance(found, list | tuple) and all(isinstance(name, str) for name in found):
        return tuple(found)
    raise BadToken(f"the claim {claim} is no list of names")

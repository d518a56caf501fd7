"""Verification of tokens, from the text of a token to its caller."""

from typing import Any

import jwt
from jwt import exceptions
from jwt.types import Options

from muisti.core.model.values import NAME_MAX
from muisti.service.auth.access import Access
from muisti.service.auth.challenge import Challenge
from muisti.service.auth.tokens.claims import BadToken, Reading
from muisti.service.auth.tokens.keys import IssuerKeys
from muisti.service.auth.tokens.source import source_of
from muisti.service.settings import Settings, names_in

LEEWAY_SECONDS = 30  # tolerated difference between clocks
MICROSECONDS = 1_000_000
ACTOR = "jwt:"  # before the subject, in the audit log
LAST_SECOND = 253_402_300_799  # of the year 9999

_REQUIRED: Options = {"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True}
_WRONG: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.ExpiredSignatureError, "the token has expired"),
    (exceptions.ImmatureSignatureError, "the token is not valid yet"),
    (exceptions.InvalidAudienceError, "the token is for another audience: its aud is not the expected one"),
    (exceptions.InvalidIssuerError, "the token has another issuer"),
    (exceptions.MissingRequiredClaimError, "the token lacks one of exp, iss, aud, sub"),
)


def tokens_of(settings: Settings) -> "Tokens | None":
    """Return the verifier of tokens that the settings configure; None when they configure none."""
    if settings.jwks is None or settings.jwt_issuer is None or settings.jwt_audience is None:
        return None
    return Tokens(
        IssuerKeys(source_of(settings.jwks)),
        settings.jwt_issuer,
        settings.jwt_audience,
        names_in(settings.jwt_algorithms),
        Reading(settings.jwt_scope_prefix or "", settings.jwt_spaces_claim, names_in(settings.jwt_spaces)),
    )


class Tokens:
    """Verifier of the tokens of one issuer, for one audience."""

    def __init__(
        self, keys: IssuerKeys, issuer: str, audience: str, algorithms: tuple[str, ...], reading: Reading
    ) -> None:
        self._keys, self._issuer, self._audience = keys, issuer, audience
        self._algorithms, self._reading = algorithms, reading

    async def find(self, token: str, challenge: Challenge) -> Access:
        """Return the caller of a token. `challenge` is sent to a caller whose scopes do not suffice.

        Raises:
            BadToken: the token is not valid.
            HttpError: the keys of the issuer cannot be read.
        """
        algorithm, key_id = self._named(token)
        found = await self._keys.find(key_id, algorithm)
        if found is None:
            raise BadToken("the token names a key that its issuer does not have")
        claims = self._claims(token, found.key, algorithm)
        subject = claims["sub"]
        if not 1 <= len(subject) <= NAME_MAX or not subject.isprintable():
            raise BadToken(f"the claim sub must have 1 to {NAME_MAX} printable characters")
        expires_us = min(int(claims["exp"]), LAST_SECOND) * MICROSECONDS
        return Access(ACTOR + subject, self._reading.grant(claims), expires_us=expires_us, challenge=challenge)

    async def close(self) -> None:
        """Close the source of the issuer's keys."""
        await self._keys.close()

    def _named(self, token: str) -> tuple[str, str | None]:
        """Return the algorithm and the key id of a token's header, which is not verified yet."""
        try:
            header = jwt.get_unverified_header(token)
        except (exceptions.PyJWTError, RecursionError):
            raise BadToken("the token cannot be read") from None
        algorithm = header.get("alg")
        if algorithm not in self._algorithms:
            raise BadToken(f"the token must be signed with one of {', '.join(self._algorithms)}")
        return algorithm, header.get("kid")

    def _claims(self, token: str, key: Any, algorithm: str) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options=_REQUIRED,
            )
        except (exceptions.PyJWTError, RecursionError, ValueError, OverflowError) as error:
            wrong = next((words for kind, words in _WRONG if isinstance(error, kind)), None)
            raise BadToken(wrong or "the signature or a claim of the token is wrong") from None
